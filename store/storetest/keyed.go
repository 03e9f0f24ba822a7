package storetest

import (
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
)

// keyed is a call with an idempotency key and arguments that are always the
// same.
func (b *bench) keyed(key string) action.Action {
	a := b.callWith("same")
	a.Key = key
	return a
}

func (b *bench) start(a action.Action) (action.Action, error) {
	return b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease})
}

func testKeys(t *testing.T, open Open) {
	for from, bring := range keyStates() {
		t.Run("a key taken by a row that is "+string(from), func(t *testing.T) {
			t.Parallel()
			testTaken(prepare(t, open), from, bring)
		})
	}
	each(t, open, map[string]func(*bench){
		"J01 J09 another request under a key gets the row of the first": func(b *bench) {
			row := b.finish(b.begin(b.keyed("k")), action.Failed)
			amended := b.callWith("someone else")
			amended.Key = "k"
			got, err := b.start(amended)
			b.refused(err, action.ErrKeyTaken)
			b.same(row, got)
		},
		"a key belongs to one principal of one tenant": func(b *bench) {
			b.begin(b.keyed("k"))
			theirs := b.keyed("k")
			theirs.Principal = "user:bob"
			b.begin(theirs)
			if _, err := b.store.ByKey(b.Context(), other, principal, "k"); err == nil {
				b.Fatal("another tenant sees the key")
			}
		},
		"a key never authorizes a first call": func(b *bench) {
			a := b.asking(b.keyed("k"), oneAdmin())
			_, err := b.start(a)
			if err == nil {
				b.Fatal("began")
			}
			_, err = b.store.ByKey(b.Context(), tenant, principal, "k")
			b.refused(err, action.ErrNotFound)
		},
		"D07 an uncertain call blocks its fingerprint under a new key and without one": func(b *bench) {
			row := b.finish(b.begin(b.keyed("k")), action.Uncertain)
			for _, key := range []string{"", "fresh"} {
				got, err := b.start(b.keyed(key))
				b.refused(err, action.ErrUncertain)
				b.same(row, got)
				got, err = b.store.Suspend(b.Context(), b.asking(b.keyed(key), oneAdmin()))
				b.refused(err, action.ErrUncertain)
				b.same(row, got)
			}
		},
		"an uncertain call lets one that supersedes it go on": func(b *bench) {
			first := b.finish(b.begin(b.keyed("")), action.Uncertain)
			a := b.keyed("")
			a.Supersedes = first.ID
			second := b.finish(b.begin(a), action.Uncertain)
			again := b.keyed("")
			again.Supersedes = first.ID
			got, err := b.start(again)
			b.refused(err, action.ErrUncertain)
			b.same(second, got)
			again.Supersedes = second.ID
			b.begin(again)
		},
		"an uncertain call does not block other arguments": func(b *bench) {
			b.finish(b.begin(b.keyed("")), action.Uncertain)
			b.begin(b.callWith("other"))
		},
	})
}

// keyStates brings a keyed row into the states that it can have.
func keyStates() map[action.State]func(*bench) action.Action {
	executing := func(b *bench) action.Action { return b.begin(b.keyed("k")) }
	uncertain := func(b *bench) action.Action { return b.finish(executing(b), action.Uncertain) }
	pending := func(b *bench) action.Action { return b.suspend(b.asking(b.keyed("k"), oneAdmin())) }
	return map[action.State]func(*bench) action.Action{
		action.PendingApproval: pending,
		action.Approved:        func(b *bench) action.Action { return b.approve(pending(b), ann) },
		action.Executing:       executing,
		action.Uncertain:       uncertain,
		action.Succeeded:       func(b *bench) action.Action { return b.finish(executing(b), action.Succeeded) },
		action.Failed:          func(b *bench) action.Action { return b.finish(executing(b), action.Failed) },
		action.ReconciledFailed: func(b *bench) action.Action {
			return b.settle(uncertain(b), action.ReconciledFailed)
		},
		action.ReconciledSucceeded: func(b *bench) action.Action {
			return b.settle(uncertain(b), action.ReconciledSucceeded)
		},
		action.Denied: func(b *bench) action.Action {
			row, err := b.store.Decide(b.Context(), denied(b.keyed("k")))
			b.must(err)
			return row
		},
		action.Revoked: func(b *bench) action.Action {
			row, err := b.store.Dismiss(b.Context(), pending(b).ID, principal)
			b.must(err)
			return row
		},
	}
}

// testTaken: only a row known to have had no effect gives its key to the same
// request; every other row comes back instead.
func testTaken(b *bench, from action.State, bring func(*bench) action.Action) {
	row := bring(b)
	if row.State != from {
		b.Fatalf("brought to %s, not %s", row.State, from)
	}
	got, err := b.start(b.keyed("k"))
	holder, byKey := b.store.ByKey(b.Context(), tenant, principal, "k")
	b.must(byKey)
	if from == action.Failed || from == action.ReconciledFailed {
		b.must(err)
		b.same(got, holder)
		b.same(row, b.row(row.ID))
		return
	}
	b.refused(err, action.ErrKeyTaken)
	b.same(row, got)
	b.same(row, holder)
}
