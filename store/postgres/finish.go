package postgres

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Finish leaves executing. A late success of the same attempt settles an
// uncertain row.
func (s *Store) Finish(ctx context.Context, e action.Ending) (action.Action, error) {
	if err := verbs.Ends(e); err != nil {
		return action.Action{}, err
	}
	if len(e.Result.Output) > maxShared {
		return s.finishOne(ctx, e)
	}
	a, solo, err := s.ends.ask(ctx, e)
	if solo {
		return s.finishOne(ctx, e)
	}
	return a, err
}

func (s *Store) finishOne(ctx context.Context, e action.Ending) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.lock(e.ID)
		if err != nil {
			return action.Action{}, err
		}
		m, err := verbs.Finish(row, e)
		if err != nil {
			return row, err
		}
		return t.carry(row, m)
	})
}

// Reconcile settles an uncertain row. By must be an active account of the
// row's tenant, or "late_reply" with the reply. Where the row is of high
// impact it must not be the proposer's own, unless policy lets the owner
// decide on it.
func (s *Store) Reconcile(ctx context.Context, r action.Reconciliation) (action.Action, error) {
	if err := verbs.Settles(r); err != nil {
		return action.Action{}, err
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.lock(r.ID)
		if err != nil {
			return action.Action{}, err
		}
		if err := t.maySettle(row, r.By); err != nil {
			return verbs.Visible(row, err), err
		}
		m, err := verbs.Reconcile(row, r)
		if err != nil {
			return row, err
		}
		first, err := t.firstSent(row)
		if err == nil {
			err = verbs.Remembered(r, first, t.now())
		}
		if err != nil {
			return row, err
		}
		return t.carry(row, m)
	})
}

func (t *tx) maySettle(row action.Action, by string) error {
	if by == verbs.ByLateReply || by == action.ByProvider {
		return nil
	}
	who, err := t.actor(row, by)
	if err != nil {
		return err
	}
	return verbs.MaySettle(row, who)
}

// Leave notes that nobody waits for the answer any more. Its sync is not
// awaited: after a crash every caller counts as gone.
func (s *Store) Leave(ctx context.Context, id string) error {
	return s.write(ctx, syncNormal, func(t *tx) error {
		row, err := t.lock(id)
		if err != nil {
			return err
		}
		r, note := verbs.Left(row)
		if !note {
			return nil
		}
		gone := do("UPDATE action SET caller_gone = TRUE, updated_at = $1 WHERE id = $2", t.now(), id)
		gone.fail = func(err error) error { return fmt.Errorf("note that the caller left: %w", err) }
		t.last(gone)
		return t.record(r, nil, nil)
	})
}
