package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// The effects of a stored decision (package policy words them).
const (
	effectDeny    = "deny"
	effectAllow   = "allow"
	effectApprove = "require_approval"
)

// RejectInput records input that failed before the snapshot.
func (s *Store) RejectInput(ctx context.Context, r action.Rejection) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		return t.record(audit.Record{Event: audit.InputRejected, Tenant: r.Tenant, Tool: r.Tool, Agent: r.Agent,
			By: r.Principal, Code: r.Code}, facts{"stage": r.Stage, "size": strconv.Itoa(r.Size)},
			secrets{"digest": []byte(r.Digest.String())})
	})
}

// Decide records a decision that starts nothing durable.
func (s *Store) Decide(ctx context.Context, a action.Action) (action.Action, error) {
	switch {
	case a.Fence > 0 && a.Decision.Effect == effectDeny:
		return s.change(ctx, syncFull, func(t *tx) (action.Action, error) { return t.void(a) })
	case a.Fence == 0 && a.Decision.Effect == effectDeny:
		return s.deny(ctx, a)
	case a.Fence == 0 && a.Decision.Effect == effectAllow && !a.Mutation:
		return s.allow(ctx, a)
	default:
		return action.Action{}, invalid("decision that would start something")
	}
}

// deny writes a new denied row.
func (s *Store) deny(ctx context.Context, a action.Action) (action.Action, error) {
	a.State, a.Fence, a.Attempt = action.Denied, 0, 0
	a.LeaseUntil, a.Deadline, a.Terms, a.Result = time.Time{}, time.Time{}, nil, &action.Result{Code: a.Decision.Code}
	return s.create(ctx, a, func(t *tx, a action.Action) error {
		return t.record(about(audit.ActionDenied, "", a, a.Principal), proposed(a), payloadOf(a))
	})
}

// allow records a read or a handoff that may go on. There is no row; the
// record survives the death of the process, its sync is not awaited.
func (s *Store) allow(ctx context.Context, a action.Action) (action.Action, error) {
	if err := whole(a); err != nil {
		return action.Action{}, err
	}
	event := audit.ReadAllowed
	if a.Kind == action.KindHandoff {
		event = audit.HandoffAllowed
	}
	return s.change(ctx, syncNormal, func(t *tx) (action.Action, error) {
		if row, err := t.stopped(a); err != nil {
			return row, err
		}
		a.CreatedAt, a.UpdatedAt = t.now, t.now
		r := about(event, "", a, a.Principal)
		r.To = ""
		return a, t.record(r, proposed(a), payloadOf(a))
	})
}

// void ends a claimed row as denied.
func (t *tx) void(a action.Action) (action.Action, error) {
	row, err := t.store.load(t.conn, a.ID)
	if err != nil {
		return action.Action{}, err
	}
	if row.State != action.Claimed {
		return row, action.ErrState
	}
	if row.Fence != a.Fence {
		return row, action.ErrFence
	}
	to := row
	to.State, to.Decision, to.LeaseUntil = action.Denied, a.Decision, time.Time{}
	to.Result = &action.Result{Code: a.Decision.Code, Detail: a.Decision.Reason}
	out, err := t.move(row, to)
	if err != nil {
		return out, err
	}
	return out, t.record(about(audit.ClaimDenied, row.State, out, row.Principal),
		facts{"policyVersion": out.Decision.PolicyVersion}, secrets{"reason": []byte(out.Decision.Reason)})
}

// Suspend stores a new pending row with its Terms.
func (s *Store) Suspend(ctx context.Context, a action.Action) (action.Action, error) {
	if err := bounded(a); err != nil {
		return action.Action{}, err
	}
	terms := *a.Terms
	a.Terms, a.Result = &terms, nil
	a.State, a.Fence, a.Attempt, a.LeaseUntil = action.PendingApproval, 0, 0, time.Time{}
	a.Deadline = earlier(terms.PendingUntil, terms.ExpiresAt)
	return s.create(ctx, a, func(t *tx, a action.Action) error {
		return t.record(about(audit.ActionSuspended, "", a, a.Principal), proposed(a), payloadOf(a))
	})
}

