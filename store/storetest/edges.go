package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// verb is one way to leave a state.
type verb struct {
	name string
	run  func(*bench, action.Action) error
	to   map[action.State]action.State // where it leads, by where it may start
}

func onVote(approve bool) func(*bench, action.Action) error {
	return func(b *bench, row action.Action) error {
		_, err := b.store.Vote(b.Context(), vote(row, bob, approve))
		return err
	}
}

func onFinish(state action.State) func(*bench, action.Action) error {
	return func(b *bench, row action.Action) error {
		_, err := b.store.Finish(b.Context(), ending(row, state))
		return err
	}
}

func onReconcile(state action.State) func(*bench, action.Action) error {
	return func(b *bench, row action.Action) error {
		_, err := b.store.Reconcile(b.Context(), action.Reconciliation{ID: row.ID, State: state, By: opal, Evidence: "seen"})
		return err
	}
}

func verbs() []verb {
	type edges = map[action.State]action.State
	return []verb{
		{"vote approve", onVote(true), edges{action.PendingApproval: action.Approved}},
		{"vote reject", onVote(false), edges{action.PendingApproval: action.Denied}},
		{"dismiss", func(b *bench, row action.Action) error {
			_, err := b.store.Dismiss(b.Context(), row.ID, principal)
			return err
		}, edges{action.PendingApproval: action.Revoked, action.Approved: action.Revoked}},
		{"revoke", func(b *bench, row action.Action) error {
			_, err := b.store.Revoke(b.Context(), row.ID, opal, "no")
			return err
		}, edges{action.PendingApproval: action.Revoked, action.Approved: action.Revoked, action.Claimed: action.Revoked}},
		{"claim", func(b *bench, row action.Action) error {
			_, err := b.store.Claim(b.Context(), row.ID, lease)
			return err
		}, edges{action.Approved: action.Claimed}},
		{"begin", func(b *bench, row action.Action) error {
			row.Fence = max(row.Fence, 1) // a call that holds a claim, or says so
			_, err := b.store.Begin(b.Context(), action.Start{Action: row, Lease: lease})
			return err
		}, edges{action.Claimed: action.Executing}},
		{"resend", func(b *bench, row action.Action) error {
			_, err := b.resend(row, time.Hour, false)
			return err
		}, edges{action.Uncertain: action.Executing}},
		{"deny", func(b *bench, row action.Action) error {
			row.Fence = max(row.Fence, 1)
			row.Decision = action.Decision{Effect: "deny", Code: "target_changed", Reason: "moved"}
			_, err := b.store.Decide(b.Context(), row)
			return err
		}, edges{action.Claimed: action.Denied}},
		{"finish succeeded", onFinish(action.Succeeded),
			edges{action.Executing: action.Succeeded, action.Uncertain: action.ReconciledSucceeded}},
		{"finish failed", onFinish(action.Failed), edges{action.Executing: action.Failed}},
		{"finish uncertain", onFinish(action.Uncertain), edges{action.Executing: action.Uncertain}},
		{"reconcile succeeded", onReconcile(action.ReconciledSucceeded), edges{action.Uncertain: action.ReconciledSucceeded}},
		{"reconcile failed", onReconcile(action.ReconciledFailed), edges{action.Uncertain: action.ReconciledFailed}},
	}
}

// states brings a fresh row into each state that a store can hold.
func states() map[action.State]func(*bench) action.Action {
	executing := func(b *bench) action.Action { return b.begin(b.claimed()) }
	uncertain := func(b *bench) action.Action { return b.finish(executing(b), action.Uncertain) }
	return map[action.State]func(*bench) action.Action{
		action.PendingApproval: (*bench).pending,
		action.Approved:        (*bench).approved,
		action.Claimed:         (*bench).claimed,
		action.Executing:       executing,
		action.Uncertain:       uncertain,
		action.Succeeded:       func(b *bench) action.Action { return b.finish(executing(b), action.Succeeded) },
		action.Failed:          func(b *bench) action.Action { return b.finish(executing(b), action.Failed) },
		action.ReconciledSucceeded: func(b *bench) action.Action {
			return b.settle(uncertain(b), action.ReconciledSucceeded)
		},
		action.ReconciledFailed: func(b *bench) action.Action { return b.settle(uncertain(b), action.ReconciledFailed) },
		action.Denied: func(b *bench) action.Action {
			row, err := b.store.Vote(b.Context(), vote(b.pending(), ann, false))
			b.must(err)
			return row
		},
		action.Revoked: func(b *bench) action.Action {
			row, err := b.store.Dismiss(b.Context(), b.pending().ID, principal)
			b.must(err)
			return row
		},
		action.Expired: func(b *bench) action.Action {
			row := b.pending()
			b.clock.add(time.Hour)
			_, err := b.store.Expire(b.Context(), false)
			b.must(err)
			return b.row(row.ID)
		},
	}
}

// testEdges tries every verb in every state: exactly the edges of the table
// move a row and write a record, everything else changes nothing.
func testEdges(t *testing.T, open Open) {
	for from, bring := range states() {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			b := prepare(t, open)
			for _, v := range verbs() {
				row := bring(b)
				if row.State != from {
					t.Fatalf("brought to %s, not %s", row.State, from)
				}
				tryVerb(b, v, row)
			}
		})
	}
	t.Run("every edge of the table is known to a verb", testAllEdgesKnown)
	t.Run("terminal rows stay when time passes", func(t *testing.T) {
		t.Parallel()
		testTerminalStays(prepare(t, open))
	})
}

func tryVerb(b *bench, v verb, row action.Action) {
	b.Helper()
	before, records := b.row(row.ID), b.events(row.ID)
	to, allowed := v.to[row.State]
	err := v.run(b, row)
	after, now := b.row(row.ID), b.events(row.ID)
	if !allowed {
		if err == nil {
			b.Fatalf("%s from %s was not refused", v.name, row.State)
		}
		b.same(before, after)
		if !slices.Equal(records, now) {
			b.Fatalf("%s from %s was refused but recorded: %v", v.name, row.State, now)
		}
		return
	}
	b.must(err)
	if !action.CanMove(row.State, to) {
		b.Fatalf("the table has no edge %s to %s", row.State, to)
	}
	if after.State != to {
		b.Fatalf("%s from %s led to %s, want %s", v.name, row.State, after.State, to)
	}
	if len(now) <= len(records) {
		b.Fatalf("%s from %s wrote no record", v.name, row.State)
	}
}

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
		{action.PendingApproval, action.Expired}:         true, // the sweeper
		{action.Approved, action.Expired}:                true,
		{action.Claimed, action.Expired}:                 true,
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
