package gate

import (
	"io"
	"time"
)

// Pace is how quickly a server has answered of late.
type Pace struct{ pace }

// Quick reports whether it is worth looking for the next answer.
func (p *Pace) Quick() bool { return p.quick() }

// Took notes how long an answer was waited for.
func (p *Pace) Took(d time.Duration) { p.took(d) }

// LookFor is how long an answer is looked for.
const LookFor = lookFor

// Looking returns what reads a stream and looks for something before the
// first read, and whether that found it; nil where it cannot look.
func Looking(in io.Reader) (read func([]byte) (int, error), found func([]byte) int) {
	e := newEager(in)
	if e == nil {
		return nil, nil
	}
	e.look = true
	return e.Read, e.found
}