// bounded checks that the approval asked for ends by itself and binds
// something.
func bounded(a action.Action) error {
	t := a.Terms
	switch {
	case a.Decision.Effect != effectApprove:
		return invalid("suspended without require_approval")
	case t == nil:
		return invalid("terms are missing")
	case len(t.Requirements) == 0:
		return invalid("terms ask for nobody")
	case t.PendingUntil.IsZero() || t.ExpiresAt.IsZero() || t.TTL <= 0:
		return invalid("terms without an end")
	case t.Nonce == "" || t.Digest.IsZero():
		return invalid("terms that bind nothing")
	}
	for _, r := range t.Requirements {
		for _, g := range r.AnyOf {
			if g.Name == "" || g.Votes < 1 {
				return invalid("terms with a group that asks for no votes")
			}
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// create writes a new row with its key and its record.
func (s *Store) create(ctx context.Context, a action.Action, record func(*tx, action.Action) error) (action.Action, error) {
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
		return t.begin(a, payload, record)
	})
}

// begin inserts a new row. What stands in its way was looked for before.
func (t *tx) begin(a action.Action, payload sealed, record func(*tx, action.Action) error) (action.Action, error) {
	a.CreatedAt, a.UpdatedAt = t.now, t.now
	if a.Result != nil {
		a.Result.At = t.now
	}
	if err := t.insert(a, payload); err != nil {
		return action.Action{}, err
	}
	if err := t.claimKey(a); err != nil {
		return action.Action{}, err
	}
	return a, record(t, a)
}

// free looks for what a new row would collide with: its id, its key, and for
// a mutation that may run an uncertain row with the same fingerprint.
func (t *tx) free(a action.Action) (action.Action, error) {
	row, err := t.store.load(t.conn, a.ID)
	if err == nil {
		return row, action.ErrState
	}
	if !errors.Is(err, action.ErrNotFound) {
		return action.Action{}, err
	}
	if row, err := t.keyHolder(a); err != nil {
		return row, err
	}
	if a.State == action.Denied {
		return action.Action{}, nil
	}
	return t.uncertain(a)
}

// keyHolder returns the row that holds the key of a with ErrKeyTaken. A
// holder that is known to have had no effect gives the key up to the same
// request (semantics §9).
func (t *tx) keyHolder(a action.Action) (action.Action, error) {
	if a.Key == "" {
		return action.Action{}, nil
	}
	row, err := t.store.byKey(t.conn, a.Tenant, a.Principal, a.Key)
	if errors.Is(err, action.ErrNotFound) {
		return action.Action{}, nil
	}
	if err != nil {
		return action.Action{}, err
	}
	if row.Fingerprint == a.Fingerprint && (row.State == action.Failed || row.State == action.ReconciledFailed) {
		return action.Action{}, nil
	}
	return row, action.ErrKeyTaken
}

// claimKey binds the key to the row. A call that was denied before it had a
// fingerprint binds nothing.
func (t *tx) claimKey(a action.Action) error {
	if a.Key == "" || a.Fingerprint.IsZero() {
		return nil
	}
	if _, err := t.exec(`INSERT INTO idempotency (tenant, principal, key, action_id, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (tenant, principal, key) DO UPDATE SET action_id = excluded.action_id, created_at = excluded.created_at`,
		a.Tenant, a.Principal, a.Key, a.ID, t.now); err != nil {
		return fmt.Errorf("claim key: %w", err)
	}
	return nil
}

// uncertain returns an uncertain row with the same fingerprint, unless a
// supersedes it, itself or through the rows that it supersedes.
func (t *tx) uncertain(a action.Action) (action.Action, error) {
	if !a.Mutation {
		return action.Action{}, nil
	}
	row, err := t.store.loadWhere(t.conn, `WHERE a.tenant = ? AND a.principal = ? AND a.fingerprint = ?
		AND a.state = 'uncertain' AND a.id NOT IN (
			WITH RECURSIVE named (id) AS (
				SELECT ? UNION SELECT b.supersedes FROM action b JOIN named n ON b.id = n.id)
			SELECT id FROM named)
		ORDER BY a.seq LIMIT 1`, a.Tenant, a.Principal, a.Fingerprint, a.Supersedes)
	if errors.Is(err, action.ErrNotFound) {
		return action.Action{}, nil
	}
	if err != nil {
		return action.Action{}, err
	}
	return row, action.ErrUncertain
}
