package verbatim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/policy"
)

// claimLease is how long a claim lasts while the approval is checked again.
const claimLease = 30 * time.Second

// resume runs an approved action after everything that its approval binds was
// computed again from the call's own bytes. Policy has run again with the
// approval as evidence; d is what it said.
func (g *Gate) resume(ctx context.Context, p *proposal, d policy.Decision, a action.Action) (Outcome, error) {
	code, member, err := g.recheck(ctx, p, d, a)
	if code == "" && err == nil {
		code, err = g.verify(ctx, a)
	}
	if err == nil {
		err = ctx.Err() // a caller that has gone voids nothing
	}
	if err != nil {
		return outcomeOf(a), err
	}
	claimed, err := g.cfg.Store.Claim(ctx, a.ID, claimLease)
	if err != nil {
		return g.obstacle(p, claimed, err)
	}
	if code == "" {
		return g.run(ctx, p, claimed)
	}
	claimed.Decision.PublicReason = "" // it belongs to the request for approval
	if member != memberDecision {
		return g.void(ctx, claimed, code, member, "")
	}
	claimed.Decision.PublicReason, claimed.Decision.ResultMode, claimed.Decision.Rules = d.PublicReason, string(d.ResultMode), d.Rules
	return g.void(ctx, claimed, code, member, d.Reason)
}

// memberDecision is what differs where policy now denies.
const memberDecision = "decision"

// recheck says what no longer holds: a code and the member, or "". It fails
// only where the store does.
func (g *Gate) recheck(ctx context.Context, p *proposal, d policy.Decision, a action.Action) (Code, string, error) {
	code, member, err := g.compare(ctx, a, p)
	switch {
	case err != nil || code != "":
		return code, member, err
	case d.Effect == policy.Deny:
		return Code(d.Code), memberDecision, nil
	case d.Effect == policy.RequireApproval && !covers(*a.Terms, *d.Approval):
		return CodeApprovalStale, "requirements", nil
	}
	if code, name := g.count(p); code != "" {
		return code, name, nil
	}
	if code, member := g.previewAgain(ctx, p, a); code != "" {
		return code, member, nil
	}
	code, member, err = g.aged(ctx, p, d)
	if code == CodePolicyChanged { // here it is an approval that no longer holds
		code = CodeApprovalStale
	}
	return code, member, err
}

// previewAgain makes the dry run once more where the catalog asks for it.
func (g *Gate) previewAgain(ctx context.Context, p *proposal, a action.Action) (Code, string) {
	dry := p.tool.DryRun
	if dry == nil || !dry.Required || !dry.Recheck {
		return "", ""
	}
	again, ok := g.preview(ctx, p)
	switch {
	case !ok:
		return CodeDryRunFailed, "dryRunDigest"
	case again.digest != a.Terms.Preview:
		return CodeApprovalStale, "dryRunDigest"
	}
	return "", ""
}

// covers: the approval asked for exactly what policy asks for now.
func covers(had action.Terms, want policy.Approval) bool {
	return (had.StepUp || !want.StepUp) && slices.EqualFunc(had.Requirements, want.Requirements,
		func(a, b action.Requirement) bool { return slices.Equal(a.AnyOf, b.AnyOf) })
}

// verify checks the votes' signatures at the last moment before the claim; an
// approved action takes no more votes. The store checks in the commit point's
// transaction that the voters may still vote.
func (g *Gate) verify(ctx context.Context, a action.Action) (Code, error) {
	if approval.Digest(a) != a.Terms.Digest {
		return CodeApprovalUnverified, nil
	}
	votes, whole, err := g.signatures(ctx, a)
	if err != nil {
		return "", err
	}
	if !whole {
		return CodeApprovalUnverified, nil
	}
	switch err := approval.CheckVotes(ctx, g.cfg.Votes, votes); {
	case errors.Is(err, approval.ErrUnchecked): // this try is over, the approval is not
		return "", err
	case err != nil:
		return CodeApprovalUnverified, nil
	}
	return "", nil
}

// void ends a claimed action as denied: its approval is of no use any more.
// why is what the record says beside code and member.
func (g *Gate) void(ctx context.Context, a action.Action, code Code, member, why string) (Outcome, error) {
	a.Decision.Effect, a.Decision.Code = policy.Deny.String(), string(code)
	a.Decision.Reason = strings.TrimRight(string(code)+": "+member+": "+why, ": ")
	a, err := g.cfg.Store.Decide(ctx, a)
	if errors.Is(err, action.ErrState) || errors.Is(err, action.ErrFence) { // another holder was faster: the row says what won
		return outcomeOf(a), nil
	}
	o := outcomeOf(a)
	o.Member = member
	return o, err
}

// approvalFacts is the evidence that policy sees. Whether the approval covers
// exactly this call is computed before policy runs; recheck asks again after
// it, and nothing runs where the answer is no.
func (g *Gate) approvalFacts(ctx context.Context, p *proposal, a action.Action) (*policy.ApprovalFacts, error) {
	code, _, err := g.compare(ctx, a, p)
	if err != nil {
		return nil, err
	}
	votes, _, err := g.signatures(ctx, a)
	if err != nil {
		return nil, err
	}
	facts := &policy.ApprovalFacts{ID: a.ID, Exact: code == ""}
	for _, v := range votes {
		if v.Approve {
			facts.Voters = append(facts.Voters, v.Voter)
		}
	}
	return facts, nil
}
