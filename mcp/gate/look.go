package gate

import "time"

// look begins the waiting for an answer. The seat is taken.
func (u *Stream) look() (begun time.Time) {
	if u.eager != nil {
		u.eager.Look(u.pace.Quick())
	}
	return time.Now()
}

// looked ends it, with the seat still taken.
func (u *Stream) looked(begun time.Time) {
	if u.eager != nil {
		u.eager.Look(false)
	}
	u.pace.Took(time.Since(begun))
}
