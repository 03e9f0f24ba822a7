package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// ran runs a call to its end and lets time pass.
func (b *bench) ran(a action.Action, to action.State) action.Action {
	b.Helper()
	row := b.finish(b.begin(a), to)
	b.clock.add(time.Minute)
	return row
}

func (b *bench) earlier(a action.Action, want action.Earlier) {
	b.Helper()
	got, err := b.store.Earlier(b.Context(), a)
	b.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("earlier differs (-want +got):\n%s", diff)
	}
}

func testEarlier(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"a first call has nothing before it, not even itself": func(b *bench) {
			b.earlier(b.ran(b.call(), action.Succeeded), action.Earlier{})
			b.earlier(b.suspend(b.asking(b.callFor("new vendor"), oneAdmin())), action.Earlier{})
		},
		"what took effect on the same targets is counted, whoever asked": func(b *bench) { b.earlierCounts() },
		"what did not take effect is not counted, what is uncertain apart": func(b *bench) {
			a := b.call()
			b.ran(copied(b, a), action.Failed)
			b.finish(b.begin(copied(b, a)), action.Uncertain)
			_, err := b.store.Decide(b.Context(), denied(copied(b, a)))
			b.must(err)
			b.earlier(a, action.Earlier{Uncertain: 1})
		},
		"what was settled later is counted": func(b *bench) {
			a := b.call()
			row := b.settle(b.finish(b.begin(copied(b, a)), action.Uncertain), action.ReconciledSucceeded)
			series := action.Series{Succeeded: 1, Last: row.Result.At, LastID: row.ID}
			b.earlier(a, action.Earlier{Like: series})
		},
		"targets are compared whole, however long": func(b *bench) {
			long, other := b.call(), b.call()
			long.Targets = []snapshot.Target{{Type: "url", ID: strings.Repeat("a", 4000)}}
			other.Targets = []snapshot.Target{{Type: "url", ID: strings.Repeat("a", 4000) + "b"}}
			row := b.ran(copied(b, long), action.Succeeded)
			b.earlier(other, action.Earlier{})
			b.earlier(long, action.Earlier{Like: action.Series{Succeeded: 1, Last: row.Result.At, LastID: row.ID}})
		},
	})
}

// copied is another call with the same targets and other arguments.
func copied(b *bench, a action.Action) action.Action {
	next := b.call()
	next.Targets = a.Targets
	next.Fingerprint = canon.Sum([]byte("print of " + next.ID))
	return next
}

func (b *bench) earlierCounts() {
	a := b.call()
	same := a
	same.ID = b.call().ID
	twin := b.ran(same, action.Succeeded)
	like := b.ran(copied(b, a), action.Succeeded)
	another := copied(b, a)
	another.Principal = "user:somebody"
	last := b.ran(another, action.Succeeded)
	elsewhere := copied(b, a)
	elsewhere.Targets = []snapshot.Target{{Type: "vendor", ID: "somebody else"}}
	b.ran(elsewhere, action.Succeeded)
	otherTool := b.callFor("bank.other")
	otherTool.Targets = a.Targets
	version, err := b.store.SetPolicy(b.Context(), tenant, otherTool.Tool, canon.Sum([]byte("rules")))
	b.must(err)
	otherTool.Decision.PolicyVersion = version
	b.ran(otherTool, action.Succeeded)
	b.earlier(a, action.Earlier{Like: action.Series{Succeeded: 3, Last: last.Result.At, LastID: last.ID},
		Same: action.Series{Succeeded: 1, Last: twin.Result.At, LastID: twin.ID}})
	b.earlier(like, action.Earlier{Like: action.Series{Succeeded: 2, Last: last.Result.At, LastID: last.ID}})
	foreign := a
	foreign.Tenant = other
	b.earlier(foreign, action.Earlier{})
}
