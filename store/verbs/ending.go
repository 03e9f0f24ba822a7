package verbs

import (
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Ends checks that an ending is one.
func Ends(e action.Ending) error {
	if e.State != action.Succeeded && e.State != action.Failed && e.State != action.Uncertain {
		return Invalid("ending that is none")
	}
	return nil
}

// Finish leaves executing. A late success of the same attempt settles an
// uncertain row.
func Finish(row action.Action, e action.Ending) (Move, error) {
	late := row.State == action.Uncertain && e.State == action.Succeeded
	switch {
	case row.Fence != e.Fence:
		return Move{}, action.ErrFence
	case row.State != action.Executing && !late:
		return Move{}, action.ErrState
	case e.State == action.Failed && row.Mutation && e.Result.Evidence == "":
		return Move{}, Invalid("failure without evidence")
	}
	to, result := row, e.Result
	to.State, to.LeaseUntil, to.Result = e.State, time.Time{}, &result
	if late {
		to.State = action.ReconciledSucceeded
	}
	return finished(row, to, row.Principal), nil
}

// finished is the move of a row out of executing or uncertain.
func finished(row, to action.Action, by string) Move {
	events := map[action.State]string{action.Succeeded: audit.ActionSucceeded, action.Failed: audit.ActionFailed,
		action.Uncertain: audit.ActionUncertain, action.ReconciledSucceeded: audit.ActionSettled,
		action.ReconciledFailed: audit.ActionSettled}
	m := Move{To: to, Record: about(events[to.State], row.State, to, by), Secrets: Secrets{},
		Facts: Facts{"fence": decimal(to.Fence), "attempt": decimal(int64(to.Attempt))}}
	m.Record.Code = ""
	if r := to.Result; r != nil {
		m.Record.Code = r.Code
		m.Facts["evidence"], m.Facts["comparison"] = r.Evidence, r.Comparison
		m.Facts["isError"] = strconv.FormatBool(r.IsError)
		m.Secrets["result"], m.Secrets["detail"] = r.Output, []byte(r.Detail)
	}
	return m
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Settles checks that a reconciliation is one.
func Settles(r action.Reconciliation) error {
	switch {
	case r.State != action.ReconciledSucceeded && r.State != action.ReconciledFailed:
		return Invalid("reconciliation that settles nothing")
	case r.By == "" || r.Evidence == "":
		return Invalid("reconciliation without a person or a reason")
	case r.By == ByLateReply && (r.State != action.ReconciledSucceeded || r.Result == nil):
		return Invalid("late reply that proves nothing")
	case r.By == action.ByProvider && r.State == action.ReconciledFailed && r.Retention <= 0:
		return Invalid("cancellation without an end")
	}
	return nil
}

// Reconcile settles an uncertain row; who settles it was asked of MaySettle.
func Reconcile(row action.Action, r action.Reconciliation) (Move, error) {
	if row.State != action.Uncertain {
		return Move{}, action.ErrState
	}
	to := row
	to.State, to.Result = r.State, settled(row, r)
	return finished(row, to, r.By), nil
}

// settled keeps what an earlier answer left where the new one says nothing.
func settled(row action.Action, r action.Reconciliation) *action.Result {
	result := action.Result{}
	if row.Result != nil {
		result = *row.Result
	}
	if r.Result != nil {
		result = *r.Result
	}
	if result.Code == codeUncertain {
		result.Code = ""
	}
	result.Detail = r.Evidence
	return &result
}

// MaySettle says who settles: anybody of the tenant settles ordinary rows. One of high impact
// must not be settled by its own proposer, unless policy lets the owner
// decide on it (semantics §9: a second person).
func MaySettle(row action.Action, who action.Person) error {
	if !row.HighImpact {
		return nil
	}
	p := approval.ProposerOf(row)
	if row.Terms != nil && approval.Eligible(*row.Terms, p, who) == nil {
		return nil
	}
	if who.Is(p.Owner) || who.Is(p.Principal) || !who.In(action.GroupOperator) {
		return action.ErrIneligible
	}
	return nil
}
