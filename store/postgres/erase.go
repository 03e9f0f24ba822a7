package postgres

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
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
		if err := tables.MayLift(t, action.Stop{Tenant: tenant}, account); err != nil {
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
	seq := int64(0)
	if _, err := t.one(func(cur *cursor) error { seq = cur.int(); return nil }, "SELECT seq FROM action WHERE tenant = $1 AND id = $2",
		row.Tenant, row.ID); err != nil {
		return action.Action{}, err
	}
	if err := t.run(append(t.erasure([]int64{seq}), entry)...); err != nil {
		return action.Action{}, fmt.Errorf("erase: %w", err)
	}
	m.To.Leaf = t.leaf
	return m.To, nil
}
