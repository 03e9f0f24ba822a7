package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// How much one transaction of ForgetPayloads goes through.
const (
	MaxForgottenActions = 200
	MaxForgottenRecords = 2000
)

// day is the grain of retention: the keys of whole days are destroyed.
const day = 24 * time.Hour

// oldSlack is how long after shelves came to be somebody may still have sealed
// without one: a gateway of an earlier version.
const oldSlack = 2 * day

// MayForgetPayloads refuses a retention that is too short, or of no class.
func MayForgetPayloads(keep action.Retention) error {
	for class, d := range keep {
		if class < action.ClassRead || class > action.ClassHighImpact || d < action.MinRetention {
			return Invalid("retention of payloads that is too short, or of an unknown class")
		}
	}
	return nil
}

// ForgetBefore is the start of the first day that is kept.
func ForgetBefore(now time.Time, keep time.Duration) time.Time {
	return now.Add(-keep).UTC().Truncate(day)
}

// Forgets reports whether a row is for ForgetPayloads to erase, or to hold
// until it has ended. Both are false where it is of another class, or erased.
func Forgets(class action.Class, a action.Action) (erase, hold bool) {
	if a.Class() != class || !a.ErasedAt.IsZero() {
		return false, false
	}
	return a.State.Terminal(), !a.State.Terminal()
}

// WithoutRow are the events of calls that leave no row. Their salts go with
// the payloads of reads.
func WithoutRow() []string {
	return []string{audit.ReadAllowed, audit.HandoffAllowed, audit.InputRejected}
}

// PayloadsRecord is the record of payloads that were forgotten.
func PayloadsRecord(class action.Class, before time.Time, actions, records int) (audit.Record, Facts, Secrets) {
	return audit.Record{Event: audit.PayloadsForgotten, By: BySweeper}, Facts{"class": class.String(), "before": before.Format(time.DateOnly),
		"actions": decimal(int64(actions)), "records": decimal(int64(records))}, nil
}

// OldForgotten reports whether what was sealed before there were shelves is
// past its time, whatever its class.
func OldForgotten(before map[action.Class]time.Time, shelved time.Time) bool {
	for _, class := range action.Classes() {
		at, ok := before[class]
		if !ok || at.Before(shelved.Add(oldSlack)) {
			return false
		}
	}
	return true
}
