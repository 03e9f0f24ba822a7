package postgres

import (
	"context"
	"fmt"

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
	err = s.write(ctx, syncFull, func(t *tx) error {
		if err := t.mayStop(stop); err != nil {
			return err
		}
		// Every start that saw no stop has ended when this goes on.
		if _, err := t.exec("LOCK TABLE stop IN EXCLUSIVE MODE"); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO stop (tenant, agent, tool, by, reason, at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (tenant, agent, tool) DO UPDATE SET by = excluded.by, reason = excluded.reason, at = excluded.at`,
			stop.Tenant, stop.Agent, stop.Tool, stop.By, stop.Reason, t.now()); err != nil {
			return fmt.Errorf("stop: %w", err)
		}
		n, err := t.number(`SELECT count(*) FROM action WHERE state = 'executing' AND $1 IN ('', tenant)
			AND $2 IN ('', agent) AND $3 IN ('', tool)`, stop.Tenant, stop.Agent, stop.Tool)
		if err != nil {
			return err
		}
		running = int(n)
		return t.record(verbs.StopRecord(audit.Stopped, stop))
	})
	return running, err
}

func (t *tx) mayStop(stop action.Stop) error {
	if stop.By == action.ByHost {
		return nil
	}
	who, err := person(t.conn, stop.By, t.now(), lockVoters)
	if err != nil {
		return err
	}
	return verbs.MayStop(stop, who)
}

// Resume lifts a stop for an account that may do so ([action.Stop.MayLift]).
// A stop that does not stand is ErrNotFound.
func (s *Store) Resume(ctx context.Context, stop action.Stop) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		if _, err := t.exec("LOCK TABLE stop IN EXCLUSIVE MODE"); err != nil {
			return err
		}
		standing, err := t.standing(stop)
		if err != nil {
			return err
		}
		if err := t.mayLift(standing, stop.By); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM stop WHERE tenant = $1 AND agent = $2 AND tool = $3",
			stop.Tenant, stop.Agent, stop.Tool); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		return t.record(verbs.StopRecord(audit.Resumed, stop))
	})
}

func (t *tx) standing(stop action.Stop) (action.Stop, error) {
	all, err := stopsOf(t.conn, "WHERE tenant = $1 AND agent = $2 AND tool = $3", stop.Tenant, stop.Agent, stop.Tool)
	if err == nil && len(all) == 0 {
		err = action.ErrNotFound
	}
	if err != nil {
		return action.Stop{}, err
	}
	return all[0], nil
}

func (t *tx) mayLift(stop action.Stop, by string) error {
	who, err := person(t.conn, by, t.now(), lockVoters)
	if err != nil {
		return err
	}
	operators, err := t.number(`SELECT count(*) FROM account a JOIN account_group g ON g.account_id = a.id
		WHERE a.active AND g.name = $1 AND $2 IN ('', a.tenant)`, action.GroupOperator, stop.Tenant)
	if err == nil && !stop.MayLift(who, operators > 0) {
		err = action.ErrIneligible
	}
	return err
}

// Stops lists what is stopped for a tenant, stops of everything included.
func (s *Store) Stops(ctx context.Context, tenant string) ([]action.Stop, error) {
	out, err := s.asks(ctx, question{kind: forStops, tenant: tenant}, func(c *conn) (out told, err error) {
		out.stops, err = stopsOf(c, "WHERE tenant IN ('', $1) ORDER BY tenant, agent, tool", tenant)
		return out, err
	})
	return out.stops, err
}

func stopsOf(c *conn, where string, args ...any) ([]action.Stop, error) {
	var out []action.Stop
	err := c.query(func(cur *cursor) error {
		out = append(out, scanStop(cur))
		return nil
	}, selectStop+where, args...)
	return out, err
}

const selectStop = "SELECT tenant, agent, tool, by, reason, at FROM stop "

func scanStop(cur *cursor) action.Stop {
	return action.Stop{Tenant: cur.text(), Agent: cur.text(), Tool: cur.text(), By: cur.text(), Reason: cur.text(), At: cur.time()}
}
