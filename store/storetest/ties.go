package storetest

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
)

// tie is what the record of a vote says about its voter.
func (b *bench) tie(row action.Action, voter string) (tie, invitedBy string) {
	b.Helper()
	for _, r := range b.records(row.ID) {
		if r.Event == audit.VoteApprove && r.By == voter {
			return r.Facts["tie"], r.Facts["invitedBy"]
		}
	}
	b.Fatalf("no record of a vote of %s", voter)
	return "", ""
}

// invitedBy makes an account in the group admin by somebody's invitation.
func (b *bench) invitedBy(who string) string {
	b.Helper()
	i := b.invitation(who, "admin")
	a := b.newcomer()
	b.must(b.register().Accept(b.Context(), i.Token, a, nil))
	return a.ID
}

func testTies(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"the owner's own yes says so": func(b *bench) {
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "owner", Votes: 1}}}}))
			b.votes(vote(row, pat, true), nil)
			if tie, by := b.tie(row, pat); tie != "owner" || by != "" {
				b.Fatalf("tie %q, invited by %q", tie, by)
			}
		},
		"the yes of an account that the owner made says so, through others too": func(b *bench) {
			second := b.invitedBy(pat)
			third := b.invitedBy(second)
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 3}}}}))
			for voter, want := range map[string][2]string{second: {"invited", pat}, third: {"invited", second}, ann: {"", ""}} {
				b.votes(vote(row, voter, true), nil)
				if tie, by := b.tie(row, voter); tie != want[0] || by != want[1] {
					b.Errorf("%s: tie %q, invited by %q", voter, tie, by)
				}
			}
		},
		"an account of a provider is the owner whom its issuer and subject name": func(b *bench) {
			own := auth.Account{ID: "acc_eve", Name: "Eve", Key: "eve", Tenant: tenant, Groups: []string{"admin", "operator"}, Active: true,
				CreatedAt: b.clock.read(), Issuer: "https://id.example.com", Subject: "eve"}
			b.must(b.book.AddAccount(b.Context(), own))
			of := func(requirements []action.Requirement) action.Action {
				a := b.asking(b.call(), requirements)
				a.Principal, a.Owner = "oauth:eve", action.Identity(own.Issuer, own.Subject)
				a.Terms.Digest = approval.Digest(a)
				return b.suspend(a)
			}
			row := of(oneAdmin())
			b.votes(vote(row, own.ID, true), action.ErrIneligible)
			b.delegate(own.ID, fay, time.Hour)
			b.votes(vote(row, fay, true), action.ErrIneligible)
			row = of(groups("owner"))
			b.votes(vote(row, own.ID, true), nil)
			if tie, _ := b.tie(row, own.ID); tie != "owner" {
				b.Fatalf("tie %q", tie)
			}
			row = of(oneAdmin())
			row = b.finish(b.begin(b.claim(b.votes(vote(row, ann, true), nil))), action.Uncertain)
			_, err := b.store.Reconcile(b.Context(), action.Reconciliation{ID: row.ID, State: action.ReconciledFailed, By: own.ID, Evidence: "seen"})
			b.refused(err, action.ErrIneligible)
		},
		"two accounts of one principal are one voice": func(b *bench) {
			for _, id := range []string{"acc_one", "acc_two"} {
				b.must(b.book.AddAccount(b.Context(), auth.Account{ID: id, Name: id, Key: id, Tenant: tenant, Principal: "user:eve", Groups: []string{"admin"}, Active: true,
					CreatedAt: b.clock.read()}))
			}
			row := b.suspend(b.asking(b.call(), []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}))
			b.votes(vote(row, "acc_one", true), nil)
			if got := b.votes(vote(row, "acc_two", true), nil).State; got != action.PendingApproval {
				b.Fatalf("one human made a quorum of two: %s", got)
			}
			if got := b.votes(vote(row, bob, true), nil).State; got != action.Approved {
				b.Fatalf("two humans did not: %s", got)
			}
		},
	})
}
