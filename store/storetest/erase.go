package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

func (b *bench) erase(id, account string) (action.Action, error) {
	return b.store.Erase(b.Context(), tenant, id, account, "asked for")
}

func testErase(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"what tells of the arguments goes, the rest stays": func(b *bench) {
			before := b.finish(b.begin(b.claimed()), action.Succeeded)
			before = b.row(before.ID)
			b.sequence()
			out, err := b.erase(before.ID, opal)
			b.must(err)
			got := b.row(before.ID)
			b.same(out, got)
			if got.Payload.Args != "" || len(got.Payload.Raw) > 0 || got.Payload.Requested != "" || got.Payload.Preview != "" || got.Payload.Facts != "" ||
				len(got.Targets)+len(got.Evidence)+len(got.Changes) > 0 || got.Decision.Reason != "" || len(got.Result.Output) > 0 ||
				got.Terms.Nonce == before.Terms.Nonce || got.ErasedAt.IsZero() {
				b.Errorf("left: %+v", got)
			}
			for _, e := range b.entries(before.ID) {
				r, err := audit.ParseLeaf(e.Leaf)
				b.must(err)
				if e.Salt != nil && r.Event != audit.ActionErased {
					b.Errorf("record %s keeps its salt", r.Event)
				}
			}
			rest := cmpopts.IgnoreFields(action.Action{}, "Payload", "Hash", "Fingerprint", "Targets", "Evidence", "Changes", "Decision", "Result",
				"Terms", "ErasedAt")
			if diff := cmp.Diff(before, got, rest); diff != "" {
				b.Errorf("changed (-before +after):\n%s", diff)
			}
			b.sequence()
			if r, err := audit.Verify(b.Context(), b.store, b.trust()); err != nil || r.Waiting != 0 {
				b.Errorf("the log: %+v, %v", r, err)
			}
		},
		"erasing again changes nothing": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Succeeded)
			first, err := b.erase(row.ID, opal)
			b.must(err)
			n := len(b.records(row.ID))
			again, err := b.erase(row.ID, opal)
			b.must(err)
			b.same(first, again)
			if len(b.records(row.ID)) != n {
				b.Error("it was recorded twice")
			}
		},
		"only what has ended is erased": func(b *bench) {
			running := b.begin(b.claimed())
			uncertain := b.finish(b.begin(b.claimed()), action.Uncertain)
			for _, row := range []action.Action{b.pending(), b.approved(), b.claimed(), running, uncertain} {
				_, err := b.erase(row.ID, opal)
				b.refused(err, action.ErrState)
				b.same(b.row(row.ID), b.row(row.ID))
			}
			settled := b.settle(uncertain, action.ReconciledFailed)
			_, err := b.erase(settled.ID, opal)
			b.must(err)
		},
		"where there are operators, nobody else erases": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Succeeded)
			for _, who := range []string{pat, ann, zoe, "acc_none"} {
				if _, err := b.erase(row.ID, who); !errors.Is(err, action.ErrIneligible) && !errors.Is(err, action.ErrNotFound) {
					b.Errorf("%s: %v", who, err)
				}
			}
			b.must(b.book.Disable(b.Context(), opal))
			_, err := b.erase(row.ID, ann)
			b.must(err)
		},
		"another tenant's action is not found": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Succeeded)
			_, err := b.store.Erase(b.Context(), other, row.ID, zoe, "x")
			b.refused(err, action.ErrNotFound)
			_, err = b.erase("act_none", opal)
			b.refused(err, action.ErrNotFound)
		},
		"a denied action is erased too, with its key": func(b *bench) {
			a := denied(b.call())
			a.Key = "k"
			row, err := b.store.Decide(b.Context(), a)
			b.must(err)
			_, err = b.erase(row.ID, opal)
			b.must(err)
			found, err := b.store.ByKey(b.Context(), tenant, principal, "k")
			if err != nil || found.ID != row.ID || found.ErasedAt.IsZero() {
				b.Errorf("%+v, %v", found, err)
			}
		},
	})
}
