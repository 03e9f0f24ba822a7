package postgres

import (
	"context"

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
	err = s.write(ctx, syncFull, func(t *tx) error {
		if err := tables.Stop(t, stop); err != nil {
			return err
		}
		n, err := t.number(`SELECT count(*) FROM action WHERE state = 'executing' AND $1 IN ('', tenant)
			AND $2 IN ('', agent) AND $3 IN ('', tool)`, stop.Tenant, stop.Agent, stop.Tool)
		running = int(n)
		return err
	})
	return running, err
}

// Resume lifts a stop for an account that may do so ([action.Stop.MayLift]).
// A stop that does not stand is ErrNotFound.
func (s *Store) Resume(ctx context.Context, stop action.Stop) error {
	return s.write(ctx, syncFull, func(t *tx) error { return tables.Resume(t, stop) })
}

// Stops lists what is stopped for a tenant, stops of everything included.
func (s *Store) Stops(ctx context.Context, tenant string) ([]action.Stop, error) {
	out, err := s.asks(ctx, question{kind: forStops, tenant: tenant}, func(c *conn) (out told, err error) {
		out.stops, err = tables.Stops(c, "WHERE tenant IN ('', $1) ORDER BY tenant, agent, tool", tenant)
		return out, err
	})
	return out.stops, err
}

const selectStop = tables.SelectStop

func scanStop(cur *cursor) action.Stop { return tables.StopOf(cur) }
