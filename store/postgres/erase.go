package postgres

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Erase destroys what tells of the arguments of an action that has ended. It
// takes the rights of the tables' owner: a gateway's own role may not change
// what was decided on. Old versions of the rows stay in the database's files
// until it vacuums, and in its archives; there the payload is sealed.
func (s *Store) Erase(ctx context.Context, tenant, id, account, reason string) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.lock(id)
		if err != nil || row.Tenant != tenant {
			if err == nil {
				err = action.ErrNotFound
			}
			return action.Action{}, err
		}
		if err := t.mayLift(action.Stop{Tenant: tenant}, account); err != nil {
			return verbs.Visible(row, err), err
		}
		if !row.ErasedAt.IsZero() {
			return row, nil
		}
		m, err := verbs.Erase(row, t.now(), account, reason)
		if err != nil {
			return row, err
		}
		return t.erase(row, m)
	})
}

func (t *tx) erase(row action.Action, m verbs.Move) (action.Action, error) {
	entry, err := t.entry(m.Record, m.Facts, m.Secrets)
	if err != nil {
		return action.Action{}, err
	}
	steps := []step{
		do(`UPDATE action SET erased_at = $2, fingerprint = NULL, hash = NULL, targets = '[]', evidence = '[]', changes = '[]',
			reason = '', end_detail = '' WHERE id = $1`, row.ID, t.now()),
		do(`UPDATE payload SET raw = NULL, requested = NULL, args = NULL, preview = NULL, facts = NULL, result = NULL
			WHERE action_seq = (SELECT seq FROM action WHERE id = $1)`, row.ID),
		do("UPDATE standing_grant SET revoked_at = $2 WHERE tenant = $3 AND source = $1 AND revoked_at IS NULL", row.ID, t.now(), row.Tenant),
		do("UPDATE standing_grant SET scope = NULL WHERE tenant = $2 AND source = $1", row.ID, row.Tenant),
		do("DELETE FROM salt WHERE place IN (SELECT place FROM event WHERE action_id = $1)", row.ID),
	}
	if m.To.Terms != nil {
		steps = append(steps, do("UPDATE approval SET nonce = $2, preview = NULL WHERE action_id = $1", row.ID, m.To.Terms.Nonce))
	}
	if err := t.run(append(steps, entry)...); err != nil {
		return action.Action{}, fmt.Errorf("erase: %w", err)
	}
	m.To.Leaf = t.leaf
	return m.To, nil
}
