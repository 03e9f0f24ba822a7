package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// AddDelegation adds a delegation between active accounts of one tenant.
func (s *Store) AddDelegation(ctx context.Context, d auth.Delegation) error {
	return s.book(ctx, func(t *tx) error {
		for _, id := range []string{d.Delegator, d.Delegate} {
			a, err := activeAccount(t, id)
			if err == nil && a.Tenant != d.Tenant {
				err = auth.ErrNoAccount
			}
			if err != nil {
				return err
			}
		}
		if _, err := t.exec("INSERT INTO delegation (id, tenant, delegator, delegate, reason, created_at, starts_at, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			d.ID, d.Tenant, d.Delegator, d.Delegate, d.Reason, d.CreatedAt, d.StartsAt, d.EndsAt); err != nil {
			return fmt.Errorf("insert delegation: %w", err)
		}
		return t.record(audit.Record{Event: audit.DelegationMade, Tenant: d.Tenant, By: d.Delegator},
			verbs.Facts{"delegation": d.ID, "delegate": d.Delegate, "starts": d.StartsAt.Format(time.RFC3339), "ends": d.EndsAt.Format(time.RFC3339)},
			verbs.Secrets{"reason": []byte(d.Reason)})
	})
}

func delegations(c *conn, where string, args ...any) ([]auth.Delegation, error) {
	var out []auth.Delegation
	err := c.query(func(cur *cursor) error {
		out = append(out, auth.Delegation{ID: cur.text(), Tenant: cur.text(), Delegator: cur.text(), Delegate: cur.text(), Reason: cur.text(),
			CreatedAt: cur.time(), StartsAt: cur.time(), EndsAt: cur.time()})
		return nil
	}, "SELECT id, tenant, delegator, delegate, reason, created_at, starts_at, ends_at FROM delegation "+where, args...)
	return out, err
}

// Delegations lists those of a tenant that nobody has ended and that end after
// a time.
func (s *Store) Delegations(ctx context.Context, tenant string, after time.Time) (out []auth.Delegation, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = delegations(c, "WHERE tenant = ? AND ended_at IS NULL AND ends_at > ? ORDER BY starts_at, id", tenant, after)
		return err
	})
	return out, err
}

// EndDelegation ends a delegation before its time.
func (s *Store) EndDelegation(ctx context.Context, id, by string, at time.Time) error {
	return s.book(ctx, func(t *tx) error {
		found, err := delegations(t.conn, "WHERE id = ? AND ended_at IS NULL AND ends_at > ?", id, at)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return auth.ErrNoDelegation
		}
		if _, err := t.exec("UPDATE delegation SET ended_at = ? WHERE id = ?", at, id); err != nil {
			return fmt.Errorf("end delegation: %w", err)
		}
		return t.record(audit.Record{Event: audit.DelegationEnded, Tenant: found[0].Tenant, By: by}, verbs.Facts{"delegation": id}, nil)
	})
}
