package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// AddDelegation adds a delegation between active accounts of one tenant.
func (b Book) AddDelegation(ctx context.Context, d auth.Delegation) error {
	return b.change(ctx, func(t Tx) error {
		for _, id := range []string{d.Delegator, d.Delegate} {
			if _, err := activeOf(t, d.Tenant, id); err != nil {
				return err
			}
		}
		if _, err := t.Exec("INSERT INTO delegation (id, tenant, delegator, delegate, reason, created_at, starts_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			d.ID, d.Tenant, d.Delegator, d.Delegate, d.Reason, d.CreatedAt, d.StartsAt, d.EndsAt); err != nil {
			return fmt.Errorf("insert delegation: %w", err)
		}
		return t.Record(audit.Record{Event: audit.DelegationMade, Tenant: d.Tenant, By: d.Delegator},
			verbs.Facts{"delegation": d.ID, "delegate": d.Delegate, "starts": d.StartsAt.Format(time.RFC3339), "ends": d.EndsAt.Format(time.RFC3339)},
			verbs.Secrets{"reason": []byte(d.Reason)})
	})
}

func delegations(c Reader, where string, args ...any) ([]auth.Delegation, error) {
	var out []auth.Delegation
	err := c.Query(func(cur Row) error {
		out = append(out, auth.Delegation{ID: cur.Text(), Tenant: cur.Text(), Delegator: cur.Text(), Delegate: cur.Text(), Reason: cur.Text(),
			CreatedAt: cur.Time(), StartsAt: cur.Time(), EndsAt: cur.Time()})
		return nil
	}, "SELECT id, tenant, delegator, delegate, reason, created_at, starts_at, ends_at FROM delegation "+where, args...)
	return out, err
}

// Delegations lists those of a tenant that nobody has ended and that end after
// a time.
func (b Book) Delegations(ctx context.Context, tenant string, after time.Time) ([]auth.Delegation, error) {
	return many(ctx, b.db, func(c Reader) ([]auth.Delegation, error) {
		return delegations(c, "WHERE tenant = $1 AND ended_at IS NULL AND ends_at > $2 ORDER BY starts_at, id", tenant, after)
	})
}

// EndDelegation ends a delegation before its time. Votes on behalf of who
// made it wait until it has ended, and it waits for theirs.
func (b Book) EndDelegation(ctx context.Context, id, by string, at time.Time) error {
	return b.change(ctx, func(t Tx) error {
		if err := t.Hold("SELECT 1 FROM account WHERE id IN (SELECT delegator FROM delegation WHERE id = $1)", id); err != nil {
			return err
		}
		found, err := delegations(t, "WHERE id = $1 AND ended_at IS NULL AND ends_at > $2", id, at)
		d, err := first(found, err, auth.ErrNoDelegation)
		if err != nil {
			return err
		}
		if _, err := t.Exec("UPDATE delegation SET ended_at = $1 WHERE id = $2", at, id); err != nil {
			return fmt.Errorf("end delegation: %w", err)
		}
		return t.Record(audit.Record{Event: audit.DelegationEnded, Tenant: d.Tenant, By: by}, verbs.Facts{"delegation": id}, nil)
	})
}
