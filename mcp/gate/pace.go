package gate

import (
	"io"
	"runtime"
	"syscall"
	"time"
)

// A server that answers in some microseconds has answered before the system
// could put its reader to sleep and wake it again, which alone takes as long.
// So whoever waits for such a server looks for a moment before going to sleep;
// and so for a client that has its next call ready when it gets an answer.
const (
	// lookFor is how long an answer is looked for.
	lookFor = 50 * time.Microsecond
	// wakeTime is what sleeping may add to an answer that looking would have found.
	wakeTime = 50 * time.Microsecond
	// quickRow is how many quick answers in a row make a quick server.
	quickRow = 2
	// firstRest is for how many answers nobody looks after one was looked for in
	// vain; twice as many each time that happens again, up to lastRest. On a busy
	// machine who looks keeps the server from its work.
	firstRest, lastRest = 8, 1024
)

// pace is how quickly a server has answered, or a client asked again, of late.
// It belongs to whoever reads.
type pace struct {
	row  int // of quick answers, up to quickRow
	rest int // answers until somebody looks again
	fine int // the next rest
}

// quick reports whether it is worth looking for the next answer.
func (p *pace) quick() bool { return p.row >= quickRow && p.rest == 0 }

// took notes how long an answer was waited for.
func (p *pace) took(d time.Duration) {
	if !p.quick() {
		p.rest = max(p.rest-1, 0)
		p.row = min(p.row+1, quickRow)
		if d > lookFor+wakeTime {
			p.row = 0
		}
		return
	}
	if d <= lookFor {
		p.fine /= 2
		return
	}
	p.fine = min(max(2*p.fine, firstRest), lastRest)
	p.rest = p.fine
}

// eager reads a stream that is not blocking, and looks for a moment where it
// is told to.
type eager struct {
	io.Reader
	raw  syscall.RawConn
	look bool // at the next Read; set by whoever has the seat
}

// newEager returns nil where looking is impossible, or would keep the other
// side from its work: on a single processor.
func newEager(in io.Reader) *eager {
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
	return &eager{Reader: in, raw: raw}
}

// Read reads what is there, or waits for it as any other reader.
func (e *eager) Read(p []byte) (int, error) {
	if e.look && len(p) > 0 {
		e.look = false
		if n := e.found(p); n > 0 {
			return n, nil
		}
	}
	return e.Reader.Read(p)
}

// found looks until something is there. 0 says that nothing was, or that the
// stream has ended, which the next Read learns as well.
func (e *eager) found(p []byte) (n int) {
	until := time.Now().Add(lookFor)
	err := e.raw.Read(func(fd uintptr) bool {
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

// look begins the waiting for an answer. The seat is taken.
func (u *Stream) look() (begun time.Time) {
	if u.eager != nil {
		u.eager.look = u.pace.quick()
	}
	return time.Now()
}

// looked ends it, with the seat still taken.
func (u *Stream) looked(begun time.Time) {
	if u.eager != nil {
		u.eager.look = false
	}
	u.pace.took(time.Since(begun))
}
