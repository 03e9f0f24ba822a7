package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Claim takes an approved row (or one whose claim ran out) and raises its
// fence.
func (s *Store) Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error) {
	if lease <= 0 {
		return action.Action{}, verbs.Invalid("lease has no length")
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, id)
		if err != nil {
			return action.Action{}, err
		}
		m, err := verbs.Claim(row, t.now, lease)
		if err != nil {
			return row, err
		}
		return t.carry(row, m)
	})
}

// Begin is the commit point.
func (s *Store) Begin(ctx context.Context, start action.Start) (action.Action, error) {
	if start.Lease <= 0 {
		return action.Action{}, verbs.Invalid("lease has no length")
	}
	if start.Resend != nil {
		return s.resend(ctx, start)
	}
	if start.Action.Fence == 0 {
		return s.beginAllowed(ctx, start)
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, grant, err := t.beginnable(start.Action)
		if err != nil {
			return row, err
		}
		if err := t.reserve(row, start); err != nil {
			return row, err
		}
		if err := t.consume(row); err != nil {
			return row, err
		}
		if err := t.spend(row, grant); err != nil {
			return row, err
		}
		out, err := t.carry(row, verbs.BeginUnder(row, t.now, start, grant))
		if err != nil {
			return out, err
		}
		return out, t.attempt(out, start.Server)
	})
}

// beginAllowed starts a call that policy allowed without an approval:
// decision, claim and commit point in one transaction.
func (s *Store) beginAllowed(ctx context.Context, start action.Start) (action.Action, error) {
	a, err := verbs.Started(start)
	if err != nil {
		return action.Action{}, err
	}
	fresh, err := s.fresh(a, start)
	if err != nil {
		return action.Action{}, err
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		if row, err := t.free(a); err != nil {
			return row, err
		}
		if row, err := t.open(a); err != nil {
			return row, err
		}
		a := a
		a.LeaseUntil = t.now.Add(start.Lease)
		fresh.entry.Lease(a.LeaseUntil)
		out, err := t.begin(a, &fresh)
		if err != nil {
			return out, err
		}
		if err := t.reserve(out, start); err != nil {
			return a, err
		}
		t.began(out, fresh.box, len(start.Limits) > 0)
		if start.Written != nil {
			start.Written(out)
		}
		return out, nil
	})
}

// beginnable loads a claimed row and checks everything that must hold at the
// commit point. A refusal comes with the row that is in the way. The grant is
// the one that covers the row, if one does.
func (t *tx) beginnable(a action.Action) (action.Action, *action.StandingGrant, error) {
	row, err := t.store.load(t.conn, a.ID)
	if err != nil {
		return action.Action{}, nil, err
	}
	if err := verbs.MayBegin(row, a, t.now); err != nil {
		return row, nil, err
	}
	grant, err := t.backed(row, false)
	if err != nil {
		return row, nil, err
	}
	if found, err := t.open(row); err != nil {
		return found, nil, err
	}
	found, err := t.uncertain(row)
	if err != nil {
		return found, nil, err
	}
	return row, grant, nil
}

// open checks what an operator or a new policy may have closed meanwhile.
func (t *tx) open(a action.Action) (action.Action, error) {
	version, err := t.policyVersion(a.Tenant, a.Tool)
	if err != nil {
		return action.Action{}, err
	}
	if err := verbs.InForce(a, version); err != nil {
		return a, err
	}
	return t.stopped(a)
}

// consume uses the approval up. The unique insert is what makes it single
// use, whatever else goes wrong.
func (t *tx) consume(row action.Action) error {
	_, err := t.exec("INSERT INTO consumption (digest, action_id, at) VALUES (?, ?, ?)", row.Terms.Digest, row.ID, t.now)
	if errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY) || errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) {
		return action.ErrConsumed
	}
	if err != nil {
		return fmt.Errorf("consume approval: %w", err)
	}
	return nil
}

func (t *tx) attempt(a action.Action, server canon.Digest) error {
	if _, err := t.exec(`INSERT INTO attempt (action_seq, attempt, fence, provider_key, started_at, server)
		SELECT seq, ?, ?, ?, ?, ? FROM action WHERE id = ?`,
		a.Attempt, a.Fence, action.ProviderKey(a.ID, a.Attempt), t.now, server, a.ID); err != nil {
		return fmt.Errorf("insert attempt: %w", err)
	}
	return nil
}
