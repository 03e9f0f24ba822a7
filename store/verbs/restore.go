package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// ByRestore is who ends what a backup had open.
const ByRestore = "restore"

// Gap is what a backup does not know: everything between its last record and
// the moment at which it was put back.
type Gap struct {
	LastRecord int64     // its number; 0 if there is none
	LastAt     time.Time // zero if there is none
	Log        string    // the log's name from here on
	Before     string    // and up to here; "" if it had none
}

// GapRecord is the record that marks the gap.
func GapRecord(g Gap) (audit.Record, Facts) {
	f := Facts{"lastRecord": decimal(g.LastRecord), "log": g.Log, "logBefore": g.Before}
	if !g.LastAt.IsZero() {
		f["lastAt"] = g.LastAt.UTC().Format(time.RFC3339Nano)
	}
	return audit.Record{Event: audit.Restored, By: ByRestore}, f
}

// GapStop freezes everything: a call that begins could be one that has run in
// the gap, and only a person can know.
func GapStop(g Gap) action.Stop {
	since := "its last record"
	if !g.LastAt.IsZero() {
		since = g.LastAt.UTC().Format(time.RFC3339)
	}
	return action.Stop{By: action.ByHost, Reason: "the store was restored from a backup; what happened after " + since +
		" is not known here"}
}

// CutOff ends an open row of a backup that is put back. Its state there may
// be long past: people may have approved it and it may have run, so its
// result says that nobody knows.
func CutOff(row action.Action) Move {
	const why = "the store was restored from a backup; it is not known whether this ran after it"
	to := row
	to.LeaseUntil, to.CallerGone, to.Result = time.Time{}, true, ended(codeUncertain, why)
	if row.State == action.Executing {
		to.State = action.Uncertain
		return finished(row, to, ByRestore)
	}
	to.State = action.Expired
	r := about(audit.ActionCutOff, row.State, to, ByRestore)
	r.Code = codeUncertain
	return Move{To: to, Record: r, Secrets: Secrets{"reason": []byte(why)}}
}

// EpochAfter is an epoch that no decision carries: at least the seconds since
// 1970, so above all that were given in the gap, unless rules have changed
// more than once a second ever since the store was made.
func EpochAfter(epoch int64, now time.Time) int64 { return max(epoch+1, now.Unix()) }
