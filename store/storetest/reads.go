package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

func testPolicy(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"the version moves only when the digest does, and never back": func(b *bench) {
			digest := canon.Sum([]byte("rules"))
			if want := digest.String()[:16] + ".1"; b.version != want {
				b.Fatalf("version %s, want %s", b.version, want)
			}
			if again := b.policy("rules"); again != b.version {
				b.Fatalf("the same rules gave %s after %s", again, b.version)
			}
			b.policy("other")
			if back, want := b.policy("rules"), digest.String()[:16]+".3"; back != want {
				b.Fatalf("rules that came back gave %s, want %s", back, want)
			}
		},
		"tools and tenants have epochs of their own": func(b *bench) {
			digest := canon.Sum([]byte("x"))
			for _, key := range [][2]string{{tenant, "bank.read"}, {other, tool}, {tenant, ""}} {
				got, err := b.store.SetPolicy(b.Context(), key[0], key[1], digest)
				b.must(err)
				if want := digest.String()[:16] + ".1"; got != want {
					b.Fatalf("%v: %s, want %s", key, got, want)
				}
			}
		},
	})
}

func testRecords(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"the life of an approved call is in the log, in order": func(b *bench) {
			row := b.finish(b.begin(b.claimed()), action.Succeeded)
			b.history(row.ID, audit.ActionSuspended, audit.VoteApprove, audit.ActionApproved, audit.ActionClaimed,
				audit.ActionStarted, audit.ActionSucceeded)
			for i, r := range b.records(row.ID) {
				if !r.At.Equal(b.clock.read()) || r.Tenant != tenant || r.Tool != tool {
					b.Errorf("record %d: %+v", i, r)
				}
			}
		},
		"records are numbered without a gap, refusals leave none": func(b *bench) {
			row := b.claimed()
			b.begin(row)
			_, err := b.start(row)
			b.refused(err, action.ErrState)
			b.pending()
			records, err := b.store.Records(b.Context(), audit.Filter{Limit: 1000})
			b.must(err)
			for i, r := range records {
				if want := int64(len(records) - i); r.Seq != want {
					b.Fatalf("record %d has number %d, want %d", i, r.Seq, want)
				}
			}
		},
		"K09 no record holds an argument, a result or a reason": func(b *bench) {
			row := b.begin(b.claim(b.approve(b.suspend(b.asking(b.callWith("secretpayee"), oneAdmin())), ann)))
			e := ending(row, action.Succeeded)
			e.Result.Output = []byte("secretoutput")
			_, err := b.store.Finish(b.Context(), e)
			b.must(err)
			for _, r := range b.records(row.ID) {
				leaf, err := r.Leaf()
				b.must(err)
				if text := string(leaf); strings.Contains(text, "secret") || strings.Contains(text, "seen") || strings.Contains(text, "rule 1") {
					b.Errorf("record %s tells: %s", r.Event, text)
				}
			}
			first := b.records(row.ID)[0]
			for _, name := range []string{"raw", "requested", "arguments", "targets", "proposalHash"} {
				if len(first.Commitments[name]) != 64 {
					b.Errorf("no commitment to %s", name)
				}
			}
		},
		"K11 names from outside never stand where facts stand": func(b *bench) {
			a := denied(b.call())
			a.CallID = strings.Repeat("x", 1<<20)
			a.Model = "\xff"
			row, err := b.store.Decide(b.Context(), a)
			b.must(err)
			facts := b.records(row.ID)[0].Facts
			if !strings.HasPrefix(facts["callId"], "sha256:") || !strings.HasPrefix(facts["model"], "sha256:") {
				b.Fatalf("facts %v", facts)
			}
		},
		"pages go back from the newest": func(b *bench) {
			b.finish(b.begin(b.claimed()), action.Succeeded)
			all, err := b.store.Records(b.Context(), audit.Filter{})
			b.must(err)
			var paged []audit.Record
			for before := int64(0); ; {
				page, err := b.store.Records(b.Context(), audit.Filter{Limit: 2, Before: before})
				b.must(err)
				if len(page) == 0 {
					break
				}
				paged = append(paged, page...)
				before = page[len(page)-1].Seq
			}
			if diff := cmp.Diff(all, paged); diff != "" {
				b.Fatal(diff)
			}
		},
	})
}

func ids(rows []action.Action) []string {
	var out []string
	for _, row := range rows {
		out = append(out, row.ID)
	}
	return out
}

