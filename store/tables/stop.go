package tables

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const stopTable = "stop"

// Stop refuses every further start of what it covers. By is ByHost or an
// active account, of the tenant unless everything is stopped.
func Stop(t Tx, stop action.Stop) error {
	if stop.By != action.ByHost {
		who, err := t.Person(stop.By)
		if err == nil {
			err = verbs.MayStop(stop, who)
		}
		if err != nil {
			return err
		}
	}
	if err := t.Alone(stopTable); err != nil { // every start that saw no stop has ended then
		return err
	}
	return freeze(t, stop)
}

func freeze(t Tx, stop action.Stop) error {
	if _, err := t.Exec(`INSERT INTO stop (tenant, agent, tool, by, reason, at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (tenant, agent, tool) DO UPDATE SET by = excluded.by, reason = excluded.reason, at = excluded.at`,
		stop.Tenant, stop.Agent, stop.Tool, stop.By, stop.Reason, t.Now()); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return t.Record(verbs.StopRecord(audit.Stopped, stop))
}

// Resume lifts a stop for an account that may do so ([action.Stop.MayLift]).
// A stop that does not stand is ErrNotFound.
func Resume(t Tx, stop action.Stop) error {
	if err := t.Alone(stopTable); err != nil {
		return err
	}
	found, err := Stops(t, "WHERE tenant = $1 AND agent = $2 AND tool = $3", stop.Tenant, stop.Agent, stop.Tool)
	standing, err := first(found, err, action.ErrNotFound)
	if err != nil {
		return err
	}
	if err := MayLift(t, standing, stop.By); err != nil {
		return err
	}
	if _, err := t.Exec("DELETE FROM stop WHERE tenant = $1 AND agent = $2 AND tool = $3", stop.Tenant, stop.Agent, stop.Tool); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return t.Record(verbs.StopRecord(audit.Resumed, stop))
}

// MayLift refuses an account that may not lift a stop.
func MayLift(t Tx, stop action.Stop, by string) error {
	who, err := t.Person(by)
	if err != nil {
		return err
	}
	operators, err := number(t, `SELECT count(*) FROM account a JOIN account_group g ON g.account_id = a.id
		WHERE a.active AND g.name = $1 AND $2 IN ('', a.tenant)`, action.GroupOperator, stop.Tenant)
	if err == nil && !stop.MayLift(who, operators > 0) {
		err = action.ErrIneligible
	}
	return err
}

// Stops lists what is stopped.
func Stops(c Reader, where string, args ...any) ([]action.Stop, error) {
	var out []action.Stop
	err := c.Query(func(cur Row) error {
		out = append(out, StopOf(cur))
		return nil
	}, SelectStop+where, args...)
	return out, err
}

// SelectStop asks for what StopOf reads.
const SelectStop = "SELECT tenant, agent, tool, by, reason, at FROM stop "

// StopOf reads one stop.
func StopOf(cur Row) action.Stop {
	return action.Stop{Tenant: cur.Text(), Agent: cur.Text(), Tool: cur.Text(), By: cur.Text(), Reason: cur.Text(), At: cur.Time()}
}
