package verbatim

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
)

// ForgetPayloads erases what is past its time: first what the store holds,
// then the keys of whole days, so that no backup of the store opens it
// either. The log keeps its records and still verifies. It may be called
// again at any time, and should be, about once an hour. It fails with
// ErrNoErase where the gate was not told how keys are destroyed.
func (g *Gate) ForgetPayloads(ctx context.Context, keep action.Retention) (action.Forgotten, error) {
	if g.cfg.ForgetKeys == nil {
		return action.Forgotten{}, ErrNoErase
	}
	f, err := g.cfg.Store.ForgetPayloads(ctx, keep)
	if err != nil {
		return f, err
	}
	var before []keys.Shelf
	for class, at := range f.Before {
		before = append(before, keys.Shelf{Class: byte(class), Day: keys.DayOf(at)})
	}
	held := make([]keys.Place, len(f.Held))
	for i, h := range f.Held {
		held[i] = keys.Place{Tenant: h.Tenant, Row: h.ID, Shelf: keys.Shelf{Class: byte(h.Class), Day: keys.DayOf(h.CreatedAt)}}
	}
	if err := g.cfg.ForgetKeys(before, f.Old, held...); err != nil {
		return f, fmt.Errorf("the store has forgotten payloads, but their keys could not be destroyed; it is tried again: %w", err)
	}
	return f, nil
}
