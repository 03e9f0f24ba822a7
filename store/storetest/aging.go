package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	rules "github.com/seed-de4804fb/verbatim/store/verbs"
)

// aDay is the least retention.
const aDay = action.MinRetention

func (b *bench) forgetPayloads(keep action.Retention) action.Forgotten {
	b.Helper()
	f, err := b.store.ForgetPayloads(b.Context(), keep)
	b.must(err)
	return f
}

// erased fails unless exactly these of all rows have lost their payload.
func (b *bench) erased(all []action.Action, want ...string) {
	b.Helper()
	for _, a := range all {
		got := b.row(a.ID)
		gone := slices.Contains(want, a.ID)
		if gone != !got.ErasedAt.IsZero() || gone != (got.Payload.Args == "") || gone != (len(got.Payload.Raw) == 0) {
			b.Errorf("%s: erased at %v, arguments of %d bytes, want erased: %v", a.ID, got.ErasedAt, len(got.Payload.Args), gone)
		}
		for _, e := range b.entries(a.ID) {
			if gone == (e.Salt != nil) {
				b.Errorf("%s: salt of %d bytes, want erased: %v", a.ID, len(e.Salt), gone)
			}
		}
	}
}

func testAging(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"each class goes when its own time is over, by whole days": func(b *bench) {
			one := b.finish(b.begin(b.call()), action.Succeeded)
			high := b.finish(b.begin(b.claimed()), action.Succeeded)
			all := []action.Action{one, high}
			keep := action.Retention{action.ClassMutation: aDay, action.ClassHighImpact: 3 * aDay}
			b.clock.add(aDay)
			f := b.forgetPayloads(keep) // noon: the day of the call is still kept
			b.erased(all)
			if f.Actions != 0 || !f.Before[action.ClassMutation].Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) {
				b.Errorf("%+v", f)
			}
			b.clock.add(12 * time.Hour)
			if f = b.forgetPayloads(keep); f.Actions != 1 || !f.Before[action.ClassMutation].Equal(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)) {
				b.Errorf("%+v", f)
			}
			b.erased(all, one.ID)
			b.clock.add(2 * aDay)
			b.forgetPayloads(keep)
			b.erased(all, one.ID, high.ID)
			b.sequence()
			if r, err := audit.Verify(b.Context(), b.store, b.trust()); err != nil || r.Waiting != 0 {
				b.Errorf("the log: %+v, %v", r, err)
			}
		},
		"a class without a time is kept": func(b *bench) {
			one := b.finish(b.begin(b.call()), action.Succeeded)
			high := b.finish(b.begin(b.claimed()), action.Succeeded)
			b.clock.add(4000 * aDay)
			f := b.forgetPayloads(action.Retention{action.ClassMutation: aDay})
			b.erased([]action.Action{one, high}, one.ID)
			if _, ok := f.Before[action.ClassHighImpact]; ok || f.Old {
				b.Errorf("%+v", f)
			}
			if f = b.forgetPayloads(nil); len(f.Before) > 0 {
				b.Errorf("without any time: %+v", f)
			}
		},
		"what has not ended is held, and goes once it has": func(b *bench) {
			uncertain := b.finish(b.begin(b.claimed()), action.Uncertain)
			high := b.row(uncertain.ID).Class()
			b.clock.add(3 * aDay)
			keep := action.Retention{high: aDay}
			held := func(want ...string) {
				b.Helper()
				f := b.forgetPayloads(keep)
				var got []string
				for _, h := range f.Held {
					if h.Class != 0 {
						got = append(got, h.ID)
						if h.Tenant != tenant || h.Class != high || !h.CreatedAt.Equal(b.row(h.ID).CreatedAt) {
							b.Errorf("%+v", h)
						}
					}
				}
				if !slices.Equal(got, want) {
					b.Errorf("held %v, want %v", got, want)
				}
			}
			held(uncertain.ID)
			b.erased([]action.Action{uncertain})
			held(uncertain.ID) // again
			b.settle(uncertain, action.ReconciledFailed)
			held()
			b.erased([]action.Action{uncertain}, uncertain.ID)
			held()
		},
		"one record tells of many, and none where nothing was forgotten": func(b *bench) {
			for range 3 {
				b.finish(b.begin(b.call()), action.Succeeded)
			}
			gone := b.finish(b.begin(b.call()), action.Succeeded)
			_, err := b.erase(gone.ID, opal)
			b.must(err)
			b.clock.add(2 * aDay)
			keep := action.Retention{action.ClassMutation: aDay}
			if f := b.forgetPayloads(keep); f.Actions != 3 {
				b.Errorf("%+v", f)
			}
			b.forgetPayloads(keep)
			b.clock.add(aDay)
			b.forgetPayloads(keep)
			got, err := b.store.Records(b.Context(), audit.Filter{Tenant: tenant, Event: audit.PayloadsForgotten})
			b.must(err)
			if len(got) != 1 || got[0].Facts["class"] != "mutations" || got[0].Facts["actions"] != "3" || got[0].Facts["before"] != "2026-03-02" {
				b.Errorf("%+v", got)
			}
		},
		"more than one transaction's worth goes in one call": func(b *bench) {
			n := rules.MaxForgottenActions + 7
			var first action.Action
			for i := range n {
				row, err := b.store.Decide(b.Context(), denied(b.call()))
				b.must(err)
				if i == 0 {
					first = row
				}
			}
			b.clock.add(2 * aDay)
			if f := b.forgetPayloads(action.Retention{first.Class(): aDay}); f.Actions != n {
				b.Errorf("%d of %d", f.Actions, n)
			}
			b.erased([]action.Action{first}, first.ID)
		},
		"the salts of reads go with the class of reads": func(b *bench) {
			read := b.call()
			read.Mutation, read.HighImpact, read.Decision.Effect = false, false, "allow"
			out, err := b.store.Decide(b.Context(), read)
			b.must(err)
			b.must(b.store.RejectInput(b.Context(), action.Rejection{Tenant: tenant, Principal: principal, Agent: agent, Tool: tool, Stage: "json", Code: "invalid_arguments", Size: 1}))
			salted := func() (n int) {
				entries, err := b.store.Entries(b.Context(), audit.Selection{Most: 100})
				b.must(err)
				for _, e := range entries {
					r, err := audit.ParseLeaf(e.Leaf)
					b.must(err)
					if slices.Contains(rules.WithoutRow(), r.Event) && e.Salt != nil {
						n++
					}
				}
				return n
			}
			b.sequence()
			if n := salted(); n != 2 {
				b.Fatalf("%d salts, want 2 (action %s)", n, out.ID)
			}
			b.clock.add(2 * aDay)
			f := b.forgetPayloads(action.Retention{action.ClassMutation: aDay})
			if n := salted(); n != 2 || f.Records != 0 {
				b.Errorf("%d salts are left of 2 that are kept: %+v", n, f)
			}
			f = b.forgetPayloads(action.Retention{action.ClassRead: aDay})
			if n := salted(); n != 0 || f.Records != 2 {
				b.Errorf("%d salts are left: %+v", n, f)
			}
		},
		"a time that is too short or of no class is refused": func(b *bench) {
			for _, keep := range []action.Retention{{action.ClassRead: aDay - 1}, {0: 100 * aDay}, {9: 100 * aDay}} {
				if _, err := b.store.ForgetPayloads(b.Context(), keep); !errors.Is(err, rules.ErrInvalid) {
					b.Errorf("%v: %v", keep, err)
				}
			}
		},
		"what was sealed before there were days goes when all are past it": func(b *bench) {
			b.clock.add(20 * 365 * aDay) // the tables were made by the real clock
			keep := action.Retention{action.ClassRead: aDay, action.ClassMutation: aDay, action.ClassHighImpact: 30 * 365 * aDay}
			if f := b.forgetPayloads(keep); f.Old {
				b.Errorf("%+v", f)
			}
			keep[action.ClassHighImpact] = aDay
			if f := b.forgetPayloads(keep); !f.Old {
				b.Errorf("%+v", f)
			}
		},
	})
}
