package storetest

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// pair is an edge, or what might be one.
type pair [2]action.State

// unusedEdges are in the table and no verb takes them.
func unusedEdges() map[pair]bool {
	return map[pair]bool{
		{action.Received, action.Approved}:  true, // allowed calls start at once
		{action.Approved, action.Executing}: true, // only through a claim
		{action.Approved, action.Denied}:    true, // only through a claim
	}
}

// testAllEdgesKnown: of all 13 x 13 pairs, the verbs and the sweeper reach
// all that the table allows but those named here.
func testAllEdgesKnown(t *testing.T) {
	t.Parallel()
	reached := map[pair]bool{
		{action.PendingApproval, action.PendingApproval}: true, // a vote that does not decide
		{action.Claimed, action.Claimed}:                 true, // a takeover
		{action.Received, action.Denied}:                 true, // new rows
		{action.Received, action.PendingApproval}:        true,
		{action.Received, action.Executing}:              true,
	}
	for _, v := range verbs() {
		for from, to := range v.to {
			reached[pair{from, to}] = true
		}
	}
	unused := unusedEdges()
	for _, from := range action.States() {
		for _, to := range action.States() {
			p := pair{from, to}
			if want := reached[p] || unused[p]; action.CanMove(from, to) != want {
				t.Errorf("%s to %s: table says %t, verbs say %t", from, to, !want, want)
			}
		}
	}
}

func testTerminalStays(b *bench) {
	var rows []action.Action
	for state, bring := range states() {
		if state.Terminal() {
			rows = append(rows, bring(b))
		}
	}
	b.clock.add(100 * time.Hour)
	_, err := b.store.Expire(b.Context(), true)
	b.must(err)
	for _, row := range rows {
		if got := b.row(row.ID); got.State != row.State {
			b.Errorf("%s became %s", row.State, got.State)
		}
	}
}

// testUnknownID: a row that is received is not stored yet, so every verb that
// moves a row knows none.
func testUnknownID(b *bench) {
	for _, v := range verbs() {
		a := b.asking(b.call(), oneAdmin())
		a.Fence, a.Attempt = 1, 1
		if err := v.run(b, a); v.aims != action.Expired {
			b.refused(err, action.ErrNotFound)
		}
		_, err := b.store.Action(b.Context(), tenant, a.ID)
		b.refused(err, action.ErrNotFound)
		if got := b.events(a.ID); len(got) != 0 {
			b.Fatalf("%s of nothing was recorded: %v", v.name, got)
		}
	}
}

// testAllPairsTried: for each state, and for what is not stored yet, some verb
// was run that would have led to each stored state. Nothing leads to received.
func testAllPairsTried(t *testing.T) {
	t.Parallel()
	tried := map[pair]bool{}
	for from := range states() {
		for _, v := range append(verbs(), freshVerbs()...) {
			tried[pair{from, v.aims}] = true
		}
	}
	for _, v := range append(verbs(), freshVerbs()...) {
		tried[pair{action.Received, v.aims}] = true
	}
	for _, from := range action.States() {
		for _, to := range action.States() {
			switch {
			case to == action.Received && action.CanMove(from, to):
				t.Errorf("the table has an edge from %s back to %s", from, to)
			case to != action.Received && !tried[pair{from, to}]:
				t.Errorf("no verb tried %s to %s", from, to)
			}
		}
	}
}
