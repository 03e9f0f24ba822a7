package storetest

import (
	"errors"
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
	aims action.State                  // where it leads, or would
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

// onExpire lets the sweeper run after every deadline and lease.
func onExpire(b *bench, row action.Action) error {
	b.clock.add(3 * time.Hour)
	moved, err := b.store.Expire(b.Context(), false)
	b.must(err)
	for _, a := range moved {
		if a.ID == row.ID {
			return nil
		}
	}
	return action.ErrState
}

func verbs() []verb {
	type edges = map[action.State]action.State
	return []verb{
		{"vote approve", onVote(true), edges{action.PendingApproval: action.Approved}, action.Approved},
		{"vote reject", onVote(false), edges{action.PendingApproval: action.Denied}, action.Denied},
		{"dismiss", func(b *bench, row action.Action) error {
			_, err := b.store.Dismiss(b.Context(), row.ID, principal)
			return err
		}, edges{action.PendingApproval: action.Revoked, action.Approved: action.Revoked}, action.Revoked},
		{"revoke", func(b *bench, row action.Action) error {
			_, err := b.store.Revoke(b.Context(), row.ID, opal, "no")
			return err
		}, edges{action.PendingApproval: action.Revoked, action.Approved: action.Revoked, action.Claimed: action.Revoked}, action.Revoked},
		{"claim", func(b *bench, row action.Action) error {
			_, err := b.store.Claim(b.Context(), row.ID, lease)
			return err
		}, edges{action.Approved: action.Claimed}, action.Claimed},
		{"begin", func(b *bench, row action.Action) error {
			row.Fence = max(row.Fence, 1) // a call that holds a claim, or says so
			_, err := b.store.Begin(b.Context(), action.Start{Action: row, Lease: lease})
			return err
		}, edges{action.Claimed: action.Executing}, action.Executing},
		{"resend", func(b *bench, row action.Action) error {
			_, err := b.resend(row, time.Hour, false)
			return err
		}, edges{action.Uncertain: action.Executing}, action.Executing},
		{"deny", func(b *bench, row action.Action) error {
			row.Fence = max(row.Fence, 1)
			row.Decision = action.Decision{Effect: "deny", Code: "target_changed", Reason: "moved"}
			_, err := b.store.Decide(b.Context(), row)
			return err
		}, edges{action.Claimed: action.Denied}, action.Denied},
		{"finish succeeded", onFinish(action.Succeeded),
			edges{action.Executing: action.Succeeded, action.Uncertain: action.ReconciledSucceeded}, action.Succeeded},
		{"finish failed", onFinish(action.Failed), edges{action.Executing: action.Failed}, action.Failed},
		{"finish uncertain", onFinish(action.Uncertain), edges{action.Executing: action.Uncertain}, action.Uncertain},
		{"reconcile succeeded", onReconcile(action.ReconciledSucceeded), edges{action.Uncertain: action.ReconciledSucceeded},
			action.ReconciledSucceeded},
		{"reconcile failed", onReconcile(action.ReconciledFailed), edges{action.Uncertain: action.ReconciledFailed}, action.ReconciledFailed},
		{"expire", onExpire, edges{action.PendingApproval: action.Expired, action.Approved: action.Expired, action.Claimed: action.Expired,
			action.Executing: action.Uncertain}, action.Expired},
	}
}

// freshVerbs make a row. Where a row of that id stands already, in whatever
// state, they make none and change nothing.
func freshVerbs() []verb {
	fresh := func(b *bench, row action.Action) action.Action {
		a := b.call()
		a.ID = row.ID
		return a
	}
	return []verb{
		{"suspend", func(b *bench, row action.Action) error {
			_, err := b.store.Suspend(b.Context(), b.asking(fresh(b, row), oneAdmin()))
			return err
		}, nil, action.PendingApproval},
		{"begin new", func(b *bench, row action.Action) error {
			_, err := b.store.Begin(b.Context(), action.Start{Action: fresh(b, row), Lease: lease})
			return err
		}, nil, action.Executing},
		{"deny new", func(b *bench, row action.Action) error {
			_, err := b.store.Decide(b.Context(), denied(fresh(b, row)))
			return err
		}, nil, action.Denied},
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
			for _, v := range append(verbs(), freshVerbs()...) {
				row := bring(b)
				if row.State != from {
					t.Fatalf("brought to %s, not %s", row.State, from)
				}
				tryVerb(b, v, row)
			}
		})
	}
	t.Run("received", func(t *testing.T) {
		t.Parallel()
		testUnknownID(prepare(t, open))
	})
	t.Run("every edge of the table is known to a verb", testAllEdgesKnown)
	t.Run("every pair is tried", testAllPairsTried)
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
		if !plainRefusal(err) {
			b.Fatalf("%s from %s was not refused, or not for its state: %v", v.name, row.State, err)
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

// plainRefusal reports that a row was in the way, and not the form of what
// the verb was given.
func plainRefusal(err error) bool {
	return errors.Is(err, action.ErrState) || errors.Is(err, action.ErrFence) || errors.Is(err, action.ErrLate)
}
