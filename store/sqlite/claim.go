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
		return s.beginAllowed(ctx, &start)
	}
	return s.beginApproved(ctx, start)
}

// beginApproved starts a call that has been claimed.
func (s *Store) beginApproved(ctx context.Context, start action.Start) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, grant, err := t.beginnable(start.Action)
		if err != nil {
			return row, err
		}
		if err := t.reserve(&row, start.Limits); err != nil {
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

// beginning is a call that policy allowed without an approval, on its way over
// the commit point.
type beginning struct {
	newRow
	lease   time.Duration
	limits  []action.Limit
	written func(action.Action)
}

// beginAllowed starts such a call: decision, claim and commit point in one
// transaction.
func (s *Store) beginAllowed(ctx context.Context, start *action.Start) (action.Action, error) {
	a, err := verbs.Started(*start)
	if err != nil {
		return action.Action{}, err
	}
	b := &beginning{newRow: newRow{row: a}, lease: start.Lease, limits: start.Limits, written: start.Written}
	return b.write(ctx, s, start.Limits, start.Server, b.run)
}

func (b *beginning) run(t *tx) error {
	a := &b.row
	b.inTheWay = nil // it may run again when what it did was undone
	if row, err := t.free(a); err != nil {
		return b.refused(row, err)
	}
	if row, err := t.open(a); err != nil {
		return b.refused(row, err)
	}
	a.LeaseUntil = t.now.Add(b.lease)
	b.entry.Lease(a.LeaseUntil)
	if err := b.begin(t); err != nil {
		return err
	}
	if err := t.reserve(a, b.limits); err != nil {
		return b.refused(*a, err)
	}
	t.began(a, b.box, len(b.limits) > 0)
	if b.written != nil {
		b.written(*a)
	}
	return nil
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
	if found, err := t.open(&row); err != nil {
		return found, nil, err
	}
	found, err := t.uncertain(&row)
	if err != nil {
		return found, nil, err
	}
	return row, grant, nil
}

// open checks what an operator or a new policy may have closed meanwhile.
func (t *tx) open(a *action.Action) (action.Action, error) {
	version, err := t.policyVersion(a.Tenant, a.Tool)
	if err != nil {
		return action.Action{}, err
	}
	if err := verbs.InForce(*a, version); err != nil {
		return *a, err
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
