package postgres

import (
	"context"
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

// Budgets lists windows of limits.
func (s *Store) Budgets(ctx context.Context, f action.BudgetFilter) (out []action.Budget, err error) {
	err = s.read(ctx, func(c *conn) error {
		var w where
		w.equal("tenant", f.Tenant)
		w.equal("name", f.Name)
		w.equal("scope", f.Scope)
		if !f.Past {
			now, err := s.peekClock(c)
			if err != nil {
				return err
			}
			w.add("ends > ", now)
		}
		most := w.arg(limit(f.Limit))
		return c.query(func(cur *cursor) error {
			out = append(out, action.Budget{Tenant: cur.text(), Name: cur.text(), Window: action.Window(cur.text()),
				Scope: cur.text(), Currency: cur.text(), Start: cur.time(), End: cur.time(), Most: cur.int(),
				Reserved: cur.int(), Posted: cur.int()})
			return nil
		}, `SELECT tenant, name, span, scope, currency, starts, ends, most, reserved, posted FROM budget `+w.sql()+
			" ORDER BY ends DESC, name, scope, currency LIMIT "+most, w.args...)
	})
	return out, err
}

// Reservations lists what an action took from limits.
func (s *Store) Reservations(ctx context.Context, tenant, id string) (out []action.Reservation, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(func(cur *cursor) error {
			out = append(out, action.Reservation{Limit: action.Limit{Name: cur.text(), Window: action.Window(cur.text()),
				Scope: cur.text(), Currency: cur.text(), Most: cur.int(), Amount: cur.int()}, Start: cur.time(),
				State: action.ReservationState(cur.text()), At: cur.time()})
			return nil
		}, `SELECT b.name, b.span, b.scope, b.currency, b.most, r.amount, b.starts, r.state, r.at
			FROM reservation r JOIN budget b ON b.seq = r.budget WHERE r.action_id = $1 AND r.tenant = $2
			ORDER BY b.name, b.scope, b.currency`, id, tenant)
	})
	return out, err
}
