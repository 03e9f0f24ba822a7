package postgres

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// reserveSQL takes an amount from a window, under the limit as it is now, or
// changes no row. The first reservation of a window makes it. Of two runs the
// second waits here for the first.
const reserveSQL = `INSERT INTO budget (tenant, name, span, scope, currency, starts, ends, most, reserved, posted)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)
	ON CONFLICT (tenant, name, span, scope, currency, starts) DO UPDATE
	SET most = excluded.most, reserved = budget.reserved + excluded.reserved
	WHERE budget.reserved + budget.posted + excluded.reserved <= excluded.most`

// reserve counts a run that is about to begin against its limits. All of it
// fits, or the verb fails with a *LimitError and nothing is kept.
func (t *tx) reserve(a action.Action, start action.Start) error {
	takes, err := verbs.Takes(start, t.now())
	if err != nil || len(takes) == 0 {
		return err
	}
	var steps []step
	fits := make([]int64, len(takes))
	for i, l := range takes {
		take := do(reserveSQL, a.Tenant, l.Name, string(l.Window), l.Scope, l.Currency, l.Starts, l.Ends, l.Most, l.Amount)
		take.n = &fits[i]
		steps = append(steps, take, do(`INSERT INTO reservation (tenant, action_id, budget, amount, state, at)
			SELECT tenant, $1::text, seq, $2::bigint, 'reserved', $3::bigint FROM budget WHERE tenant = $4 AND name = $5
			AND span = $6 AND scope = $7 AND currency = $8 AND starts = $9`,
			a.ID, l.Amount, t.now(), a.Tenant, l.Name, string(l.Window), l.Scope, l.Currency, l.Starts))
	}
	if err := t.run(steps...); err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	for i, n := range fits {
		if n == 0 {
			return &action.LimitError{Name: takes[i].Name}
		}
	}
	return nil
}

// settleLimits moves the reservations of an action with its state. Each moves
// once in its life; an outcome that is not known holds them. Windows are
// locked in the order in which they are reserved.
func (t *tx) settleLimits(a action.Action) []step {
	state := action.SettledReservation(a.State, a.Result)
	if state == "" || a.ID == t.unreserved {
		return nil
	}
	counts := 0
	if state == action.Posted {
		counts = 1
	}
	return []step{
		do(`SELECT 1 FROM budget WHERE seq IN (SELECT budget FROM reservation WHERE action_id = $1 AND state = 'reserved')
			ORDER BY name, scope, currency, starts FOR UPDATE`, a.ID),
		do(`WITH moved AS (UPDATE reservation SET state = $1, at = $2 WHERE action_id = $3 AND state = 'reserved'
				RETURNING budget, amount)
			UPDATE budget b SET reserved = b.reserved - m.amount, posted = b.posted + $4::bigint * m.amount
			FROM moved m WHERE b.seq = m.budget`, string(state), t.now(), a.ID, counts),
	}
}
