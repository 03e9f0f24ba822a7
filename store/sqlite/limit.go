package sqlite

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// reserveSQL takes an amount from a window, under the limit as it is now, or
// changes no row. The first reservation of a window makes it.
const reserveSQL = `INSERT INTO budget (tenant, name, span, scope, currency, starts, ends, most, reserved, posted)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
	ON CONFLICT (tenant, name, span, scope, currency, starts) DO UPDATE
	SET most = excluded.most, reserved = reserved + excluded.reserved
	WHERE reserved + posted + excluded.reserved <= excluded.most`

// reserve counts a run that is about to begin against its limits. All of it
// fits, or the verb fails with a *LimitError and nothing is kept.
func (t *tx) reserve(a *action.Action, limits []action.Limit) error {
	if len(limits) == 0 {
		return nil
	}
	takes, err := verbs.Takes(action.Start{Limits: limits}, t.now)
	if err != nil {
		return err
	}
	for _, l := range takes {
		n, err := t.exec(reserveSQL, a.Tenant, l.Name, string(l.Window), l.Scope, l.Currency, l.Starts, l.Ends, l.Most, l.Amount)
		if err != nil {
			return fmt.Errorf("reserve %s: %w", l.Name, err)
		}
		if n == 0 {
			return &action.LimitError{Name: l.Name}
		}
		if _, err := t.exec(`INSERT INTO reservation (action_id, budget, amount, state, at)
			SELECT ?, seq, ?, 'reserved', ? FROM budget WHERE tenant = ? AND name = ? AND span = ? AND scope = ?
			AND currency = ? AND starts = ?`,
			a.ID, l.Amount, t.now, a.Tenant, l.Name, string(l.Window), l.Scope, l.Currency, l.Starts); err != nil {
			return fmt.Errorf("keep reservation of %s: %w", l.Name, err)
		}
	}
	return nil
}

// settleLimits moves the reservations of an action with its state. Each moves
// once in its life; an outcome that is not known holds them.
func (t *tx) settleLimits(a action.Action) error {
	state := action.SettledReservation(a.State, a.Result)
	if state == "" {
		return nil
	}
	n, err := t.exec("UPDATE reservation SET state = ?, at = ? WHERE action_id = ? AND state = 'reserved'",
		string(state), t.now, a.ID)
	if err != nil || n == 0 {
		return err
	}
	counts := 0
	if state == action.Posted {
		counts = 1
	}
	_, err = t.exec(`UPDATE budget SET reserved = reserved - r.amount, posted = posted + ? * r.amount
		FROM (SELECT budget, amount FROM reservation WHERE action_id = ?) r WHERE budget.seq = r.budget`, counts, a.ID)
	if err != nil {
		return fmt.Errorf("settle reservations: %w", err)
	}
	return nil
}
