package eager

import "time"

const (
	// LookFor is how long something is looked for.
	LookFor = 50 * time.Microsecond
	// wakeTime is what sleeping may add to what looking would have found.
	wakeTime = 50 * time.Microsecond
	// quickRow is how many quick answers in a row make a quick side.
	quickRow = 2
	// firstRest is for how many answers nobody looks after one was looked for in
	// vain; twice as many each time that happens again, up to lastRest. On a busy
	// machine who looks keeps others from their work.
	firstRest, lastRest = 8, 1024
)

// Pace is how quickly a server has answered, or a client asked again, of late.
// It belongs to whoever reads.
type Pace struct {
	row  int // of quick answers, up to quickRow
	rest int // answers until somebody looks again
	fine int // the next rest
}

// Quick reports whether it is worth looking for the next answer.
func (p *Pace) Quick() bool { return p.row >= quickRow && p.rest == 0 }

// Took notes how long an answer was waited for.
func (p *Pace) Took(d time.Duration) {
	if !p.Quick() {
		p.rest = max(p.rest-1, 0)
		p.row = min(p.row+1, quickRow)
		if d > LookFor+wakeTime {
			p.row = 0
		}
		return
	}
	if d <= LookFor {
		p.fine /= 2
		return
	}
	p.fine = min(max(2*p.fine, firstRest), lastRest)
	p.rest = p.fine
}
