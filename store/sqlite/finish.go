package sqlite

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
	end, err := s.memory.takeRun(e.ID).ending(e)
	if err != nil {
		return action.Action{}, err
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		if out, known, err := t.endRun(end); known || err != nil {
			return out, err
		}
		row, err := s.load(t.conn, e.ID)
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
// row's tenant, or ByLateReply with the reply, or ByProvider. Where the row is of high
// impact it must not be the proposer's own, unless policy lets the owner
// decide on it.
func (s *Store) Reconcile(ctx context.Context, r action.Reconciliation) (action.Action, error) {
	if err := verbs.Settles(r); err != nil {
		return action.Action{}, err
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, r.ID)
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
			err = verbs.Remembered(r, first, t.now)
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
		row, err := s.load(t.conn, id)
		if err != nil {
			return err
		}
		r, note := verbs.Left(row)
		if !note {
			return nil
		}
		if _, err := t.exec("UPDATE action SET caller_gone = 1, updated_at = ? WHERE id = ?", t.now, id); err != nil {
			return fmt.Errorf("note that the caller left: %w", err)
		}
		s.memory.mark(row.Fingerprint, flight{id: id, joinable: true})
		return t.record(r, nil, nil)
	})
}
