package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// spentKeys finds keys of actions that have ended before a time. A key that
// was taken over counts from its last action.
const spentKeys = ` FROM idempotency i JOIN action a ON a.id = i.action_id WHERE i.created_at < ? AND a.ended_at < ?
	AND a.state IN ('denied', 'succeeded', 'failed', 'reconciled_succeeded', 'reconciled_failed', 'expired', 'revoked')`

// ForgetKeys forgets idempotency keys of actions that ended longer ago than
// keep. It says how many; those of open and uncertain actions are kept.
func (s *Store) ForgetKeys(ctx context.Context, keep time.Duration) (int, error) {
	all := 0
	for {
		n, err := s.forgetSome(ctx, keep)
		all += n
		if err != nil || n < verbs.MaxForgotten {
			return all, err
		}
	}
}

func (s *Store) forgetSome(ctx context.Context, keep time.Duration) (n int, err error) {
	none := false
	err = s.read(ctx, func(c *conn) error { // nothing to forget costs no write
		before, err := verbs.MayForget(keep, s.present())
		if err != nil {
			return err
		}
		found, err := c.one(func(*cursor) error { return nil }, "SELECT 1"+spentKeys+" LIMIT 1", before, before)
		none = !found
		return err
	})
	if err != nil || none {
		return 0, err
	}
	err = s.write(ctx, syncFull, func(t *tx) error {
		before, err := verbs.MayForget(keep, t.now)
		if err != nil {
			return err
		}
		gone, err := t.exec(`DELETE FROM idempotency WHERE (tenant, principal, key) IN (SELECT i.tenant, i.principal, i.key`+
			spentKeys+" LIMIT ?)", before, before, verbs.MaxForgotten)
		if err != nil {
			return fmt.Errorf("forget keys: %w", err)
		}
		if n = int(gone); n == 0 {
			return nil
		}
		return t.record(verbs.ForgottenRecord(keep, n))
	})
	return n, err
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
			}, "SELECT count(*), min(updated_at) FROM action WHERE "+inState(state)+" AND +tenant = ?", string(state), tenant)
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
