package verbatim

import (
	"context"
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
	code, member := g.recheck(ctx, p, d, a)
	claimed, err := g.cfg.Store.Claim(ctx, a.ID, claimLease)
	if err != nil {
		return g.obstacle(claimed, err)
	}
	if code == "" {
		if code = g.verify(ctx, claimed); code == "" {
			return g.run(ctx, p, claimed)
		}
	}
	return g.void(ctx, claimed, code, member)
}

// recheck says what no longer holds: a code and the member, or "".
func (g *Gate) recheck(ctx context.Context, p *proposal, d policy.Decision, a action.Action) (Code, string) {
	if code, member := g.compare(ctx, a, p); code != "" {
		return code, member
	}
	if d.Effect == policy.Deny {
		return Code(d.Code), "decision"
	}
	if d.Effect == policy.RequireApproval && !covers(a.Terms.Requirements, d.Approval.Requirements) {
		return CodeApprovalStale, "requirements"
	}
	if dry := p.tool.DryRun; dry != nil && dry.Required && dry.Recheck {
		again, ok := g.preview(ctx, p)
		if !ok {
			return CodeDryRunFailed, "dryRunDigest"
		}
		if again.digest != a.Terms.Preview {
			return CodeApprovalStale, "dryRunDigest"
		}
	}
	return "", ""
}

// covers: the approval asked for exactly what policy asks for now.
func covers(had, want []action.Requirement) bool {
	if len(had) != len(want) {
		return false
	}
	for i := range had {
		if len(had[i].AnyOf) != len(want[i].AnyOf) {
			return false
		}
		for j := range had[i].AnyOf {
			if had[i].AnyOf[j] != want[i].AnyOf[j] {
				return false
			}
		}
	}
	return true
}

// verify checks the votes' signatures at the last moment before the commit
// point. The store checks in the same transaction that the voters may still
// vote.
func (g *Gate) verify(ctx context.Context, a action.Action) Code {
	if approval.Digest(a) != a.Terms.Digest {
		return CodeApprovalUnverified
	}
	votes, err := g.cfg.Store.Votes(ctx, a.Tenant, a.ID)
	if err != nil || approval.CheckVotes(g.cfg.Votes, votes) != nil {
		return CodeApprovalUnverified
	}
	return ""
}

// void ends a claimed action as denied: its approval is of no use any more.
func (g *Gate) void(ctx context.Context, a action.Action, code Code, member string) (Outcome, error) {
	a.Decision.Effect, a.Decision.Code = policy.Deny.String(), string(code)
	a.Decision.Reason = string(code) + ": " + member
	a, err := g.cfg.Store.Decide(ctx, a)
	o := outcomeOf(a)
	o.Member = member
	return o, err
}

func (g *Gate) approvalFacts(ctx context.Context, a action.Action) (*policy.ApprovalFacts, error) {
	votes, err := g.cfg.Store.Votes(ctx, a.Tenant, a.ID)
	if err != nil {
		return nil, err
	}
	facts := &policy.ApprovalFacts{ID: a.ID}
	for _, v := range votes {
		if v.Approve {
			facts.Voters = append(facts.Voters, v.Voter)
		}
	}
	return facts, nil
}
