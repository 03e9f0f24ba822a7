package tables

import (
	"context"

	"github.com/seed-de4804fb/verbatim/action"
)

// Limits shows what runs have taken from limits, for a store that embeds it.
// Taking and settling are each store's own.
type Limits struct{ db DB }

// NewLimits are the limits of a store.
func NewLimits(db DB) Limits { return Limits{db} }

// Budgets lists windows of limits.
func (l Limits) Budgets(ctx context.Context, f action.BudgetFilter) ([]action.Budget, error) {
	var w filter
	w.equal("tenant = $", f.Tenant)
	w.equal("name = $", f.Name)
	w.equal("scope = $", f.Scope)
	if !f.Past {
		now, err := l.db.Now(ctx)
		if err != nil {
			return nil, err
		}
		w.add("ends > $", now)
	}
	sql, args := w.page("ORDER BY ends DESC, name, scope, currency", f.Limit)
	return many(ctx, l.db, func(c Reader) (out []action.Budget, err error) {
		err = c.Query(func(cur Row) error {
			out = append(out, action.Budget{Tenant: cur.Text(), Name: cur.Text(), Window: action.Window(cur.Text()),
				Scope: cur.Text(), Currency: cur.Text(), Start: cur.Time(), End: cur.Time(), Most: cur.Int(),
				Reserved: cur.Int(), Posted: cur.Int()})
			return nil
		}, "SELECT tenant, name, span, scope, currency, starts, ends, most, reserved, posted FROM budget "+sql, args...)
		return out, err
	})
}

// Reservations lists what an action took from limits.
func (l Limits) Reservations(ctx context.Context, tenant, id string) ([]action.Reservation, error) {
	return many(ctx, l.db, func(c Reader) (out []action.Reservation, err error) {
		err = c.Query(func(cur Row) error {
			out = append(out, action.Reservation{Limit: action.Limit{Name: cur.Text(), Window: action.Window(cur.Text()),
				Scope: cur.Text(), Currency: cur.Text(), Most: cur.Int(), Amount: cur.Int()}, Start: cur.Time(),
				State: action.ReservationState(cur.Text()), At: cur.Time()})
			return nil
		}, `SELECT b.name, b.span, b.scope, b.currency, b.most, r.amount, b.starts, r.state, r.at
			FROM reservation r JOIN budget b ON b.seq = r.budget WHERE r.action_id = $1 AND b.tenant = $2
			ORDER BY b.name, b.scope, b.currency`, id, tenant)
		return out, err
	})
}
