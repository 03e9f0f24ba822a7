package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
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
		if err := t.mayStop(stop); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO stop (tenant, agent, tool, by, reason, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, agent, tool) DO UPDATE SET by = excluded.by, reason = excluded.reason, at = excluded.at`,
			stop.Tenant, stop.Agent, stop.Tool, stop.By, stop.Reason, t.now); err != nil {
			return fmt.Errorf("stop: %w", err)
		}
		n, err := t.number("SELECT count(*) FROM action WHERE "+flying+` AND state = 'executing' AND ? IN ('', tenant)
			AND ? IN ('', agent) AND ? IN ('', tool)`, stop.Tenant, stop.Agent, stop.Tool)
		if err != nil {
			return err
		}
		running = int(n)
		return t.record(verbs.StopRecord(audit.Stopped, stop))
	})
	return running, err
}

// turn is write for what changes the freeze switch.
func (s *Store) turn(ctx context.Context, fn func(*tx) error) error {
	return s.do(&job{ctx: ctx, level: syncFull, run: fn, stops: true, done: make(chan struct{})})
}

func (t *tx) mayStop(stop action.Stop) error {
	if stop.By == action.ByHost {
		return nil
	}
	who, err := person(t.conn, stop.By, t.now)
	if err != nil {
		return err
	}
	return verbs.MayStop(stop, who)
}

// Resume lifts a stop for an account that may do so ([action.Stop.MayLift]).
// A stop that does not stand is ErrNotFound.
func (s *Store) Resume(ctx context.Context, stop action.Stop) error {
	return s.turn(ctx, func(t *tx) error {
		standing, err := t.standing(stop)
		if err != nil {
			return err
		}
		if err := t.mayLift(standing, stop.By); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM stop WHERE tenant = ? AND agent = ? AND tool = ?",
			stop.Tenant, stop.Agent, stop.Tool); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		return t.record(verbs.StopRecord(audit.Resumed, stop))
	})
}

func (t *tx) standing(stop action.Stop) (action.Stop, error) {
	all, err := stopsOf(t.conn, "WHERE tenant = ? AND agent = ? AND tool = ?", stop.Tenant, stop.Agent, stop.Tool)
	if err == nil && len(all) == 0 {
		err = action.ErrNotFound
	}
	if err != nil {
		return action.Stop{}, err
	}
	return all[0], nil
}

func (t *tx) mayLift(stop action.Stop, by string) error {
	who, err := person(t.conn, by, t.now)
	if err != nil {
		return err
	}
	operators, err := t.number(`SELECT count(*) FROM account a JOIN account_group g ON g.account_id = a.id
		WHERE a.active = 1 AND g.name = ? AND ? IN ('', a.tenant)`, action.GroupOperator, stop.Tenant)
	if err == nil && !stop.MayLift(who, operators > 0) {
		err = action.ErrIneligible
	}
	return err
}

// Stops lists what is stopped for a tenant, stops of everything included.
func (s *Store) Stops(ctx context.Context, tenant string) (out []action.Stop, err error) {
	if out, known := s.memory.stopsOf(tenant); known {
		return out, ctx.Err()
	}
	err = s.read(ctx, func(c *conn) error {
		out, err = stopsOf(c, "WHERE tenant IN ('', ?) ORDER BY tenant, agent, tool", tenant)
		return err
	})
	return out, err
}

func stopsOf(c *conn, where string, args ...any) ([]action.Stop, error) {
	var out []action.Stop
	err := c.query(func(cur *cursor) error {
		out = append(out, action.Stop{Tenant: cur.text(), Agent: cur.text(), Tool: cur.text(), By: cur.text(),
			Reason: cur.text(), At: cur.time()})
		return nil
	}, "SELECT tenant, agent, tool, by, reason, at FROM stop "+where, args...)
	return out, err
}

// stopped refuses an action that somebody has stopped.
func (t *tx) stopped(a action.Action) (action.Action, error) {
	if stops, known := t.store.memory.stopsOf(a.Tenant); known { // no verb of this transaction turns the switch
		if slices.ContainsFunc(stops, func(s action.Stop) bool { return s.Covers(a.Tenant, a.Agent, a.Tool) }) {
			return a, action.ErrStopped
		}
		return action.Action{}, nil
	}
	n, err := t.number("SELECT count(*) FROM stop WHERE tenant IN ('', ?) AND agent IN ('', ?) AND tool IN ('', ?)",
		a.Tenant, a.Agent, a.Tool)
	if err != nil {
		return action.Action{}, err
	}
	if n > 0 {
		return a, action.ErrStopped
	}
	return action.Action{}, nil
}
