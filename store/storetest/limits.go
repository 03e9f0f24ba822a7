package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// daily is a limit of 1000 a day.
func daily(amount int64) action.Limit {
	return action.Limit{Name: "daily", Window: action.Day, Scope: `["principal","user:pat"]`, Currency: "USD", Amount: amount, Most: 1000}
}

// spends begins a new call that takes something from limits.
func (b *bench) spends(limits ...action.Limit) (action.Action, error) {
	return b.store.Begin(b.Context(), action.Start{Action: b.call(), Lease: lease, Limits: limits})
}

func (b *bench) spent(limits ...action.Limit) action.Action {
	b.Helper()
	row, err := b.spends(limits...)
	b.must(err)
	return row
}

// over fails unless a begin is refused for a limit and leaves nothing.
func (b *bench) over(name string, limits ...action.Limit) {
	b.Helper()
	before := b.budgets()
	_, err := b.spends(limits...)
	var limit *action.LimitError
	if !errors.Is(err, action.ErrOverLimit) || !errors.As(err, &limit) || limit.Name != name {
		b.Fatalf("error %v, want the limit %s", err, name)
	}
	if diff := cmp.Diff(before, b.budgets()); diff != "" {
		b.Fatalf("a refusal moved a window (-before +after):\n%s", diff)
	}
}

func (b *bench) budgets() []action.Budget {
	b.Helper()
	out, err := b.store.Budgets(b.Context(), action.BudgetFilter{Tenant: tenant, Past: true, Limit: 1000})
	b.must(err)
	return out
}

// holds fails unless the only window holds this much.
func (b *bench) holds(reserved, posted int64) {
	b.Helper()
	all := b.budgets()
	if len(all) != 1 || all[0].Reserved != reserved || all[0].Posted != posted {
		b.Fatalf("windows %+v, want %d reserved and %d posted", all, reserved, posted)
	}
}

