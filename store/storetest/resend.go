package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// resend asks for the attempt of a row once more.
func (b *bench) resend(row action.Action, retention time.Duration, alone bool) (action.Action, error) {
	return b.store.Begin(b.Context(), action.Start{Action: row, Lease: lease,
		Resend: &action.Resend{Retention: retention, Alone: alone}})
}

// stays tries to send a row again and fails unless that is refused with want
// and leaves the row as it was.
func (b *bench) stays(row action.Action, alone bool, want error) {
	b.Helper()
	before := b.row(row.ID)
	_, err := b.resend(row, time.Hour, alone)
	b.refused(err, want)
	b.same(before, b.row(row.ID))
}

func (b *bench) lost() action.Action { return b.finish(b.begin(b.call()), action.Uncertain) }

func testResend(t *testing.T, open Open) {
	each(t, open, resendAnswers())
	each(t, open, resendAuthority())
}

func resendAnswers() map[string]func(*bench) {
	return map[string]func(*bench){
		"the attempt stays, the fence rises": func(b *bench) {
			old := b.lost()
			row, err := b.resend(old, time.Hour, false)
			b.must(err)
			if row.State != action.Executing || row.Attempt != old.Attempt || row.Fence != old.Fence+1 || !row.CallerGone ||
				row.Result != nil || !row.LeaseUntil.Equal(b.clock.read().Add(lease)) {
				b.Fatalf("%+v", row)
			}
			b.same(row, b.row(row.ID))
			b.history(row.ID, audit.ActionStarted, audit.ActionUncertain, audit.ActionResent)
			for _, state := range []action.State{action.Succeeded, action.Failed, action.Uncertain} {
				_, err := b.store.Finish(b.Context(), ending(old, state))
				b.refused(err, action.ErrFence)
			}
			b.same(row, b.row(row.ID))
			b.finish(row, action.Succeeded)
		},
		"one of two senders wins": func(b *bench) {
			row := b.lost()
			_, err := b.resend(row, time.Hour, false)
			b.must(err)
			b.stays(row, false, action.ErrState)
		},
		"it can be uncertain again, and again": func(b *bench) {
			row := b.lost()
			for range 3 {
				again, err := b.resend(row, time.Hour, false)
				b.must(err)
				b.clock.add(lease)
				_, err = b.store.Expire(b.Context(), false)
				b.must(err)
				row = b.row(again.ID)
			}
			if row.State != action.Uncertain || row.Fence != 4 || row.Attempt != 1 {
				b.Fatalf("%s fence %d attempt %d", row.State, row.Fence, row.Attempt)
			}
		},
		"a success without an output keeps none of an unclear end": func(b *bench) {
			row := b.begin(b.call())
			e := ending(row, action.Uncertain)
			e.Result.Output = []byte("boom")
			row, err := b.store.Finish(b.Context(), e)
			b.must(err)
			row, err = b.resend(row, time.Hour, false)
			b.must(err)
			e = ending(row, action.Succeeded)
			e.Result.Output = nil
			_, err = b.store.Finish(b.Context(), e)
			b.must(err)
			if got := b.row(row.ID); len(got.Result.Output) != 0 {
				b.Fatalf("%s", got.Result.Output)
			}
		},
		"the same call waits, also one that supersedes it": func(b *bench) {
			first := b.callWith("same")
			row, err := b.resend(b.finish(b.begin(first), action.Uncertain), time.Hour, false)
			b.must(err)
			for _, supersedes := range []string{"", row.ID} {
				next := b.callWith("same")
				next.Supersedes = supersedes
				found, err := b.start(next)
				b.refused(err, action.ErrUncertain)
				if found.ID != row.ID {
					b.Fatalf("%s is in the way", found.ID)
				}
			}
			b.finish(row, action.Succeeded)
			b.begin(b.callWith("same"))
		},
		"what the provider says settles": func(b *bench) {
			r := action.Reconciliation{ID: b.lost().ID, State: action.ReconciledSucceeded, By: action.ByProvider, Evidence: "look-up",
				Result: &action.Result{Output: []byte(`{"n":1}`), Code: "ok"}}
			got, err := b.store.Reconcile(b.Context(), r)
			b.must(err)
			b.same(got, b.row(got.ID))
			if string(got.Result.Output) != `{"n":1}` || got.State != action.ReconciledSucceeded {
				b.Fatalf("%+v", got)
			}
		},
		"a cancellation counts only while the key is known": func(b *bench) {
			row := b.lost()
			r := action.Reconciliation{ID: row.ID, State: action.ReconciledFailed, By: action.ByProvider, Evidence: "cancelled"}
			if _, err := b.store.Reconcile(b.Context(), r); err == nil {
				b.Fatal("cancelled without an end")
			}
			r.Retention = time.Minute
			b.clock.add(time.Minute + time.Millisecond)
			_, err := b.store.Reconcile(b.Context(), r)
			b.refused(err, action.ErrLate)
			b.same(row, b.row(row.ID))
			r.Retention = 2 * time.Minute
			_, err = b.store.Reconcile(b.Context(), r)
			b.must(err)
		},
	}
}

