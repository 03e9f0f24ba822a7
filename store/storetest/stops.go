package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
)

// freeze turns the switch and fails the test where it is refused.
func (b *bench) freeze(s action.Stop) int {
	b.Helper()
	running, err := b.store.Stop(b.Context(), s)
	b.must(err)
	return running
}

func (b *bench) lift(s action.Stop, by string) error {
	s.By, s.Reason = by, "over"
	return b.store.Resume(b.Context(), s)
}

// starts are the three ways in which something can start.
func (b *bench) starts(claimed action.Action) map[string]error {
	read := b.call()
	read.Mutation = false
	_, asNew := b.start(b.call())
	_, asRead := b.store.Decide(b.Context(), read)
	_, asClaimed := b.start(claimed)
	return map[string]error{"a new call": asNew, "a read": asRead, "an approved call": asClaimed}
}

func testStops(t *testing.T, open Open) {
	covering := map[string]action.Stop{
		"everything": {}, "a tenant": {Tenant: tenant}, "a tool": {Tenant: tenant, Tool: tool},
		"an agent": {Tenant: tenant, Agent: agent}, "a tool of an agent": {Tenant: tenant, Agent: agent, Tool: tool},
	}
	rules := map[string]func(*bench){}
	for name, stop := range covering {
		rules["nothing starts while it is stopped: "+name] = func(b *bench) { b.stopsAll(stop) }
	}
	for name, stop := range map[string]action.Stop{
		"another tenant": {Tenant: other}, "another tool": {Tenant: tenant, Tool: "bank.other"},
		"another agent": {Tenant: tenant, Agent: "other"}, "this tool of another agent": {Tenant: tenant, Agent: "other", Tool: tool},
	} {
		rules["a stop covers only what it names: "+name] = func(b *bench) {
			row := b.claimed()
			stop.By = action.ByHost
			b.freeze(stop)
			for way, err := range b.starts(row) {
				if err != nil {
					b.Errorf("%s: %v", way, err)
				}
			}
		}
	}
	rules["runs under way go on and are counted"] = func(b *bench) {
		row, foreign := b.begin(b.call()), b.call()
		foreign.Agent = "other"
		if n := b.freeze(action.Stop{Tenant: tenant, Agent: agent, By: opal}); n != 1 {
			b.Fatalf("%d runs counted, want 1", n)
		}
		b.finish(row, action.Succeeded)
		if n := b.freeze(action.Stop{Tenant: tenant, By: opal}); n != 0 {
			b.Fatalf("%d runs counted after the end", n)
		}
	}
	rules["stops are listed with who and why, and written down"] = func(b *bench) { b.stopsListed() }
	rules["who may not, may not"] = func(b *bench) { b.stopsGuarded() }
	rules["without operators any account of the tenant lifts"] = func(b *bench) {
		b.must(b.book.AddAccount(b.Context(), auth.Account{ID: "acc_solo", Name: "Solo", Key: "solo", Tenant: "solo", Active: true,
			CreatedAt: b.clock.read()}))
		b.freeze(action.Stop{Tenant: "solo", By: action.ByHost})
		b.must(b.lift(action.Stop{Tenant: "solo"}, "acc_solo"))
	}
	each(t, open, rules)
}

// stopsAll: nothing starts and nothing changes while the stop stands, and
// everything goes on once it is lifted.
func (b *bench) stopsAll(stop action.Stop) {
	row := b.claimed()
	stop.By = action.ByHost
	b.freeze(stop)
	before := b.row(row.ID)
	for way, err := range b.starts(row) {
		b.Helper()
		if err == nil {
			b.Fatalf("%s started", way)
		}
		b.refused(err, action.ErrStopped)
	}
	b.same(before, b.row(row.ID))
	b.must(b.lift(stop, opal))
	for way, err := range b.starts(row) {
		if err != nil {
			b.Errorf("%s after the stop was lifted: %v", way, err)
		}
	}
}

func (b *bench) stopsListed() {
	narrow := action.Stop{Tenant: tenant, Tool: tool, By: ann, Reason: "first"}
	b.freeze(narrow)
	narrow.By, narrow.Reason, narrow.At = bob, "second", b.clock.read()
	b.freeze(narrow)
	wide := action.Stop{By: action.ByHost, Reason: "incident", At: b.clock.read()}
	b.freeze(wide)
	b.freeze(action.Stop{Tenant: other, By: zoe})
	got, err := b.store.Stops(b.Context(), tenant)
	b.must(err)
	if diff := cmp.Diff([]action.Stop{wide, narrow}, got); diff != "" {
		b.Fatalf("stops (-want +got):\n%s", diff)
	}
	b.must(b.lift(narrow, opal))
	records, err := b.store.Records(b.Context(), audit.Filter{Tenant: tenant, Limit: 4})
	b.must(err)
	var lines []string
	for _, r := range records {
		lines = append(lines, r.Event+" "+r.By+" "+r.Tool+" "+r.Facts["stops"])
		if len(r.Commitments["reason"]) != 64 {
			b.Errorf("%s commits to no reason", r.Event)
		}
	}
	want := []string{"resumed acc_opal bank.pay tool", "stopped host  everything", "stopped acc_bob bank.pay tool", "stopped acc_ann bank.pay tool"}
	if diff := cmp.Diff(want, lines); diff != "" {
		b.Fatalf("records, newest first (-want +got):\n%s", diff)
	}
}

func (b *bench) stopsGuarded() {
	for name, s := range map[string]action.Stop{
		"a stranger": {Tenant: tenant, By: "acc_none"}, "another tenant's account": {Tenant: tenant, By: zoe},
	} {
		if _, err := b.store.Stop(b.Context(), s); err == nil {
			b.Errorf("%s froze", name)
		}
	}
	for _, s := range []action.Stop{{Tenant: tenant}, {By: opal, Tool: tool}, {By: opal, Agent: agent}} {
		if _, err := b.store.Stop(b.Context(), s); err == nil {
			b.Errorf("%+v was taken", s)
		}
	}
	s := action.Stop{Tenant: tenant, By: ann}
	b.freeze(s)
	for _, by := range []string{"", "acc_none", action.ByHost, zoe, bob, pat} {
		b.refused(b.lift(s, by), action.ErrIneligible)
	}
	b.refused(b.lift(action.Stop{Tenant: tenant, Tool: tool}, opal), action.ErrNotFound)
	b.must(b.book.Disable(b.Context(), ann))
	b.refused(b.lift(s, ann), action.ErrIneligible)
	b.must(b.lift(s, opal))
	b.refused(b.lift(s, opal), action.ErrNotFound)
	b.freeze(action.Stop{Tenant: tenant, By: bob})
	b.must(b.lift(s, bob)) // whoever froze may lift
}
