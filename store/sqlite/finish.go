package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// byLateReply is who reconciles when the tool itself answers late.
const byLateReply = "late_reply"

// Finish leaves executing. A late success of the same attempt settles an
// uncertain row.
func (s *Store) Finish(ctx context.Context, e action.Ending) (action.Action, error) {
	if e.State != action.Succeeded && e.State != action.Failed && e.State != action.Uncertain {
		return action.Action{}, invalid("ending that is none")
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, e.ID)
		if err != nil {
			return action.Action{}, err
		}
		late := row.State == action.Uncertain && e.State == action.Succeeded
		switch {
		case row.Fence != e.Fence:
			return row, action.ErrFence
		case row.State != action.Executing && !late:
			return row, action.ErrState
		case e.State == action.Failed && row.Mutation && e.Result.Evidence == "":
			return row, invalid("failure without evidence")
		}
		to := row
		to.State, to.LeaseUntil, to.Result = e.State, time.Time{}, &e.Result
		if late {
			to.State = action.ReconciledSucceeded
		}
		return t.finish(row, to, row.Principal)
	})
}

// finish moves a row out of executing or uncertain with its result, its
// attempt and its record.
func (t *tx) finish(row, to action.Action, by string) (action.Action, error) {
	if to.Result != nil {
		result := *to.Result
		to.Result = &result
	}
	out, err := t.move(row, to)
	if err != nil {
		return out, err
	}
	if err := t.keep(out); err != nil {
		return action.Action{}, err
	}
	if row.State == action.Executing {
		if _, err := t.exec(`UPDATE attempt SET ended_at = ?, outcome = ?
			WHERE action_seq = (SELECT seq FROM action WHERE id = ?) AND attempt = ?`,
			t.now, string(out.State), out.ID, out.Attempt); err != nil {
			return action.Action{}, fmt.Errorf("end attempt: %w", err)
		}
	}
	return out, t.recordEnd(row, out, by)
}

func (t *tx) recordEnd(row, out action.Action, by string) error {
	events := map[action.State]string{action.Succeeded: audit.ActionSucceeded, action.Failed: audit.ActionFailed,
		action.Uncertain: audit.ActionUncertain, action.ReconciledSucceeded: audit.ActionSettled,
		action.ReconciledFailed: audit.ActionSettled}
	r := about(events[out.State], row.State, out, by)
	f := facts{"fence": strconv.FormatInt(out.Fence, 10), "attempt": strconv.Itoa(out.Attempt)}
	s := secrets{}
	r.Code = ""
	if out.Result != nil {
		r.Code = out.Result.Code
		f["evidence"], f["comparison"] = out.Result.Evidence, out.Result.Comparison
		f["isError"] = strconv.FormatBool(out.Result.IsError)
		s["result"], s["detail"] = out.Result.Output, []byte(out.Result.Detail)
	}
	return t.record(r, f, s)
}

// Reconcile settles an uncertain row. By must be an active account of the
// row's tenant, or "late_reply" with the reply. Where the row is of high
// impact it must not be the proposer's own, unless policy lets the owner
// decide on it.
func (s *Store) Reconcile(ctx context.Context, r action.Reconciliation) (action.Action, error) {
	switch {
	case r.State != action.ReconciledSucceeded && r.State != action.ReconciledFailed:
		return action.Action{}, invalid("reconciliation that settles nothing")
	case r.By == "" || r.Evidence == "":
		return action.Action{}, invalid("reconciliation without a person or a reason")
	case r.By == byLateReply && (r.State != action.ReconciledSucceeded || r.Result == nil):
		return action.Action{}, invalid("late reply that proves nothing")
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, r.ID)
		if err != nil {
			return action.Action{}, err
		}
		if err := t.maySettle(row, r.By); err != nil {
			return visible(row, err), err
		}
		if row.State != action.Uncertain {
			return row, action.ErrState
		}
		to := row
		to.State = r.State
		to.Result = settled(row, r)
		return t.finish(row, to, r.By)
	})
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

func (t *tx) maySettle(row action.Action, by string) error {
	if by == byLateReply {
		return nil
	}
	who, err := t.actor(row, by)
	if err != nil || !row.HighImpact {
		return err
	}
	p := approval.ProposerOf(row)
	if row.Terms != nil && approval.Eligible(*row.Terms, p, who) == nil {
		return nil
	}
	own := who.ID == p.Owner || who.ID == p.Principal || who.Principal != "" && (who.Principal == p.Owner || who.Principal == p.Principal)
	if own || !who.In(action.GroupOperator) {
		return action.ErrIneligible
	}
	return nil
}

// visible is the row that may come with an error.
func visible(row action.Action, err error) action.Action {
	if errors.Is(err, action.ErrNotFound) {
		return action.Action{}
	}
	return row
}

// Leave notes that nobody waits for the answer any more. Its sync is not
// awaited: after a crash every caller counts as gone.
func (s *Store) Leave(ctx context.Context, id string) error {
	return s.write(ctx, syncNormal, func(t *tx) error {
		row, err := s.load(t.conn, id)
		if err != nil {
			return err
		}
		if row.State.Terminal() || row.CallerGone {
			return nil
		}
		if _, err := t.exec("UPDATE action SET caller_gone = 1, updated_at = ? WHERE id = ?", t.now, id); err != nil {
			return fmt.Errorf("note that the caller left: %w", err)
		}
		r := about(audit.CallerLeft, row.State, row, row.Principal)
		return t.record(r, nil, nil)
	})
}
