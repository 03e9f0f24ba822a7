package verbatim

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
)

// ErrNoErase is returned where the gate was not told how keys are destroyed.
var ErrNoErase = errors.New("this gate cannot destroy keys, so it erases nothing")

// Erase destroys what tells of the arguments of an action that has ended, for
// an account that may: first what the store holds, then the key that its
// payload is sealed with, so that no backup of the store opens it either. The
// log keeps its records and still verifies. It may be called again: an action
// that is erased already has its key destroyed, should that have failed. It
// fails with action.ErrNotFound, ErrState or ErrIneligible, or ErrNoErase.
func (g *Gate) Erase(ctx context.Context, tenant, id, account, reason string) (action.Action, error) {
	if g.cfg.EraseKeys == nil {
		return action.Action{}, ErrNoErase
	}
	a, err := g.cfg.Store.Erase(ctx, tenant, id, account, reason)
	if err != nil {
		return a, err
	}
	if err := g.cfg.EraseKeys(keys.Place{Tenant: a.Tenant, Row: a.ID, Shelf: shelf(a)}); err != nil {
		return a, fmt.Errorf("the store no longer holds it, but its key could not be destroyed; erase again: %w", err)
	}
	return a, nil
}

// shelf is where the payload of an action is sealed.
func shelf(a action.Action) keys.Shelf {
	return keys.Shelf{Class: byte(a.Class()), Day: keys.DayOf(a.CreatedAt)}
}
