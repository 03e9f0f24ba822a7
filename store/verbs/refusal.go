package verbs

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
)

// ErrInvalid is returned for a verb that asks for something that no caller
// may ask for: a row without identity, terms without an end, a lease of no
// length. It names the member.
var ErrInvalid = errors.New("the store was asked for something that makes no sense")

// Invalid is ErrInvalid with what is wrong.
func Invalid(what string) error { return fmt.Errorf("%w: %s", ErrInvalid, what) }

// Refusal reports whether an error is an answer of the state machine rather
// than a failure.
func Refusal(err error) bool {
	for _, r := range []error{action.ErrNotFound, action.ErrState, action.ErrFence, action.ErrLate, action.ErrKeyTaken,
		action.ErrUncertain, action.ErrConsumed, action.ErrStale, action.ErrDigest, action.ErrVoted,
		action.ErrIneligible, action.ErrPasskey, action.ErrStepUp, action.ErrStopped, action.ErrStanding, action.ErrOvertaken, action.ErrOverLimit} {
		if errors.Is(err, r) {
			return true
		}
	}
	return false
}

// Visible is the row that may come with an error: none to those who may not
// know that it exists.
func Visible(row action.Action, err error) action.Action {
	if errors.Is(err, action.ErrNotFound) {
		return action.Action{}
	}
	return row
}
