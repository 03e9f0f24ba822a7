package replay

import (
	"context"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Candidate is a policy that recorded calls are decided under again.
type Candidate struct {
	Engine policy.Engine
	// Tool finds a tool of the catalog that the engine was loaded for.
	Tool func(name string) (*catalog.Tool, bool)
	// Approvers are the groups of the configuration, for tools whose catalog
	// entry names none.
	Approvers []action.Requirement
	// NoRunContext: the engine never reads the run context, as Cedar cannot.
	// Without it, calls that had one are unreplayable.
	NoRunContext bool
}

// byPolicy are the codes of denials that policy makes, or fails to make. All
// other codes are of something that refuses whatever policy says.
var byPolicy = map[string]bool{
	ruleDenied: true, policy.ReasonNoMatchingRule: true, policy.ReasonError: true, policy.ReasonTimeout: true,
	policy.ReasonInvalidResult: true, policy.ReasonMutatedArguments: true, policy.ReasonNotConfigured: true,
}

// Judge decides one recorded call again. It never fails: whatever keeps the
// call from being decided is its verdict.
func (c Candidate) Judge(ctx context.Context, a action.Action) Verdict {
	v := Verdict{Action: a.ID, Tenant: a.Tenant, Tool: a.Tool, Agent: a.Agent, At: a.CreatedAt, State: a.State, Was: was(a), Void: c.void(a), callID: a.CallID}
	if v.Was.Decision == policy.Deny.String() && !byPolicy[a.Decision.Code] {
		v.Kind, v.Is = Runtime, v.Was
		return v
	}
	in, groups, why := c.input(a)
	if why != "" {
		v.Kind, v.Why = Unreplayable, why
		v.Is.Rules = []string{}
		return v
	}
	v.answer(policy.HighImpact(policy.Evaluate(ctx, c.Engine, in, policy.MaxTimeout), in.Tool, groups))
	return v
}

// Weigh asks the candidate about a call that the live policy has just decided
// on, from the same input and within a time. groups are those that HighImpact
// was given for the live decision. It says how the candidate failed where it
// did, by the runtime reason; such a failure denies, as it would live.
func (c Candidate) Weigh(ctx context.Context, in policy.Input, groups []action.Requirement, live policy.Decision, timeout time.Duration) (v Verdict, failed string) {
	v = Verdict{Tenant: in.Session.Tenant, Tool: in.Tool.Name, Agent: in.Session.Agent, At: in.Now, Was: is(live)}
	if in.Handoff != nil {
		v.Tool = in.Handoff.ToAgentName
	}
	if in.RunContext != nil && !c.NoRunContext {
		v.Kind, v.Why, v.Is.Rules = Unreplayable, WhyRunContext, []string{}
		return v, ""
	}
	d := policy.Evaluate(ctx, c.Engine, in, timeout)
	v.answer(policy.HighImpact(d, in.Tool, groups))
	if d.Effect == policy.Deny && d.Code != policy.ReasonNoMatchingRule && byPolicy[d.Code] && d.Code != ruleDenied {
		failed = d.Code
	}
	return v, failed
}

func (v *Verdict) answer(d policy.Decision) {
	v.Is = is(d)
	v.Kind = compare(v.Was, v.Is)
}

// void reports whether an open approval binds other rules than the
// candidate's. What is bound is the digest of the rules, then an epoch, which
// moves only when the digest does.
func (c Candidate) void(a action.Action) bool {
	if a.State != action.PendingApproval && a.State != action.Approved && a.State != action.Claimed {
		return false
	}
	bound, _, _ := strings.Cut(a.Decision.PolicyVersion, ".")
	return bound == "" || !strings.HasPrefix(canon.Sum([]byte(c.Engine.Version(a.Tool))).String(), bound)
}

// input is what the first decision was made on, or why that is not known.
func (c Candidate) input(a action.Action) (in policy.Input, groups []action.Requirement, why string) {
	facts, why := recorded(a)
	switch {
	case why != "":
		return in, nil, why
	case facts.RunContext && !c.NoRunContext:
		return in, nil, WhyRunContext
	}
	args, err := snapshot.Thaw(a.Payload.Args)
	if err != nil {
		return in, nil, WhyUnreadable
	}
	requested, err := canon.DecodeText(a.Payload.Requested, canon.Options{MaxBytes: canon.CeilingBytes,
		MaxDepth: canon.CeilingDepth, MaxNodes: canon.CeilingNodes})
	if err != nil {
		return in, nil, WhyUnreadable
	}
	in = policy.Input{RawArguments: a.Payload.Raw, Requested: requested, Turn: facts.Turn, Now: facts.Now,
		Session: identity.Session{Tenant: a.Tenant, Principal: a.Principal, Roles: facts.Roles, Agent: a.Agent, Owner: a.Owner,
			Task: a.Task, Grant: identity.Grant{ID: a.GrantID, Digest: a.GrantDigest}, Taint: facts.Taint}}
	if a.Kind == action.KindHandoff {
		h := snapshot.ProposeHandoff(a.Agent, a.Tool, args)
		in.Handoff = &h
		return in, c.Approvers, ""
	}
	groups, why = c.tool(a, facts)
	in.Tool, in.Proposal = facts.Tool, snapshot.Propose(a.Agent, a.Tool, args)
	in.Proposal.Targets, in.Proposal.Evidence, in.Proposal.Changes = a.Targets, a.Evidence, a.Changes
	return in, groups, why
}

// recorded reads the facts of a row.
func recorded(a action.Action) (policy.Facts, string) {
	switch {
	case !a.ErasedAt.IsZero():
		return policy.Facts{}, WhyErased
	case a.Payload.Facts == "":
		return policy.Facts{}, WhyFacts
	}
	facts, err := policy.ReadFacts(a.Payload.Facts)
	if err != nil {
		return policy.Facts{}, WhyUnreadable
	}
	return facts, ""
}

// tool compares the tool of then with that of the candidate's catalog, and
// says who approves it where policy names nobody.
func (c Candidate) tool(a action.Action, facts policy.Facts) ([]action.Requirement, string) {
	t, ok := c.Tool(a.Tool)
	switch {
	case !ok:
		return nil, WhyNoTool
	case t.Definition != a.Definition:
		return nil, WhyDefinition
	}
	now := policy.Tool{Name: t.Name, Mutation: t.Mutation, HighImpact: t.HighImpact(), Impact: string(t.Impact),
		Effect: string(t.Effect), Cataloged: t.Cataloged}
	if now != facts.Tool {
		return nil, WhyClass
	}
	if len(t.Groups) > 0 {
		return t.Groups, ""
	}
	return c.Approvers, ""
}
