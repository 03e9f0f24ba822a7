package sqlite

import (
	"context"
	"slices"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Stop refuses every further start of what it covers with ErrStopped and says
// how many runs that it covers are under way; they go on. By is ByHost or an
// active account, of the tenant unless everything is stopped.
func (s *Store) Stop(ctx context.Context, stop action.Stop) (running int, err error) {
	if err := verbs.Stops(stop); err != nil {
		return 0, err
	}
	err = s.turn(ctx, func(t *tx) error {
		if err := tables.Stop(t, stop); err != nil {
			return err
		}
		n, err := t.number("SELECT count(*) FROM action WHERE "+atWork+` AND ? IN ('', tenant)
			AND ? IN ('', agent) AND ? IN ('', tool)`, stop.Tenant, stop.Agent, stop.Tool)
		running = int(n)
		return err
	})
	return running, err
}

// turn is write for what changes the freeze switch.
func (s *Store) turn(ctx context.Context, fn func(*tx) error) error {
	return s.do(&job{ctx: ctx, level: syncFull, run: fn, stops: true, done: make(chan struct{})})
}

// Resume lifts a stop for an account that may do so ([action.Stop.MayLift]).
// A stop that does not stand is ErrNotFound.
func (s *Store) Resume(ctx context.Context, stop action.Stop) error {
	return s.turn(ctx, func(t *tx) error { return tables.Resume(t, stop) })
}

// Stops lists what is stopped for a tenant, stops of everything included.
func (s *Store) Stops(ctx context.Context, tenant string) (out []action.Stop, err error) {
	if out, known := s.memory.stopsOf(tenant); known {
		return out, ctx.Err()
	}
	err = s.read(ctx, func(c *conn) error {
		out, err = stopsOf(c, "WHERE tenant IN ('', $1) ORDER BY tenant, agent, tool", tenant)
		return err
	})
	return out, err
}

func stopsOf(c *conn, where string, args ...any) ([]action.Stop, error) {
	return tables.Stops(c, where, args...)
}

// stopped refuses an action that somebody has stopped.
func (t *tx) stopped(a *action.Action) (action.Action, error) {
	if stops, known := t.store.memory.stopsOf(a.Tenant); known { // no verb of this transaction turns the switch
		if slices.ContainsFunc(stops, func(s action.Stop) bool { return s.Covers(a.Tenant, a.Agent, a.Tool) }) {
			return *a, action.ErrStopped
		}
		return action.Action{}, nil
	}
	n, err := t.number("SELECT count(*) FROM stop WHERE tenant IN ('', ?) AND agent IN ('', ?) AND tool IN ('', ?)",
		a.Tenant, a.Agent, a.Tool)
	if err != nil {
		return action.Action{}, err
	}
	if n > 0 {
		return *a, action.ErrStopped
	}
	return action.Action{}, nil
}
