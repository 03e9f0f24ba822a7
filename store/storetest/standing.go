package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// paying is a call of an amount to one payee, which waits for one admin and is
// not of high impact.
func (b *bench) paying(amount int, change ...func(*action.Action)) action.Action {
	b.Helper()
	a := b.callWith("V1")
	args, err := snapshot.FreezeGo(map[string]any{"amount": amount, "memo": fmt.Sprintf("n%d", b.next()), "to": "V1"})
	b.must(err)
	a.Payload.Args, a.Hash = args.Text(), snapshot.Propose(agent, tool, args).Hash
	a.Fingerprint = canon.Sum([]byte(args.Text()))
	a = b.asking(a, oneAdmin())
	a.HighImpact = false
	a.Terms.StepUp = false
	for _, c := range change {
		c(&a)
	}
	a.Terms.Digest = approval.Digest(a)
	return b.suspend(a)
}

// like is a grant for payments like one: at most 500 each and 900 in all, any
// memo, three times within the hour.
func (b *bench) like(a action.Action, change ...func(*action.StandingGrant)) action.StandingGrant {
	now := b.clock.read().Truncate(time.Millisecond)
	g := action.StandingGrant{Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Owner: a.Owner, Task: a.Task,
		Tool: a.Tool, Definition: a.Definition, PolicyVersion: a.Decision.PolicyVersion, Source: a.ID, MaxUses: 3,
		Requirements: a.Terms.Requirements, StepUp: a.Terms.StepUp, RequestedAt: now, ExpiresAt: now.Add(time.Hour),
		Scope: action.Scope{Targets: a.Targets, Sum: "/amount", Total: 900, Members: []action.MemberRule{
			{Pointer: "/amount", Rule: action.RuleMost, Value: "500"}, {Pointer: "/memo", Rule: action.RuleAny}, {Pointer: "/to", Rule: action.RuleEqual, Value: `"V1"`}}}}
	g.Nonce = fmt.Sprintf("n %d", b.next())
	for _, c := range change {
		c(&g)
	}
	g.Digest = approval.StandingDigest(g)
	g.ID = approval.StandingID(g.Digest)
	return g
}

func signature(g action.StandingGrant, voter string) action.Vote {
	return action.Vote{ActionID: g.ID, Voter: voter, Approve: true, Reason: "routine", Nonce: "v " + voter, Method: action.MethodPassword,
		Digest: g.Digest, Envelope: []byte("signed"), LoginAt: g.RequestedAt}
}

func (b *bench) granted(a action.Action, change ...func(*action.StandingGrant)) action.StandingGrant {
	b.Helper()
	g := b.like(a, change...)
	out, err := b.store.Grant(b.Context(), g, signature(g, ann))
	b.must(err)
	return out
}

func (b *bench) cover(a action.Action, g action.StandingGrant, want error) action.Action {
	b.Helper()
	row, err := b.store.Cover(b.Context(), a.ID, g.ID)
	if want == nil {
		b.must(err)
	} else {
		b.refused(err, want)
	}
	return row
}

func (b *bench) standing(id string) action.StandingGrant {
	b.Helper()
	g, err := b.store.StandingGrant(b.Context(), tenant, id)
	b.must(err)
	return g
}

// used fails unless a grant has been used so often, for so much.
func (b *bench) used(g action.StandingGrant, uses int, spent int64) {
	b.Helper()
	if got := b.standing(g.ID); got.Uses != uses || got.Spent != spent {
		b.Fatalf("used %d times for %d, want %d for %d", got.Uses, got.Spent, uses, spent)
	}
}

func testStanding(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"a grant comes back as it was signed":           standingStays,
		"a grant approves, and its use is counted":      standingCovers,
		"uses and total are bounds at the commit point": standingBounds,
		"only who may vote may sign":                    standingSigners,
		"a grant that does not fit is not kept":         standingFits,
		"what it does not cover waits for people":       standingWaits,
		"revoking ends it, also for what it approved":   standingRevoked,
		"an end, a new policy and a lost signer end it": standingEnds,
		"two admins must sign where two must vote":      standingQuorum,
		"of many runs at once no more begin than fit":   standingRush,
		"erasing its source ends a grant":               standingErased,
		"a run and a revocation at once have one order": standingRaces,
	})
}

