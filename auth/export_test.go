package auth

import "time"

// Throttle opens the throttle to tests that would take hours through Check.
type Throttle struct{ throttle }

// Enter counts one attempt.
func (t *Throttle) Enter(key string, now time.Time) error { return t.enter(key, now) }

// Remembered returns how many names are kept.
func (t *Throttle) Remembered() int { return len(t.names) }

// MaxRemembered is how many names are kept at most, with the shared one.
const MaxRemembered = maxRemember + 1

// ReadHash reads a stored hash and prints it again.
func ReadHash(text string) (string, error) {
	p, err := parsePHC(text)
	return p.String(), err
}
