package web_test

import (
	"context"
	"slices"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
)

func (g *fakeGate) Earlier(context.Context, action.Action) (action.Earlier, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.earlier, g.fail
}

func (g *fakeGate) Room(context.Context, *catalog.Tool, action.Action) ([]verbatim.Room, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.room, g.fail
}

func (g *fakeGate) Stops(context.Context, string) ([]action.Stop, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.stops), g.fail
}

func (g *fakeGate) Counts(_ context.Context, tenant string) ([]action.Count, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []action.Count
	for _, state := range action.Open() {
		c := action.Count{State: state}
		for _, a := range g.actions {
			if a.State == state && a.Tenant == tenant {
				c.Number++
				c.Oldest = a.UpdatedAt
			}
		}
		if c.Number > 0 {
			out = append(out, c)
		}
	}
	return out, g.fail
}

func (g *fakeGate) Reconcile(_ context.Context, tenant string, r action.Reconciliation) (action.Action, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.actions {
		if a := &g.actions[i]; a.ID == r.ID && a.Tenant == tenant {
			if g.refuse != nil {
				return *a, g.refuse
			}
			a.State = r.State
			g.settled = append(g.settled, r)
			return *a, nil
		}
	}
	return action.Action{}, action.ErrNotFound
}

func (g *fakeGate) Freeze(_ context.Context, s action.Stop) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.At = start
	g.stops = append(g.stops, s)
	return 2, g.refuse
}

func (g *fakeGate) Unfreeze(_ context.Context, s action.Stop) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse != nil {
		return g.refuse
	}
	i := slices.IndexFunc(g.stops, func(o action.Stop) bool { return o.Tenant == s.Tenant && o.Agent == s.Agent && o.Tool == s.Tool })
	if i < 0 {
		return action.ErrNotFound
	}
	g.stops, g.lifted = slices.Delete(g.stops, i, i+1), append(g.lifted, s)
	return nil
}
