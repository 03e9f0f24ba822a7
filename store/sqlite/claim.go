package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Claim takes an approved row (or one whose claim ran out) and raises its
// fence.
func (s *Store) Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error) {
	if lease <= 0 {
		return action.Action{}, invalid("lease has no length")
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, id)
		if err != nil {
			return action.Action{}, err
		}
		switch {
		case row.State != action.Approved && row.State != action.Claimed:
			return row, action.ErrState
		case row.State == action.Claimed && t.now.Before(row.LeaseUntil):
			return row, action.ErrState
		case !t.now.Before(row.Deadline):
			return row, action.ErrLate
		}
		to := row
		to.State, to.Fence, to.LeaseUntil = action.Claimed, row.Fence+1, t.now.Add(lease)
		out, err := t.move(row, to)
		if err != nil {
			return out, err
		}
		return out, t.record(about(audit.ActionClaimed, row.State, out, row.Principal),
			facts{"fence": strconv.FormatInt(out.Fence, 10)}, nil)
	})
}

// Begin is the commit point.
func (s *Store) Begin(ctx context.Context, start action.Start) (action.Action, error) {
	if start.Lease <= 0 {
		return action.Action{}, invalid("lease has no length")
	}
	if start.Action.Fence == 0 {
		return s.beginAllowed(ctx, start)
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.beginnable(start.Action)
		if err != nil {
			return row, err
		}
		if err := t.consume(row); err != nil {
			return row, err
		}
		to := row
		to.State, to.Attempt, to.LeaseUntil = action.Executing, row.Attempt+1, t.now.Add(start.Lease)
		out, err := t.move(row, to)
		if err != nil {
			return out, err
		}
		if err := t.attempt(out); err != nil {
			return row, err
		}
		return out, t.record(about(audit.ActionStarted, row.State, out, row.Principal), started(out), nil)
	})
}

// beginAllowed starts a call that policy allowed without an approval:
// decision, claim and commit point in one transaction.
func (s *Store) beginAllowed(ctx context.Context, start action.Start) (action.Action, error) {
	a := start.Action
	switch {
	case a.Decision.Effect != effectAllow || a.Terms != nil:
		return action.Action{}, invalid("new row that policy did not allow")
	case a.HighImpact:
		return action.Action{}, invalid("high-impact call without an approval of its own")
	}
	a.State, a.Fence, a.Attempt, a.Result, a.Deadline = action.Executing, 1, 1, nil, time.Time{}
	if err := whole(a); err != nil {
		return action.Action{}, err
	}
	payload, err := s.seal(a)
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
		out, err := t.begin(a, payload, func(t *tx, a action.Action) error {
			f := proposed(a)
			for name, value := range started(a) {
				f[name] = value
			}
			return t.record(about(audit.ActionStarted, "", a, a.Principal), f, payloadOf(a))
		})
		if err != nil {
			return out, err
		}
		return out, t.attempt(out)
	})
}

// beginnable loads a claimed row and checks everything that must hold at the
// commit point. A refusal comes with the row that is in the way.
func (t *tx) beginnable(a action.Action) (action.Action, error) {
	row, err := t.store.load(t.conn, a.ID)
	if err != nil {
		return action.Action{}, err
	}
	switch {
	case row.State != action.Claimed && row.State != action.Executing:
		return row, action.ErrState
	case row.Fence != a.Fence:
		return row, action.ErrFence
	case row.State != action.Claimed:
		return row, action.ErrState
	case !t.now.Before(row.Deadline):
		return row, action.ErrLate
	case row.Hash != a.Hash || row.Definition != a.Definition || row.Payload.Args != a.Payload.Args:
		return row, fmt.Errorf("%w: the call to run is not the approved one", action.ErrStale)
	case row.Task != a.Task || row.GrantID != a.GrantID || row.GrantDigest != a.GrantDigest:
		return row, fmt.Errorf("%w: the authority of the session has changed", action.ErrStale)
	case row.Decision.PolicyVersion != a.Decision.PolicyVersion:
		return row, action.ErrStale
	}
	if standing, err := t.tally(row); err != nil {
		return row, err
	} else if standing != approval.Enough {
		return row, fmt.Errorf("%w: the votes no longer suffice", action.ErrIneligible)
	}
	if found, err := t.open(row); err != nil {
		return found, err
	}
	found, err := t.uncertain(row)
	if err != nil {
		return found, err
	}
	return row, nil
}

// open checks what an operator or a new policy may have closed meanwhile.
func (t *tx) open(a action.Action) (action.Action, error) {
	version, err := t.policyVersion(a.Tenant, a.Tool)
	if err != nil {
		return action.Action{}, err
	}
	if version == "" || version != a.Decision.PolicyVersion {
		return a, action.ErrStale
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

func (t *tx) attempt(a action.Action) error {
	if _, err := t.exec(`INSERT INTO attempt (action_seq, attempt, fence, provider_key, started_at)
		VALUES ((SELECT seq FROM action WHERE id = ?), ?, ?, ?, ?)`, a.ID, a.Attempt, a.Fence, action.ProviderKey(a.ID, a.Attempt), t.now); err != nil {
		return fmt.Errorf("insert attempt: %w", err)
	}
	return nil
}

func started(a action.Action) facts {
	f := facts{"fence": strconv.FormatInt(a.Fence, 10), "attempt": strconv.Itoa(a.Attempt),
		"policyVersion": a.Decision.PolicyVersion, "leaseUntil": a.LeaseUntil.Format(time.RFC3339Nano)}
	if a.Terms != nil {
		f["approvalDigest"] = a.Terms.Digest.String()
	}
	return f
}