func testLimits(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"a success posts what was reserved": func(b *bench) {
			row := b.spent(daily(400))
			b.holds(400, 0)
			b.finish(row, action.Succeeded)
			b.holds(0, 400)
		},
		"a proved failure gives it back": func(b *bench) {
			b.finish(b.spent(daily(400)), action.Failed)
			b.holds(0, 0)
			b.spent(daily(1000))
		},
		"the tool's word that it failed gives nothing back": func(b *bench) {
			row := b.spent(daily(400))
			e := ending(row, action.Failed)
			e.Result.Evidence = action.EvidenceReported
			_, err := b.store.Finish(b.Context(), e)
			b.must(err)
			b.holds(0, 400)
		},
		"what is uncertain is held, however long it takes": func(b *bench) {
			row := b.finish(b.spent(daily(600)), action.Uncertain)
			b.over("daily", daily(401))
			b.clock.add(10 * time.Hour)
			_, err := b.store.Expire(b.Context(), true)
			b.must(err)
			b.holds(600, 0)
			b.settle(row, action.ReconciledFailed)
			b.holds(0, 0)
		},
		"a run that nobody ended is held": func(b *bench) {
			b.spent(daily(600))
			b.clock.add(lease)
			_, err := b.store.Expire(b.Context(), false)
			b.must(err)
			b.holds(600, 0)
		},
		"an operator's word posts": func(b *bench) {
			b.settle(b.finish(b.spent(daily(600)), action.Uncertain), action.ReconciledSucceeded)
			b.holds(0, 600)
		},
		"a late success posts once": func(b *bench) {
			row := b.spent(daily(600))
			b.finish(row, action.Uncertain)
			b.finish(row, action.Succeeded)
			_, err := b.store.Finish(b.Context(), ending(row, action.Succeeded))
			b.refused(err, action.ErrState)
			b.holds(0, 600)
		},
		"P01 what runs side by side is counted before it ends": func(b *bench) {
			b.finish(b.spent(daily(990)), action.Succeeded)
			errs := together(5, func(int) error { _, err := b.spends(daily(200)); return err })
			if n := b.won(errs, action.ErrOverLimit); n != 0 {
				b.Fatalf("%d runs began beyond the limit", n)
			}
			b.spent(daily(10))
			b.over("daily", daily(1))
		},
		"many at once never pass the limit": func(b *bench) {
			errs := together(32, func(int) error { _, err := b.spends(daily(100)); return err })
			if n := b.won(errs, action.ErrOverLimit); n != 10 {
				b.Fatalf("%d runs of 100 began under a limit of 1000", n)
			}
			b.holds(1000, 0)
		},
		"P02 one limit adds up over tools": func(b *bench) { b.limitOverTools() },
		"all limits of a run fit, or none is touched": func(b *bench) {
			calls := action.Limit{Name: "calls", Window: action.Hour, Scope: "[]", Amount: 1, Most: 1}
			b.spent(calls, daily(100))
			b.over("calls", daily(100), calls)
			fresh := daily(1)
			fresh.Scope = `["principal","user:new"]`
			b.over("calls", fresh, calls) // a window that would be new is not made either
		},
		"each window begins anew": func(b *bench) {
			b.finish(b.spent(daily(1000)), action.Succeeded)
			b.over("daily", daily(1))
			b.clock.add(12 * time.Hour) // midnight, UTC
			b.spent(daily(1000))
			if n := len(b.budgets()); n != 2 {
				b.Fatalf("%d windows", n)
			}
		},
		"a run counts in the window in which it began": func(b *bench) {
			row := b.spent(daily(1000))
			b.clock.add(12 * time.Hour)
			b.finish(row, action.Uncertain)
			b.spent(daily(1000))
			b.settle(row, action.ReconciledFailed)
			b.over("daily", daily(1))
		},
		"principals, currencies and tenants have windows of their own": func(b *bench) {
			b.spent(daily(1000))
			eur, bob := daily(1000), daily(1000)
			eur.Currency, bob.Scope = "EUR", `["principal","user:bob"]`
			b.spent(eur, bob)
			b.over("daily", daily(1))
		},
		"a limit that was lowered lets nothing new start": func(b *bench) { b.limitMoves() },
		"an approved call over the limit stays claimed, and its approval unused": func(b *bench) {
			b.spent(daily(900))
			row := b.claimed()
			_, err := b.store.Begin(b.Context(), action.Start{Action: row, Lease: lease, Limits: []action.Limit{daily(101)}})
			b.refused(err, action.ErrOverLimit)
			b.same(row, b.row(row.ID))
			_, err = b.store.Begin(b.Context(), action.Start{Action: row, Lease: lease, Limits: []action.Limit{daily(100)}})
			b.must(err)
			b.holds(1000, 0)
		},
		"a replay or a lost race reserves nothing": func(b *bench) {
			a := b.keyed("k")
			begin := func() error {
				_, err := b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease, Limits: []action.Limit{daily(100)}})
				return err
			}
			b.must(begin())
			a.ID = b.call().ID
			b.refused(begin(), action.ErrKeyTaken)
			b.holds(100, 0)
		},
		"limits that make no sense are refused": func(b *bench) {
			for _, change := range []func(*action.Limit){
				func(l *action.Limit) { l.Amount = -1 }, func(l *action.Limit) { l.Window = "year" }, func(l *action.Limit) { l.Name = "" },
			} {
				l := daily(1)
				change(&l)
				if _, err := b.spends(l); err == nil || errors.Is(err, action.ErrOverLimit) {
					b.Errorf("%+v: %v", l, err)
				}
			}
		},
		"the record names the limits and only commits to the amounts": func(b *bench) {
			r := b.records(b.spent(daily(400)).ID)[0]
			if r.Event != audit.ActionStarted || r.Facts["limits"] != `["daily"]` || len(r.Commitments["limits"]) != 64 {
				b.Fatalf("record %+v", r)
			}
		},
	})
}

func (b *bench) limitOverTools() {
	shared := action.Limit{Name: "budget", Window: action.Month, Scope: "[]", Currency: "USD", Amount: 60_000, Most: 100_000}
	for i, name := range []string{"pay_card", "pay_wire"} {
		version, err := b.store.SetPolicy(b.Context(), tenant, name, b.call().Definition)
		b.must(err)
		a := b.callFor(name)
		a.Decision.PolicyVersion = version
		_, err = b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease, Limits: []action.Limit{shared}})
		if i == 0 {
			b.must(err)
		} else {
			b.refused(err, action.ErrOverLimit)
		}
	}
}

func (b *bench) limitMoves() {
	b.finish(b.spent(daily(500)), action.Succeeded)
	held := b.spent(daily(300))
	lower, higher := daily(0), daily(900)
	lower.Most, higher.Most = 700, 2000
	b.over("daily", lower)
	b.finish(held, action.Uncertain) // what runs already ends as it would
	b.holds(300, 500)
	row := b.spent(higher)
	b.finish(held, action.Succeeded)
	b.finish(row, action.Failed)
	b.holds(0, 800)
	b.over("daily", lower)
	b.spent(daily(200))
}
