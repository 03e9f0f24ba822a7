package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
)

// delegate has somebody stand in for another, from now.
func (b *bench) delegate(from, to string, life time.Duration) auth.Delegation {
	b.Helper()
	now := b.clock.read()
	d := auth.Delegation{ID: fmt.Sprintf("del_%d", b.next()), Tenant: tenant, Delegator: from, Delegate: to, Reason: "away", CreatedAt: now, StartsAt: now, EndsAt: now.Add(life)}
	b.must(b.register().AddDelegation(b.Context(), d))
	return d
}

func testStandins(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"fay votes in ann's place, as herself, and it is on record": func(b *bench) {
			row := b.pending()
			b.votes(vote(row, fay, true), action.ErrIneligible)
			b.delegate(ann, fay, time.Hour)
			got := b.votes(vote(row, fay, true), nil)
			votes, err := b.store.Votes(b.Context(), tenant, row.ID)
			b.must(err)
			if got.State != action.Approved || len(votes) != 1 || votes[0].Voter != fay || len(votes[0].For) != 1 || votes[0].For[0] != ann {
				b.Fatalf("%s, %+v", got.State, votes)
			}
			b.recorded(audit.DelegationMade, ann)
			for _, r := range b.records(row.ID) {
				if r.Event == audit.VoteApprove && (r.By != fay || r.Facts["for"] != `["`+ann+`"]`) {
					b.Fatalf("the record says %s for %s", r.By, r.Facts["for"])
				}
			}
			b.begin(b.claim(got))
		},
		"one membership makes one vote": func(b *bench) {
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}))
			b.delegate(ann, fay, time.Hour)
			b.votes(vote(row, ann, true), nil)
			if got := b.votes(vote(row, fay, true), nil).State; got != action.PendingApproval {
				b.Fatalf("ann counts twice: %s", got)
			}
			if got := b.votes(vote(row, bob, true), nil).State; got != action.Approved {
				b.Fatalf("two admins made it %s", got)
			}
		},
		"nobody stands in for the person whose agent it is": func(b *bench) {
			row := b.pending()
			b.delegate(pat, fay, time.Hour)
			b.votes(vote(row, fay, true), action.ErrIneligible)
			b.delegate(ann, pat, time.Hour)
			b.votes(vote(row, pat, true), action.ErrIneligible)
		},
		"a delegation counts from its start to its end, also at the commit point": func(b *bench) {
			book, ctx, now := b.register(), b.Context(), b.clock.read()
			later := auth.Delegation{ID: "del_later", Tenant: tenant, Delegator: ann, Delegate: fay, Reason: "away", CreatedAt: now, StartsAt: now.Add(time.Minute), EndsAt: now.Add(3 * time.Minute)}
			b.must(book.AddDelegation(ctx, later))
			row := b.pending()
			b.votes(vote(row, fay, true), action.ErrIneligible)
			b.clock.add(time.Minute)
			claimed := b.claim(b.approve(b.row(row.ID), fay))
			b.clock.add(2 * time.Minute)
			_, err := b.start(claimed)
			b.refused(err, action.ErrIneligible)
			b.refused(book.EndDelegation(ctx, later.ID, ann, b.clock.read()), auth.ErrNoDelegation)
		},
		"an ended delegation and a shut-out delegator take the vote with them": func(b *bench) {
			book, ctx := b.register(), b.Context()
			for _, end := range []func(d auth.Delegation){
				func(d auth.Delegation) { b.must(book.EndDelegation(ctx, d.ID, fay, b.clock.read())) },
				func(auth.Delegation) { b.must(book.SetActive(ctx, ann, false, opal)) },
			} {
				d := b.delegate(ann, fay, time.Hour)
				claimed := b.claim(b.approve(b.pending(), fay))
				end(d)
				_, err := b.start(claimed)
				b.refused(err, action.ErrIneligible)
			}
			b.recorded(audit.DelegationEnded, fay)
		},
		"delegations are between active people of one tenant, and not handed on": func(b *bench) {
			book, ctx, now := b.register(), b.Context(), b.clock.read()
			for _, pair := range [][2]string{{ann, zoe}, {zoe, ann}, {ann, "acc_none"}} {
				d := auth.Delegation{ID: "del_" + pair[0] + pair[1], Tenant: tenant, Delegator: pair[0], Delegate: pair[1], CreatedAt: now, StartsAt: now, EndsAt: now.Add(time.Hour)}
				b.refused(book.AddDelegation(ctx, d), auth.ErrNoAccount)
			}
			b.delegate(ann, opal, time.Hour)
			b.delegate(opal, fay, time.Hour)
			row := b.pending()
			b.votes(vote(row, fay, true), action.ErrIneligible)
			b.votes(vote(row, opal, true), nil)
			if open, err := book.Delegations(ctx, tenant, now); err != nil || len(open) != 2 {
				b.Fatalf("%+v, %v", open, err)
			}
		},
	})
}