func resendAuthority() map[string]func(*bench) {
	return map[string]func(*bench){
		"not without an end": func(b *bench) {
			row := b.lost()
			if _, err := b.resend(row, 0, false); err == nil {
				b.Fatal("sent again for ever")
			}
			b.same(row, b.row(row.ID))
		},
		"not after the provider may have forgotten": func(b *bench) {
			row := b.lost()
			b.clock.add(time.Hour - lease + time.Millisecond)
			b.stays(row, false, action.ErrLate)
		},
		"just before that": func(b *bench) {
			row := b.lost()
			b.clock.add(time.Hour - lease)
			_, err := b.resend(row, time.Hour, false)
			b.must(err)
		},
		"not by a stale holder": func(b *bench) {
			row := b.lost()
			row.Fence++
			b.stays(row, false, action.ErrFence)
		},
		"not under other rules": func(b *bench) {
			row := b.lost()
			b.policy("other rules")
			b.stays(row, false, action.ErrStale)
		},
		"not with another definition or other arguments": func(b *bench) {
			for _, change := range []func(*action.Action){
				func(a *action.Action) { a.Definition = canon.Sum([]byte("other")) },
				func(a *action.Action) { a.Payload.Args = `{}` },
				func(a *action.Action) { a.Hash[0]++ },
			} {
				row := b.lost()
				change(&row)
				b.stays(row, false, action.ErrStale)
			}
		},
		"not after the end of its approval": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Uncertain)
			b.clock.add(row.Terms.TTL)
			b.stays(row, false, action.ErrLate)
		},
		"not once a voter has left": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Uncertain)
			b.must(b.book.Disable(b.Context(), ann))
			b.stays(row, false, action.ErrIneligible)
		},
		"not once another call supersedes it": func(b *bench) {
			row := b.lost()
			next := b.call()
			next.Supersedes = row.ID
			b.begin(next)
			b.stays(row, false, action.ErrOvertaken)
		},
		"alone only before others act on its targets": func(b *bench) {
			row := b.finish(b.begin(b.callWith("set")), action.Uncertain)
			b.clock.add(time.Second)
			b.begin(b.callWith("elsewhere"))
			other := b.callWith("set")
			other.Fingerprint = canon.Sum([]byte("another value"))
			b.begin(other)
			b.stays(row, true, action.ErrOvertaken)
			if _, err := b.resend(row, time.Hour, false); err != nil {
				b.Fatal(err)
			}
		},
		"alone beside what acts elsewhere": func(b *bench) {
			row := b.lost()
			b.begin(b.callWith("elsewhere"))
			_, err := b.resend(row, time.Hour, true)
			b.must(err)
		},
		"alone only without any run of a tool that names no targets": func(b *bench) {
			a := b.call()
			a.Targets = nil
			row := b.finish(b.begin(a), action.Uncertain)
			b.begin(b.callWith("elsewhere"))
			b.stays(row, true, action.ErrOvertaken)
		},
	}
}

func (b *bench) sentTo() {
	there := canon.Sum([]byte("a server"))
	claimed, pending := b.claimed(), b.pending()
	for name, a := range map[string]action.Action{"allowed": b.call(), "approved": claimed} {
		row, err := b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease, Server: there})
		b.must(err)
		row, err = b.resend(b.finish(row, action.Uncertain), time.Hour, false)
		b.must(err)
		if got, err := b.store.SentTo(b.Context(), tenant, row.ID); err != nil || got != there {
			b.Errorf("%s: sent to %s, %v", name, got, err)
		}
		if _, err := b.store.SentTo(b.Context(), other, row.ID); !errors.Is(err, action.ErrNotFound) {
			b.Errorf("%s: another tenant learns %v", name, err)
		}
	}
	if got, err := b.store.SentTo(b.Context(), tenant, b.begin(b.call()).ID); err != nil || got != (canon.Digest{}) {
		b.Errorf("the host's own: %s, %v", got, err)
	}
	for _, id := range []string{pending.ID, "act_none"} {
		_, err := b.store.SentTo(b.Context(), tenant, id)
		b.refused(err, action.ErrNotFound)
	}
}
