package sqlite

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// KeepCover writes that a standing grant covers a row.
func (t *tx) KeepCover(row action.Action, grant string, amount int64) error {
	if _, err := t.exec("INSERT INTO standing_cover (action_id, grant_id, amount, at) VALUES (?, ?, ?, ?)",
		row.ID, grant, amount, t.now); err != nil {
		return fmt.Errorf("cover action: %w", err)
	}
	return nil
}

// backed checks who or what allowed a row: its votes with the accounts as
// they are now, or the standing grant that covers it, with its signatures.
func (t *tx) backed(row action.Action, again bool) (*action.StandingGrant, error) {
	g, err := tables.Backing(t.store.standingGrants, t, row, again)
	if err != nil || g != nil {
		return g, err
	}
	standing, err := t.tally(row)
	if err == nil {
		err = verbs.Suffice(standing)
	}
	return nil, err
}

// spend counts one use of the grant that covers a row, if there is one.
func (t *tx) spend(row action.Action, g *action.StandingGrant) error { return tables.Spend(t, row, g) }
