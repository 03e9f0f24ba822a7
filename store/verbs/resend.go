package verbs

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Resends checks that a start which sends an attempt again is one.
func Resends(s action.Start) error {
	if s.Resend.Retention <= 0 {
		return Invalid("attempt that may never be sent again")
	}
	return nil
}

// MayResend checks an uncertain row against what is to be sent again, before
// votes, policy, stops and later actions are looked up. first is when its
// attempt began (reliability 1.2, T12).
func MayResend(row action.Action, s action.Start, first, now time.Time) error {
	a := s.Action
	switch {
	case row.State != action.Uncertain:
		return action.ErrState
	case row.Fence != a.Fence:
		return action.ErrFence
	case !row.Deadline.IsZero() && !now.Before(row.Deadline):
		return fmt.Errorf("%w: the approval is over", action.ErrLate)
	case row.Hash != a.Hash || row.Definition != a.Definition || row.Payload.Args != a.Payload.Args:
		return fmt.Errorf("%w: the call to send is not the one that began", action.ErrStale)
	case first.IsZero() || now.Add(s.Lease).After(first.Add(s.Resend.Retention)):
		return fmt.Errorf("%w: the provider may have forgotten the key", action.ErrLate)
	}
	return nil
}

// Resend takes an uncertain row back to executing: the same attempt, under
// the same provider key and a higher fence.
func Resend(row action.Action, now time.Time, lease time.Duration) Move {
	to := row
	to.State, to.Fence, to.LeaseUntil, to.Result = action.Executing, row.Fence+1, now.Add(lease), nil
	to.CallerGone = true // its caller was told that nobody knows
	m := Move{To: to, Record: about(audit.ActionResent, row.State, to, row.Principal), Facts: Facts{}}
	started(&to, m.Facts)
	return m
}

// Overtakes reports whether another action, which began later, touches what a
// row acts on; where the row names no target, whether it is of the same tool.
func Overtakes(row, later action.Action) bool {
	if len(row.Targets) == 0 {
		return later.Tool == row.Tool
	}
	for _, t := range later.Targets {
		if slices.Contains(row.Targets, t) {
			return true
		}
	}
	return false
}

// Remembered refuses a cancellation of an attempt that the provider may have
// forgotten. Whatever else settles a row passes.
func Remembered(r action.Reconciliation, first, now time.Time) error {
	if r.By != action.ByProvider || r.State != action.ReconciledFailed {
		return nil
	}
	if first.IsZero() || now.After(first.Add(r.Retention)) {
		return fmt.Errorf("%w: the provider may have forgotten the key", action.ErrLate)
	}
	return nil
}
