package verbatim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/policy"
)

// anyText covers notes of any text with an amount of at most 10.
func anyText(s *stage, source string) action.Scope {
	return action.Scope{Targets: s.state(source, action.PendingApproval).Targets, Members: []action.MemberRule{
		{Pointer: "/amount", Rule: action.RuleMost, Value: "10"}, {Pointer: "/text", Rule: action.RuleAny}}}
}

func (s *stage) draft(source string, scope action.Scope, uses int) action.StandingGrant {
	s.t.Helper()
	g, err := s.Gate.DraftGrant(s.t.Context(), "acme", source, scope, uses, time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	return g
}

func (s *stage) signature(g action.StandingGrant, voter string) action.Vote {
	return s.Sign(action.Vote{ActionID: g.ID, Voter: voter, Approve: true, Digest: g.Digest, Nonce: "n" + voter, Method: "password"})
}

func (s *stage) grant(source string, scope action.Scope, uses int) action.StandingGrant {
	s.t.Helper()
	g := s.draft(source, scope, uses)
	g, err := s.Gate.Grant(s.t.Context(), g, s.signature(g, "ada"))
	if err != nil {
		s.t.Fatal(err)
	}
	return g
}

func asksAdmin() policy.Engine {
	return needing(policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: "admin", Votes: 1})}})
}

func TestAStandingGrantRunsCallsLikeItsSource(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: asksAdmin()})
	first := s.call(`{"text":"a","amount":1}`)
	want(t, first, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	g := s.grant(first.ActionID, anyText(s, first.ActionID), 3)
	want(t, s.call(`{"text":"a","amount":1}`), verbatim.StatusOK, verbatim.CodeOK) // the source, made again
	o := s.call(`{"text":"b","amount":10}`)
	want(t, o, verbatim.StatusOK, verbatim.CodeOK)
	want(t, s.call(`{"text":"c","amount":11}`), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	want(t, s.call(`{"amount":2}`), verbatim.StatusOK, verbatim.CodeOK)
	want(t, s.call(`{"amount":3}`), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired) // used up
	s.runs(3)
	if o.Standing != g.ID || !strings.Contains(string(o.Envelope()), `"standingGrant":"`+g.ID+`"`) {
		t.Errorf("the caller is not told what covered it: %+v", o)
	}
	if stored, err := s.Gate.Stored(t.Context(), "acme", o.ActionID); err != nil || stored.Standing != g.ID {
		t.Errorf("nor when it asks again: %+v, %v", stored, err)
	}
	by, err := s.Gate.CoveredBy(t.Context(), "acme", o.ActionID)
	if err != nil || by.ID != g.ID || by.Uses != 3 {
		t.Fatalf("covered by %+v, %v", by, err)
	}
	if votes, err := s.Gate.Votes(t.Context(), "acme", o.ActionID); err != nil || len(votes) != 0 {
		t.Fatalf("votes on a covered call: %v, %v", votes, err)
	}
}

// B13: "allow all" on the first of five parallel calls did not apply to the
// four that were waiting.
func TestCaseB13AGrantIsForWhatWaitsAlready(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("read_email", `{"type":"object","properties":{"id":{"type":"integer"}}}`), policy: asksAdmin()})
	session, outcomes := s.Session(), make([]verbatim.Outcome, 5)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() {
			outcomes[i], _ = s.Gate.Call(t.Context(), session, verbatim.Call{Tool: s.name, Arguments: fmt.Appendf(nil, `{"id":%d}`, i+1), Wait: time.Minute})
		})
	}
	s.eventually("five calls wait", func() bool { return len(s.rows()) == 5 })
	other := s.Session()
	other.Agent = "another"
	want(t, s.as(other, verbatim.Call{Arguments: []byte(`{"id":9}`)}), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	var source string
	for _, a := range s.rows() {
		if a.Agent == session.Agent {
			source = a.ID
		}
	}
	g := s.grant(source, action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/id", Rule: action.RuleAny}}}, 20)
	wg.Wait()
	for i, o := range outcomes {
		if o.Status != verbatim.StatusOK {
			t.Errorf("call %d: %s %s", i+1, o.Status, o.Code)
		}
	}
	s.runs(5)
	approved := 0
	records, err := s.Gate.Records(t.Context(), audit.Filter{Tenant: "acme", Event: audit.ActionApproved})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		approved++
		if r.By != g.ID || r.Facts["standing"] != g.ID {
			t.Errorf("the record of %s says %s, not the grant", r.Action, r.By)
		}
	}
	if approved != 5 {
		t.Errorf("%d records of approvals", approved)
	}
}

