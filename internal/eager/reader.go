package eager

import (
	"io"
	"runtime"
	"syscall"
	"time"
)

// Reader reads a stream that is not blocking, and looks for a moment where it
// is told to. It is for one goroutine at a time.
type Reader struct {
	in   io.Reader
	raw  syscall.RawConn
	look bool // at the next Read
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
	return &Reader{in: in, raw: raw}
}

// Look says whether the next Read looks before it waits.
func (r *Reader) Look(yes bool) { r.look = yes }

// Read reads what is there, or waits for it as any other reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.look && len(p) > 0 {
		r.look = false
		if n := r.found(p); n > 0 {
			return n, nil
		}
	}
	return r.in.Read(p)
}

// found looks until something is there. 0 says that nothing was, or that the
// stream has ended, which the next Read learns as well.
func (r *Reader) found(p []byte) (n int) {
	until := time.Now().Add(LookFor)
	err := r.raw.Read(func(fd uintptr) bool {
		for {
			var err error
			if n, err = readNow(fd, p); err != errNothingYet || !time.Now().Before(until) {
				return true // never wait here
			}
		}
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}
