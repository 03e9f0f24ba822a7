package storetest

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

func testEndings(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"a result reads back byte for byte": func(b *bench) {
			row := b.finish(b.begin(b.call()), action.Succeeded)
			if string(row.Result.Output) != `{"done":true}` || !row.Result.At.Equal(b.clock.read()) || row.Result.Comparison != "equal" {
				b.Fatalf("%+v", row.Result)
			}
			b.same(row, b.row(row.ID))
		},
		"only the holder of the fence ends a run": func(b *bench) {
			row := b.begin(b.call())
			e := ending(row, action.Succeeded)
			e.Fence++
			_, err := b.store.Finish(b.Context(), e)
			b.refused(err, action.ErrFence)
			b.same(row, b.row(row.ID))
		},
		"a failure needs proof or the tool's word": func(b *bench) {
			row := b.begin(b.call())
			e := ending(row, action.Failed)
			e.Result.Evidence = ""
			if _, err := b.store.Finish(b.Context(), e); err == nil {
				b.Fatal("failed on a guess")
			}
			b.same(row, b.row(row.ID))
		},
		"D12 a run that says nothing becomes uncertain": func(b *bench) {
			row := b.begin(b.call())
			b.clock.add(lease)
			moved, err := b.store.Expire(b.Context(), false)
			b.must(err)
			if len(moved) != 1 || moved[0].ID != row.ID || moved[0].State != action.Uncertain {
				b.Fatalf("moved %+v", moved)
			}
			b.same(moved[0], b.row(row.ID))
		},
		"a late success of the same attempt settles": func(b *bench) {
			row := b.begin(b.call())
			b.clock.add(lease)
			_, err := b.store.Expire(b.Context(), false)
			b.must(err)
			got := b.finish(row, action.Succeeded)
			if got.State != action.ReconciledSucceeded || string(got.Result.Output) != `{"done":true}` {
				b.Fatalf("%s %+v", got.State, got.Result)
			}
			b.same(got, b.row(row.ID))
		},
		"a late failure proves nothing": func(b *bench) {
			row := b.begin(b.call())
			b.finish(row, action.Uncertain)
			_, err := b.store.Finish(b.Context(), ending(row, action.Failed))
			b.refused(err, action.ErrState)
		},
		"an unclear ending keeps what the tool said": func(b *bench) {
			row := b.begin(b.call())
			e := ending(row, action.Uncertain)
			e.Result.Output, e.Result.IsError = []byte("boom"), true
			_, err := b.store.Finish(b.Context(), e)
			b.must(err)
			if got := b.settle(row, action.ReconciledFailed); string(got.Result.Output) != "boom" || !got.Result.IsError {
				b.Fatalf("%+v", got.Result)
			}
			if got := b.row(row.ID); string(got.Result.Output) != "boom" || got.Result.Detail != "looked it up" {
				b.Fatalf("%+v", got.Result)
			}
		},
		"a person settles with a reason, a second one where the impact is high": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Uncertain)
			for by, want := range map[string]error{pat: action.ErrIneligible, fay: action.ErrIneligible, zoe: action.ErrNotFound,
				"acc_none": action.ErrIneligible} {
				_, err := b.store.Reconcile(b.Context(), action.Reconciliation{ID: row.ID, State: action.ReconciledFailed, By: by,
					Evidence: "I know"})
				b.refused(err, want)
			}
			if _, err := b.store.Reconcile(b.Context(), action.Reconciliation{ID: row.ID, State: action.ReconciledFailed, By: opal}); err == nil {
				b.Fatal("settled without a reason")
			}
			b.same(row, b.row(row.ID))
			b.settle(row, action.ReconciledFailed)
		},
		"who withdraws must have the right": func(b *bench) {
			row := b.pending()
			_, err := b.store.Dismiss(b.Context(), row.ID, "user:bob")
			b.refused(err, action.ErrNotFound)
			for by, want := range map[string]error{pat: action.ErrIneligible, fay: action.ErrIneligible, zoe: action.ErrNotFound} {
				_, err := b.store.Revoke(b.Context(), row.ID, by, "no")
				b.refused(err, want)
			}
			b.same(row, b.row(row.ID))
		},
		"too late to withdraw what runs": func(b *bench) {
			row := b.begin(b.claimed())
			_, err := b.store.Revoke(b.Context(), row.ID, opal, "no")
			b.refused(err, action.ErrState)
			b.same(row, b.row(row.ID))
		},
		"a caller who leaves is noted": func(b *bench) {
			row := b.begin(b.call())
			b.must(b.store.Leave(b.Context(), row.ID))
			b.must(b.store.Leave(b.Context(), row.ID))
			if !b.row(row.ID).CallerGone {
				b.Fatal("not noted")
			}
			b.history(row.ID, audit.ActionStarted, audit.CallerLeft)
			b.refused(b.store.Leave(b.Context(), "act_none"), action.ErrNotFound)
		},
	})
}

func testExpiry(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"each clock ends its own state": func(b *bench) {
			pending, approved, claimed := b.pending(), b.approved(), b.claimed()
			b.clock.add(10 * time.Minute)
			moved, err := b.store.Expire(b.Context(), false)
			b.must(err)
			if len(moved) != 2 || moved[0].ID != approved.ID || moved[1].ID != claimed.ID {
				b.Fatalf("moved %+v", moved)
			}
			b.clock.add(50 * time.Minute)
			moved, err = b.store.Expire(b.Context(), false)
			b.must(err)
			if len(moved) != 1 || moved[0].ID != pending.ID || moved[0].State != action.Expired || moved[0].Result.Code != "expired" {
				b.Fatalf("moved %+v", moved)
			}
			b.history(pending.ID, audit.ActionSuspended, audit.ActionExpired)
		},
		"nothing moves before its time": func(b *bench) {
			b.pending()
			b.approved()
			b.begin(b.call())
			b.clock.add(lease - time.Millisecond)
			moved, err := b.store.Expire(b.Context(), false)
			b.must(err)
			if len(moved) != 0 {
				b.Fatalf("moved %+v", moved)
			}
		},
		"what this process runs is no orphan": func(b *bench) {
			row := b.begin(b.call())
			moved, err := b.store.Expire(b.Context(), true)
			b.must(err)
			if len(moved) != 0 {
				b.Fatalf("moved %+v", moved)
			}
			b.same(row, b.row(row.ID))
		},
	})
}