func standingStays(b *bench) {
	g := b.granted(b.paying(300))
	if diff := cmp.Diff(g, b.standing(g.ID), cmpopts.EquateEmpty()); diff != "" {
		b.Fatalf("differs (-kept +read):\n%s", diff)
	}
	all, err := b.store.Grants(b.Context(), action.StandingFilter{Tenant: tenant, Principal: principal, Agent: agent, Tool: tool, Usable: true})
	if err != nil || len(all) != 1 || all[0].ID != g.ID {
		b.Fatalf("%+v, %v", all, err)
	}
	second := b.granted(b.paying(2))
	page, err := b.store.Grants(b.Context(), action.StandingFilter{Tenant: tenant, Before: second.ID, Limit: 1})
	if err != nil || len(page) != 1 || page[0].ID != g.ID {
		b.Fatalf("%+v, %v", page, err)
	}
	votes, err := b.store.GrantVotes(b.Context(), tenant, g.ID)
	if err != nil || len(votes) != 1 || votes[0].Voter != ann || votes[0].Digest != g.Digest || string(votes[0].Envelope) != "signed" || votes[0].Reason != "routine" {
		b.Fatalf("%+v, %v", votes, err)
	}
	for _, read := range []func() error{
		func() error { _, err := b.store.StandingGrant(b.Context(), other, g.ID); return err },
		func() error { _, err := b.store.GrantVotes(b.Context(), other, g.ID); return err },
		func() error { _, err := b.store.RevokeGrant(b.Context(), other, g.ID, zoe); return err },
	} {
		b.refused(read(), action.ErrNotFound)
	}
}

func standingCovers(b *bench) {
	first := b.paying(300)
	g := b.granted(first)
	row := b.cover(first, g, nil)
	if row.State != action.Approved || !row.Deadline.Equal(b.clock.read().Add(10*time.Minute)) {
		b.Fatalf("%s until %s", row.State, row.Deadline)
	}
	b.used(g, 0, 0)
	b.cover(first, g, action.ErrState)
	by, err := b.store.CoveredBy(b.Context(), tenant, first.ID)
	if err != nil || by.ID != g.ID {
		b.Fatalf("covered by %q, %v", by.ID, err)
	}
	b.finish(b.begin(b.claim(row)), action.Succeeded)
	b.used(g, 1, 300)
	for _, r := range b.records(first.ID) {
		if (r.Event == audit.ActionApproved || r.Event == audit.ActionStarted) && (r.Facts["standing"] != g.ID || r.Facts["standingDigest"] != g.Digest.String()) {
			b.Errorf("%s does not name the grant: %v", r.Event, r.Facts)
		}
		if r.Event == audit.ActionApproved && r.By != g.ID {
			b.Errorf("%s by %s: the grant allowed it, nobody clicked", r.Event, r.By)
		}
		leaf, err := json.Marshal(r)
		b.must(err)
		if strings.Contains(string(leaf), `"V1"`) {
			b.Errorf("the record holds an argument: %s", leaf)
		}
	}
	b.recorded(audit.StandingMade, ann)
	voted := b.approve(b.paying(1), ann)
	_, err = b.store.CoveredBy(b.Context(), tenant, voted.ID)
	b.refused(err, action.ErrNotFound)
}

func standingBounds(b *bench) {
	g := b.granted(b.paying(500))
	for _, amount := range []int{500, 400} {
		b.begin(b.claim(b.cover(b.paying(amount), g, nil)))
	}
	b.used(g, 2, 900)
	b.cover(b.paying(1), g, action.ErrStanding) // the total
	free := b.cover(b.paying(0), g, nil)
	b.cover(b.paying(0), g, action.ErrStanding) // what is approved takes its use along
	b.must(justErr(b.store.Revoke(b.Context(), free.ID, ann, "no")))
	last := b.cover(b.paying(0), g, nil) // and gives it back when it ends unrun
	b.begin(b.claim(last))
	b.used(g, 3, 900)
	b.cover(b.paying(0), g, action.ErrStanding)
}

func standingSigners(b *bench) {
	a := b.paying(300)
	try := func(voter string, want error, change ...func(*action.Vote)) {
		b.Helper()
		g := b.like(a)
		v := signature(g, voter)
		for _, c := range change {
			c(&v)
		}
		_, err := b.store.Grant(b.Context(), g, v)
		b.refused(err, want)
		if _, err := b.store.StandingGrant(b.Context(), tenant, g.ID); !errors.Is(err, action.ErrNotFound) {
			b.Fatalf("a grant was left behind: %v", err)
		}
	}
	try(pat, action.ErrIneligible) // pat's own agent
	try(fay, action.ErrIneligible)
	try(opal, action.ErrIneligible)
	try(zoe, action.ErrNotFound)
	try("acc_none", action.ErrIneligible)
	try(ann, action.ErrState, func(v *action.Vote) { v.Approve = false })
	try(ann, action.ErrDigest, func(v *action.Vote) { v.Digest = a.Terms.Digest })
	b.must(b.book.AddCredential(b.Context(), auth.Credential{ID: []byte("c1"), AccountID: bob, PublicKey: []byte("k"), RPID: "localhost",
		Statement: []byte("s"), CreatedAt: b.clock.read()}))
	try(bob, action.ErrPasskey)
	stepped := b.paying(300, func(a *action.Action) { a.Terms.StepUp = true })
	g := b.like(stepped)
	v := signature(g, ann)
	v.LoginAt = b.clock.read().Add(-time.Hour)
	_, err := b.store.Grant(b.Context(), g, v)
	b.refused(err, action.ErrStepUp)
	g = b.granted(a)
	_, err = b.store.SignGrant(b.Context(), signature(g, ann))
	b.refused(err, action.ErrVoted)
}

