package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

const month = action.MinKeyRetention

func (b *bench) forgets(want int) {
	b.Helper()
	n, err := b.store.ForgetKeys(b.Context(), month)
	b.must(err)
	if n != want {
		b.Fatalf("%d keys forgotten, want %d", n, want)
	}
}

func testForgetting(t *testing.T, open Open) {
	rules := map[string]func(*bench){
		"a key is kept for its retention after the end": func(b *bench) {
			row := b.begin(b.keyed("k"))
			b.clock.add(2 * lease)
			b.finish(row, action.Succeeded)
			b.clock.add(month)
			b.forgets(0)
			_, err := b.start(b.keyed("k"))
			b.refused(err, action.ErrKeyTaken)
			b.clock.add(time.Second)
			b.forgets(1)
			_, err = b.store.ByKey(b.Context(), tenant, principal, "k")
			b.refused(err, action.ErrNotFound)
			if got := b.row(row.ID); got.Key != "k" || got.State != action.Succeeded { // the action itself is kept
				b.Fatalf("the action is %s, its key %q", got.State, got.Key)
			}
			b.begin(b.keyed("k")) // to the store it is new now
		},
		"a retention below the least is refused": func(b *bench) {
			if _, err := b.store.ForgetKeys(b.Context(), month-time.Second); err == nil {
				b.Fatal("it was taken")
			}
		},
		"what was forgotten is in the record, nothing else is": func(b *bench) {
			b.forgets(0)
			b.finish(b.begin(b.keyed("k")), action.Succeeded)
			b.finish(b.begin(b.call()), action.Succeeded)
			b.clock.add(month + time.Second)
			b.forgets(1)
			b.forgets(0)
			got, err := b.store.Records(b.Context(), audit.Filter{Tenant: tenant, Event: audit.KeysForgotten})
			b.must(err)
			if len(got) != 1 || got[0].Facts["number"] != "1" || got[0].Facts["retention"] != month.String() {
				b.Fatalf("records %+v", got)
			}
		},
		"a key that was taken over counts from its last action": func(b *bench) {
			b.finish(b.begin(b.keyed("k")), action.Failed)
			b.clock.add(month)
			b.finish(b.begin(b.keyed("k")), action.Succeeded)
			b.clock.add(time.Second)
			b.forgets(0)
		},
	}
	for state, bring := range keyStates() {
		if !state.Terminal() {
			rules["the key of an action that is "+string(state)+" is never forgotten"] = func(b *bench) {
				bring(b)
				b.clock.add(12 * month)
				b.forgets(0)
				if _, err := b.store.ByKey(b.Context(), tenant, principal, "k"); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	rules["open actions are counted by state and age"] = func(b *bench) {
		b.finish(b.begin(b.call()), action.Succeeded)
		b.finish(b.begin(b.call()), action.Uncertain)
		first := b.clock.read()
		b.pending()
		b.clock.add(time.Minute)
		b.pending()
		b.finish(b.begin(b.call()), action.Uncertain)
		b.begin(b.call())
		got, err := b.store.Counts(b.Context(), tenant)
		b.must(err)
		want := []action.Count{{State: action.PendingApproval, Number: 2, Oldest: first}, {State: action.Executing, Number: 1, Oldest: b.clock.read()},
			{State: action.Uncertain, Number: 2, Oldest: first}}
		if diff := cmp.Diff(want, got); diff != "" {
			b.Fatal(diff)
		}
		if got, err := b.store.Counts(b.Context(), other); err != nil || len(got) != 0 {
			b.Fatalf("another tenant has %v, %v", got, err)
		}
	}
	each(t, open, rules)
}
