package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// MaxForgotten is how many keys one transaction forgets.
const MaxForgotten = 500

// MayForget returns the time before which an action must have ended, or
// ErrInvalid for a retention that is too short.
func MayForget(keep time.Duration, now time.Time) (time.Time, error) {
	if keep < action.MinKeyRetention {
		return time.Time{}, Invalid("retention of keys that is too short")
	}
	return now.Add(-keep), nil
}

// ForgottenRecord is the record of keys that were forgotten.
func ForgottenRecord(keep time.Duration, n int) (audit.Record, Facts, Secrets) {
	return audit.Record{Event: audit.KeysForgotten, By: BySweeper},
		Facts{"number": decimal(int64(n)), "retention": keep.String()}, nil
}
