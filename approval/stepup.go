package approval

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// StepUpAge is how old the proof of who decides may be where a step-up is
// asked for; loginSkew is how far two clocks may be apart.
const (
	StepUpAge = 5 * time.Minute
	loginSkew = time.Minute
)

// NeedsStepUp reports whether a vote on an action needs a fresh proof of who
// decides: where policy says so, and for every high-impact action.
func NeedsStepUp(a action.Action) bool {
	return a.HighImpact || a.Terms != nil && a.Terms.StepUp
}

// SteppedUp reports whether a vote that was cast at a time has that proof: the
// voter's passkey, which verified its user for this very vote, or a login that
// was no older than StepUpAge.
func SteppedUp(a action.Action, v action.Vote, at time.Time) bool {
	if !NeedsStepUp(a) || v.Method == action.MethodPasskey {
		return true
	}
	age := at.Sub(v.LoginAt)
	return !v.LoginAt.IsZero() && age >= -loginSkew && age <= StepUpAge
}
