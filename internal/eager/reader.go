package eager

import (
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/brief"
)

// Reader reads a stream that is not blocking, and looks for a moment where it
// is told to. It is for one goroutine at a time.
type Reader struct {
	in   io.Reader
	raw  syscall.RawConn
	look bool // at the next Read

	// What one attempt is about, and its two forms, made once.
	p             []byte
	n             int
	err           error
	until         time.Time
	looking, once func(fd uintptr) bool
}

// NewReader returns nil where looking is impossible, or would keep the other
// side from its work: on a single processor.
func NewReader(in io.Reader) *Reader {
	d, ok := in.(interface{ SetReadDeadline(time.Time) error })
	if !ok || d.SetReadDeadline(time.Time{}) != nil { // what has deadlines does not block
		return nil
	}
	c, ok := in.(syscall.Conn)
	if !ok || runtime.GOMAXPROCS(0) < 2 || runtime.NumCPU() < 2 {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	r := &Reader{in: in, raw: raw}
	r.looking, r.once = r.tryUntil, r.tryOnce
	return r
}

// Look says whether the next Read looks before it waits.
func (r *Reader) Look(yes bool) { r.look = yes }

// Read reads what is there, or waits for it as any other reader.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return r.in.Read(p)
	}
	if r.look {
		r.look = false
		if n := r.found(p); n > 0 {
			return n, nil
		}
	}
	return r.wait(p)
}

// found looks until something is there. 0 says that nothing was, or that the
// stream has ended, which the next Read learns as well.
func (r *Reader) found(p []byte) int {
	r.p, r.until = p, time.Now().Add(LookFor)
	err := r.raw.Read(r.looking)
	r.p = nil
	if err != nil || r.err != nil {
		return 0
	}
	return r.n
}

// tryUntil never waits.
func (r *Reader) tryUntil(fd uintptr) bool {
	for {
		if r.n, r.err = brief.Read(fd, r.p); r.err != brief.ErrNothingYet || !time.Now().Before(r.until) {
			return true
		}
	}
}

// wait reads without telling the runtime of a call that cannot block.
func (r *Reader) wait(p []byte) (int, error) {
	r.p = p
	err := r.raw.Read(r.once)
	r.p = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, err
	case err != nil || errors.Is(r.err, brief.ErrNever):
		return r.in.Read(p) // which says what it is
	case r.err != nil:
		return 0, os.NewSyscallError("read", r.err)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

func (r *Reader) tryOnce(fd uintptr) bool {
	r.n, r.err = brief.Read(fd, r.p)
	return r.err != brief.ErrNothingYet
}
