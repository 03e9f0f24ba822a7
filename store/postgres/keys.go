package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ForgetKeys forgets idempotency keys of actions that ended longer ago than
// keep. It says how many; those of open and uncertain actions are kept.
func (s *Store) ForgetKeys(ctx context.Context, keep time.Duration) (int, error) {
	all := 0
	for {
		n := 0
		err := s.write(ctx, syncFull, func(t *tx) (err error) {
			n, err = t.forgetSome(keep)
			return err
		})
		if err != nil {
			return all, err
		}
		if all += n; n < verbs.MaxForgotten {
			return all, nil
		}
	}
}

// forgetSome leaves out keys that somebody is just taking over.
func (t *tx) forgetSome(keep time.Duration) (int, error) {
	before, err := verbs.MayForget(keep, t.now())
	if err != nil {
		return 0, err
	}
	gone, err := t.exec(`DELETE FROM idempotency WHERE (tenant, principal, key) IN (
		SELECT i.tenant, i.principal, i.key FROM idempotency i JOIN action a ON a.tenant = i.tenant AND a.id = i.action_id
		WHERE i.created_at < $1 AND a.ended_at < $1 AND a.state IN ('denied', 'succeeded', 'failed', 'reconciled_succeeded',
			'reconciled_failed', 'expired', 'revoked')
		LIMIT $2 FOR UPDATE OF i SKIP LOCKED)`, before, verbs.MaxForgotten)
	if err != nil {
		return 0, fmt.Errorf("forget keys: %w", err)
	}
	if gone == 0 {
		return 0, nil
	}
	return int(gone), t.record(verbs.ForgottenRecord(keep, int(gone)))
}

// Counts counts the open actions of a tenant by state, in the order of
// action.Open. States without an action are left out.
func (s *Store) Counts(ctx context.Context, tenant string) (out []action.Count, err error) {
	err = s.read(ctx, func(c *conn) error {
		for _, state := range action.Open() {
			found := action.Count{State: state}
			err := c.query(func(cur *cursor) error {
				found.Number, found.Oldest = int(cur.int()), cur.time()
				return nil
			}, "SELECT count(*), min(updated_at) FROM action WHERE state = $1 AND tenant = $2", string(state), tenant)
			if err != nil {
				return err
			}
			if found.Number > 0 {
				out = append(out, found)
			}
		}
		return nil
	})
	return out, err
}
