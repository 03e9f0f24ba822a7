package brief

import (
	"errors"
	"io"
	"syscall"
	"time"
)

// ErrNever says that a stream cannot be tried without waiting on this system.
var ErrNever = errors.New("streams of this system cannot be tried")

// Writer writes to a stream that does not block. It is for one goroutine at a
// time.
type Writer struct {
	out  io.Writer
	raw  syscall.RawConn
	try  func(fd uintptr) bool
	rest []byte // what is left of this Write
}

// maxBrief is the longest text that is written this way, in bytes: a copy of
// that size is over at once.
const maxBrief = 64 << 10

// NewWriter returns a Writer to out, or out itself where that may block.
func NewWriter(out io.Writer) io.Writer {
	d, ok := out.(interface{ SetWriteDeadline(time.Time) error })
	if !ok || d.SetWriteDeadline(time.Time{}) != nil { // what has deadlines does not block
		return out
	}
	c, ok := out.(syscall.Conn)
	if !ok {
		return out
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return out
	}
	w := &Writer{out: out, raw: raw}
	w.try = w.tryNow
	return w
}

// Write writes all of p, waiting where there is no room. Errors are those of
// the stream.
func (w *Writer) Write(p []byte) (int, error) {
	if len(p) == 0 || len(p) > maxBrief {
		return w.out.Write(p)
	}
	w.rest = p
	err := w.raw.Write(w.try)
	n := len(p) - len(w.rest)
	w.rest = nil
	if n == len(p) && err == nil {
		return n, nil
	}
	more, err := w.out.Write(p[n:]) // it fails as it always did
	return n + more, err
}

// tryNow writes what there is room for. false has its caller wait for more.
func (w *Writer) tryNow(fd uintptr) bool {
	for len(w.rest) > 0 {
		n, err := write(fd, w.rest)
		if err == ErrNothingYet {
			return false
		}
		if err != nil || n <= 0 {
			return true
		}
		w.rest = w.rest[n:]
	}
	return true
}