func standingFits(b *bench) {
	a := b.paying(300)
	for name, c := range map[string]struct {
		source action.Action
		change func(*action.StandingGrant)
		want   error
	}{
		"a source that does not fit": {a, func(g *action.StandingGrant) { g.Scope.Members[0].Value = "299" }, action.ErrStanding},
		"another agent":              {a, func(g *action.StandingGrant) { g.Agent = "other" }, action.ErrStanding},
		"another policy":             {a, func(g *action.StandingGrant) { g.PolicyVersion = "x.1" }, action.ErrStanding},
		"fewer people": {a, func(g *action.StandingGrant) {
			g.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 1}}}}
		}, action.ErrStanding},
		"more than a day":   {a, func(g *action.StandingGrant) { g.ExpiresAt = g.RequestedAt.Add(25 * time.Hour) }, action.ErrStanding},
		"drawn up long ago": {a, func(g *action.StandingGrant) { g.RequestedAt = g.RequestedAt.Add(-16 * time.Minute) }, action.ErrLate},
		"from the future": {a, func(g *action.StandingGrant) {
			g.RequestedAt, g.ExpiresAt = g.RequestedAt.Add(time.Hour), g.ExpiresAt.Add(time.Hour)
		}, action.ErrLate},
		"a source of another tenant": {a, func(g *action.StandingGrant) { g.Tenant = other }, action.ErrNotFound},
		"no source":                  {a, func(g *action.StandingGrant) { g.Source = "act_none" }, action.ErrNotFound},
		"a high-impact source": {b.pending(), func(g *action.StandingGrant) {
			g.Scope = action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/to", Rule: action.RuleAny}}}
		}, action.ErrStanding},
		"a source that was rejected":   {b.votes(vote(b.paying(2), bob, false), nil), func(*action.StandingGrant) {}, action.ErrState},
		"a source that nobody decided": {b.begin(b.call()), func(g *action.StandingGrant) { g.Requirements = oneAdmin() }, action.ErrStanding},
	} {
		source := c.source
		if source.Terms == nil {
			source.Terms = &action.Terms{Requirements: oneAdmin()}
		}
		g := b.like(source, c.change)
		if _, err := b.store.Grant(b.Context(), g, signature(g, ann)); !errors.Is(err, c.want) {
			b.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	b.policy("other rules")
	g := b.like(a)
	_, err := b.store.Grant(b.Context(), g, signature(g, ann))
	b.refused(err, action.ErrStale)
}

func standingWaits(b *bench) {
	g := b.granted(b.paying(300))
	for name, a := range map[string]action.Action{
		"more than each may take": b.paying(501),
		"high impact":             b.pending(),
		"another agent":           b.paying(300, func(a *action.Action) { a.Agent, a.Hash = "other", rehashed("other", a.Payload.Args) }),
		"another task":            b.paying(300, func(a *action.Action) { a.Task = "task-2" }),
		"other targets":           b.paying(300, func(a *action.Action) { a.Targets[0].ID = "V2" }),
		"a step-up":               b.paying(300, func(a *action.Action) { a.Terms.StepUp = true }),
	} {
		if _, err := b.store.Cover(b.Context(), a.ID, g.ID); !errors.Is(err, action.ErrStanding) {
			b.Errorf("%s: %v", name, err)
		}
		if got := b.row(a.ID).State; got != action.PendingApproval {
			b.Errorf("%s: %s", name, got)
		}
	}
	late := b.paying(300)
	b.clock.add(time.Hour - time.Second)
	if row := b.cover(b.paying(3), g, nil); !row.Deadline.Equal(g.ExpiresAt) {
		b.Errorf("an approval outlives its grant: %s", row.Deadline)
	}
	b.clock.add(time.Second)
	b.cover(late, g, action.ErrLate)
	b.cover(b.paying(3), g, action.ErrStanding)
}

func rehashed(agent, args string) snapshot.ProposalHash {
	frozen, err := snapshot.Thaw(args)
	if err != nil {
		panic(err)
	}
	return snapshot.Propose(agent, tool, frozen).Hash
}

func justErr(_ action.Action, err error) error { return err }
