package storetest

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// begins tries the commit point and fails unless it ends with want and, where
// that is a refusal, leaves the row as it was.
func (b *bench) begins(a action.Action, want error) {
	b.Helper()
	before := b.row(a.ID)
	_, err := b.start(a)
	b.refused(err, want)
	b.same(before, b.row(a.ID))
}

func testBegin(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"an allowed call begins in one step": func(b *bench) {
			row := b.begin(b.call())
			if row.State != action.Executing || row.Fence != 1 || row.Attempt != 1 || !row.LeaseUntil.Equal(b.clock.read().Add(lease)) {
				b.Fatalf("%s fence %d attempt %d until %s", row.State, row.Fence, row.Attempt, row.LeaseUntil)
			}
			b.same(row, b.row(row.ID))
		},
		"which server an attempt went to is kept, also when it is sent again": func(b *bench) { b.sentTo() },
		"an approved call begins once": func(b *bench) {
			claimed := b.claimed()
			row := b.begin(claimed)
			b.same(row, b.row(row.ID))
			b.begins(claimed, action.ErrState)
		},
		"a stale claim loses": func(b *bench) {
			stale := b.claimed()
			b.clock.add(lease)
			fresh := b.claim(stale)
			if fresh.Fence != stale.Fence+1 {
				b.Fatalf("fence %d after %d", fresh.Fence, stale.Fence)
			}
			b.begins(stale, action.ErrFence)
			b.begin(fresh)
		},
		"a live claim is not taken over": func(b *bench) {
			row := b.claimed()
			b.clock.add(lease - time.Millisecond)
			_, err := b.store.Claim(b.Context(), row.ID, lease)
			b.refused(err, action.ErrState)
		},
		"nothing begins after its deadline": func(b *bench) {
			row := b.claimed()
			b.clock.add(row.Terms.TTL)
			b.begins(row, action.ErrLate)
			late := b.approved()
			b.clock.add(late.Terms.TTL)
			_, err := b.store.Claim(b.Context(), late.ID, lease)
			b.refused(err, action.ErrLate)
		},
		"a clock that steps back revives nothing": func(b *bench) {
			row := b.claimed()
			b.clock.add(row.Terms.TTL)
			b.pending() // the store sees the time
			b.clock.add(-row.Terms.TTL)
			b.begins(row, action.ErrLate)
			now, err := b.store.Now(b.Context())
			b.must(err)
			if now.Before(row.Deadline) {
				b.Fatalf("it is %s again", now)
			}
		},
		"nothing begins after a revoke": func(b *bench) {
			row := b.claimed()
			_, err := b.store.Revoke(b.Context(), row.ID, bob, "wrong payee")
			b.must(err)
			b.begins(row, action.ErrState)
		},
		"B19 nothing begins on a claim that was denied": func(b *bench) {
			row := b.claimed()
			row.Decision = action.Decision{Effect: "deny", Code: "target_changed", Reason: "moved"}
			got, err := b.store.Decide(b.Context(), row)
			b.must(err)
			if got.Decision.Code != "target_changed" {
				b.Fatalf("%+v", got.Decision)
			}
			b.begins(row, action.ErrState)
		},
		"a voter who has left since does not count": func(b *bench) {
			row := b.claimed()
			b.must(b.book.Disable(b.Context(), ann))
			b.begins(row, action.ErrIneligible)
		},
		"policy that has moved voids": func(b *bench) {
			row, fresh := b.claimed(), b.call()
			b.policy("other rules")
			b.begins(row, action.ErrStale)
			_, err := b.start(fresh)
			b.refused(err, action.ErrStale)
			b.policy("rules")
			b.begins(row, action.ErrStale)
		},
		"a tool whose policy nobody has set never begins": func(b *bench) {
			a := b.callFor("bank.close")
			for _, version := range []string{"", b.version} {
				a.Decision.PolicyVersion = version
				_, err := b.start(a)
				b.refused(err, action.ErrStale)
			}
		},
		"A06 B18 only the approved call begins": func(b *bench) {
			for name, change := range map[string]func(*action.Action){
				"definition": func(a *action.Action) { a.Definition = canon.Sum([]byte("other")) },
				"hash":       func(a *action.Action) { a.Hash[0] ^= 1 },
				"arguments":  func(a *action.Action) { a.Payload.Args = `{"to":"mallory"}` },
				"task":       func(a *action.Action) { a.Task = "task-2" },
				"grant":      func(a *action.Action) { a.GrantID = "grant-2" },
				"policy":     func(a *action.Action) { a.Decision.PolicyVersion = "0.1" },
			} {
				row := b.claimed()
				change(&row)
				if _, err := b.start(row); err == nil {
					b.Fatalf("began with another %s", name)
				}
			}
		},
		"an approved call waits while the same call is uncertain": func(b *bench) {
			row := b.claim(b.approve(b.suspend(b.asking(b.keyed(""), oneAdmin())), ann))
			// The same call ran meanwhile for another session and is unclear.
			b.finish(b.begin(b.keyed("")), action.Uncertain)
			_, err := b.start(row)
			b.refused(err, action.ErrUncertain)
		},
	})
}