func TestNoStandingGrantForHighImpact(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: financial("pay", noteSchema), policy: asksAdmin()})
	o := s.call(`{"amount":1}`)
	scope := action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/amount", Rule: action.RuleAny}}}
	if _, err := s.Gate.DraftGrant(t.Context(), "acme", o.ActionID, scope, 1, time.Hour); !errors.Is(err, action.ErrStanding) {
		t.Fatalf("a draft for high impact: %v", err)
	}
	raised := answering(policy.Decision{Effect: policy.RequireApproval, Reason: "r", RaiseImpact: true,
		Approval: &policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: "admin", Votes: 1})}}})
	up := newStage(t, parts{policy: raised})
	o = up.call(`{"amount":1}`)
	if _, err := up.Gate.DraftGrant(t.Context(), "acme", o.ActionID, scope, 1, time.Hour); !errors.Is(err, action.ErrStanding) {
		t.Fatalf("a draft where policy raised the impact: %v", err)
	}
}

func TestASignatureThatDoesNotHoldGrantsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: asksAdmin()})
	o := s.call(`{"amount":1}`)
	a := s.state(o.ActionID, action.PendingApproval)
	g := s.draft(o.ActionID, action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/amount", Rule: action.RuleAny}}}, 1)
	forged := s.signature(g, "ada")
	forged.Voter = "bob"
	if _, err := s.Gate.Grant(t.Context(), g, forged); err == nil {
		t.Error("somebody else's signature")
	}
	wider := g
	wider.MaxUses = 1000
	wider.Digest = approval.StandingDigest(wider)
	wider.ID = approval.StandingID(wider.Digest)
	v := s.signature(g, "ada")
	v.Digest = wider.Digest
	if _, err := s.Gate.Grant(t.Context(), wider, v); err == nil {
		t.Error("a signature of a narrower grant")
	}
	onAction := s.Sign(action.Vote{ActionID: o.ActionID, Voter: "ada", Approve: true, Digest: g.Digest, Nonce: "n", Method: "password"})
	if _, err := s.Gate.Vote(t.Context(), onAction); !errors.Is(err, action.ErrDigest) {
		t.Errorf("a grant's signature as a vote on the action: %v", err)
	}
	onGrant := s.Sign(action.Vote{ActionID: g.ID, Voter: "ada", Approve: true, Digest: a.Terms.Digest, Nonce: "n", Method: "password"})
	if _, err := s.Gate.Grant(t.Context(), g, onGrant); !errors.Is(err, action.ErrDigest) {
		t.Errorf("a vote on the action as a grant's signature: %v", err)
	}
	s.runs(0)
}

func TestAGrantThatWasChangedInTheStoreRunsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: asksAdmin()})
	o := s.call(`{"amount":1}`)
	s.grant(o.ActionID, action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/amount", Rule: action.RuleAny}}}, 5)
	s.store.votes = func(vs []action.Vote) []action.Vote { vs[0].Voter = "bob"; return vs }
	want(t, s.call(`{"amount":1}`), verbatim.StatusDenied, verbatim.CodeApprovalUnverified)
	s.store.votes = func([]action.Vote) []action.Vote { return nil }
	want(t, s.call(`{"amount":2}`), verbatim.StatusDenied, verbatim.CodeApprovalUnverified)
	s.runs(0)
}

func TestARevokedGrantStopsWhatItApproved(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: asksAdmin()})
	o := s.call(`{"amount":1}`)
	g := s.grant(o.ActionID, action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/amount", Rule: action.RuleAny}}}, 5)
	if _, err := s.Gate.RevokeGrant(t.Context(), "acme", g.ID, "zoe"); !errors.Is(err, action.ErrIneligible) {
		t.Fatalf("revoked by a stranger: %v", err)
	}
	if _, err := s.Gate.RevokeGrant(t.Context(), "acme", g.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	stale := s.call(`{"amount":1}`) // approved before, and not run yet
	want(t, stale, verbatim.StatusDenied, verbatim.CodeApprovalStale)
	if stale.Member != "standingGrant" {
		t.Errorf("member %q", stale.Member)
	}
	want(t, s.call(`{"amount":1}`), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.runs(0)
	_, votes, err := s.Gate.StandingGrant(t.Context(), "acme", g.ID)
	if err != nil || len(votes) != 1 {
		t.Fatalf("%v, %v", votes, err)
	}
	if all, err := s.Gate.Grants(t.Context(), action.StandingFilter{Tenant: "acme"}); err != nil || len(all) != 1 || all[0].RevokedBy != "bob" {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := json.Marshal(stale); err != nil {
		t.Fatal(err)
	}
}

func TestPolicyDecidesOnEveryCallUnderAGrant(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[policy.Engine]
	set := func(e policy.Engine) { answer.Store(&e) }
	set(asksAdmin())
	s := newStage(t, parts{policy: policy.FromFunc("v1", func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		return (*answer.Load()).Decide(ctx, in)
	})})
	o := s.call(`{"amount":1}`)
	scope := action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/amount", Rule: action.RuleAny}}}
	s.grant(o.ActionID, scope, 5)
	want(t, s.call(`{"amount":1}`), verbatim.StatusOK, verbatim.CodeOK)
	set(decide(policy.Deny))
	want(t, s.call(`{"amount":2}`), verbatim.StatusDenied, verbatim.CodePolicyDenied)
	set(needing(policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: "admin", Votes: 2})}}))
	want(t, s.call(`{"amount":3}`), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.runs(1)
}
