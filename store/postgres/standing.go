package postgres

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Cover approves a pending row by a standing grant.
func (s *Store) Cover(ctx context.Context, id, grant string) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.lock(id)
		if err != nil {
			return action.Action{}, err
		}
		c, err := tables.Cover(s.standingGrants, t, row, grant)
		if err != nil {
			return verbs.Visible(row, err), err
		}
		if _, err := t.exec("INSERT INTO standing_cover (action_id, tenant, grant_id, amount, at) VALUES ($1, $2, $3, $4, $5)",
			row.ID, row.Tenant, c.Grant, c.Amount, t.now()); err != nil {
			return row, fmt.Errorf("cover action: %w", err)
		}
		return t.carry(row, c.Move)
	})
}

// backed checks who or what allowed a row: its votes with the accounts as
// they are now, or the standing grant that covers it, with its signatures.
func (t *tx) backed(row action.Action, again bool) (*action.StandingGrant, error) {
	g, err := tables.Backing(t.store.standingGrants, t, row, again)
	if err != nil || g != nil {
		return g, err
	}
	standing, err := t.tally(row, lockVoters)
	if err == nil {
		err = verbs.Suffice(standing)
	}
	return nil, err
}

// spend counts one use of the grant that covers a row, if there is one.
func (t *tx) spend(row action.Action, g *action.StandingGrant) error { return tables.Spend(t, row, g) }