func testReads(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"T29 every read stays within its tenant": func(b *bench) {
			row := b.begin(b.keyed("k"))
			_, err := b.store.Action(b.Context(), other, row.ID)
			b.refused(err, action.ErrNotFound)
			_, err = b.store.ByKey(b.Context(), other, principal, "k")
			b.refused(err, action.ErrNotFound)
			_, err = b.store.Person(b.Context(), other, ann)
			b.refused(err, action.ErrNotFound)
			rows, err := b.store.Actions(b.Context(), action.Filter{Tenant: other})
			b.must(err)
			left := b.begin(b.keyed(""))
			b.must(b.store.Leave(b.Context(), left.ID))
			flying, err := b.store.Joinable(b.Context(), other, principal, left.Fingerprint)
			b.must(err)
			records, err := b.store.Records(b.Context(), audit.Filter{Tenant: other, Action: row.ID})
			b.must(err)
			if len(rows)+len(flying)+len(records) != 0 {
				b.Fatalf("%d rows, %d in flight, %d records", len(rows), len(flying), len(records))
			}
		},
		"rows are found by when they came and who decided on them": func(b *bench) {
			var ids []string
			for i := range 7 {
				row := b.pending()
				ids = append(ids, row.ID)
				if i%2 == 0 {
					b.votes(vote(row, ann, i != 4), nil)
				}
				b.votes(vote(b.pending(), bob, true), nil)
				b.clock.add(time.Hour)
			}
			start := b.clock.read().Add(-7 * time.Hour)
			for name, c := range map[string]struct {
				filter action.Filter
				want   []int
			}{
				"all of ann's":                {action.Filter{Voter: ann}, []int{6, 4, 2, 0}},
				"ann's of the second hour on": {action.Filter{Voter: ann, From: start.Add(2 * time.Hour)}, []int{6, 4, 2}},
				"ann's up to there":           {action.Filter{Voter: ann, Until: start.Add(2 * time.Hour)}, []int{0}},
				"ann's between":               {action.Filter{Voter: ann, From: start.Add(time.Hour), Until: start.Add(5 * time.Hour)}, []int{4, 2}},
				"ann's, a page":               {action.Filter{Voter: ann, Limit: 2}, []int{6, 4}},
				"ann's, the next page":        {action.Filter{Voter: ann, Limit: 2, Before: ids[4]}, []int{2, 0}},
				"ann's that wait":             {action.Filter{Voter: ann, States: []action.State{action.PendingApproval}}, nil},
				"ann's that are denied":       {action.Filter{Voter: ann, States: []action.State{action.Denied}}, []int{4}},
				"ann's of a tool":             {action.Filter{Voter: ann, Tool: "other.tool"}, nil},
				"before everything":           {action.Filter{Until: start}, nil},
				"after everything":            {action.Filter{From: b.clock.read()}, nil},
				"of another tenant":           {action.Filter{Voter: zoe}, nil},
			} {
				c.filter.Tenant = tenant
				rows, err := b.store.Actions(b.Context(), c.filter)
				b.must(err)
				var want, got []string
				for _, i := range c.want {
					want = append(want, ids[i])
				}
				for _, row := range rows {
					got = append(got, row.ID)
				}
				if !slices.Equal(want, got) {
					b.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			if rows, err := b.store.Actions(b.Context(), action.Filter{Tenant: tenant, From: start.Add(3 * time.Hour), Until: start.Add(4 * time.Hour)}); err != nil || len(rows) != 2 {
				b.Errorf("%d rows of one hour, %v", len(rows), err)
			}
		},
		"another call may take up what has no key and nobody waits for, oldest first": func(b *bench) {
			var want []string
			left := func(row action.Action) action.Action {
				b.must(b.store.Leave(b.Context(), row.ID))
				return row
			}
			for _, state := range []action.State{action.Succeeded, action.Failed} {
				b.finish(left(b.begin(b.keyed(""))), state)
			}
			want = append(want, left(b.begin(b.keyed(""))).ID)
			b.begin(b.keyed("")) // its caller waits
			left(b.begin(b.keyed("k")))
			want = append(want, left(b.suspend(b.asking(b.keyed(""), oneAdmin()))).ID)
			b.suspend(b.asking(b.keyed(""), oneAdmin())) // its caller waits
			b.finish(left(b.begin(b.keyed(""))), action.Uncertain)
			rows, err := b.store.Joinable(b.Context(), tenant, principal, b.keyed("").Fingerprint)
			b.must(err)
			if got := ids(rows); !slices.Equal(got, want) {
				b.Fatalf("joinable %v, want %v", got, want)
			}
		},
		"listings filter and page, newest first": func(b *bench) {
			var all []string
			for range 5 {
				all = append(all, b.pending().ID)
			}
			approved := b.approved().ID
			slices.Reverse(all)
			var paged []string
			for before := ""; ; before = paged[len(paged)-1] {
				page, err := b.store.Actions(b.Context(), action.Filter{Tenant: tenant, Principal: principal, Tool: tool,
					States: []action.State{action.PendingApproval}, Limit: 2, Before: before})
				b.must(err)
				if len(page) == 0 {
					break
				}
				paged = append(paged, ids(page)...)
			}
			if !slices.Equal(paged, all) {
				b.Fatalf("pages %v, want %v", paged, all)
			}
			rows, err := b.store.Actions(b.Context(), action.Filter{States: []action.State{action.Approved, action.Denied}})
			b.must(err)
			if got := ids(rows); !slices.Equal(got, []string{approved}) {
				b.Fatalf("approved %v", got)
			}
		},
		"people are shown as votes see them": func(b *bench) {
			got, err := b.store.Person(b.Context(), tenant, bob)
			b.must(err)
			want := action.Person{ID: bob, Name: "Bob", Tenant: tenant, Groups: []string{"admin", "finance"}, Active: true}
			if diff := cmp.Diff(want, got); diff != "" {
				b.Fatal(diff)
			}
			b.must(b.book.Disable(b.Context(), bob))
			if got, err = b.store.Person(b.Context(), tenant, bob); err != nil || got.Active {
				b.Fatalf("%+v %v", got, err)
			}
		},
		"identifiers are compared as bytes": func(b *bench) {
			row := b.begin(b.keyed("k"))
			for _, id := range []string{strings.ToUpper(row.ID), row.ID + " ", row.ID + "\x00"} {
				_, err := b.store.Action(b.Context(), tenant, id)
				b.refused(err, action.ErrNotFound)
			}
			for _, key := range []string{"K", "k ", "k\x00"} {
				_, err := b.store.ByKey(b.Context(), tenant, principal, key)
				b.refused(err, action.ErrNotFound)
			}
		},
	})
}
