package verbatim

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/policy"
)

// decide asks policy about the frozen proposal. found is the approval that
// this call resumes, as evidence; nil otherwise. It fails only where the
// store does; every failure of policy is a decision that denies.
func (g *Gate) decide(ctx context.Context, p *proposal, found *action.Action) (policy.Decision, error) {
	in := g.input(p)
	if found != nil {
		facts, err := g.approvalFacts(ctx, p, *found)
		if err != nil {
			return policy.Decision{}, err
		}
		in.Approval = facts
	}
	done := p.call.walked.step(StepDecide)
	d := g.evaluate(ctx, in, p)
	done()
	if err := ctx.Err(); err != nil { // the caller has gone; that is no decision
		return policy.Decision{}, err
	}
	g.watch(p, in, d, found)
	version, err := g.policyVersion(ctx, p)
	if version == "" && d.Effect != policy.Deny { // rules that cannot be named bind nothing
		d = refusal(CodePolicyError)
	}
	d.PolicyVersion = version
	p.call.walked.decided(d)
	return d, err
}

// Replaceable is an engine that can be replaced while calls run. A call asks
// once, so that the rules that decide are the rules whose version is stored.
type Replaceable interface {
	policy.Engine
	Current() policy.Engine
}

func (g *Gate) engine() policy.Engine {
	if r, ok := g.cfg.Policy.(Replaceable); ok {
		return r.Current()
	}
	return g.cfg.Policy
}

func (g *Gate) evaluate(ctx context.Context, in policy.Input, p *proposal) policy.Decision {
	d := policy.HighImpact(policy.Evaluate(ctx, p.policy, in, g.cfg.PolicyTimeout), in.Tool, g.approvers(p))
	if d.Code == "" {
		d.Code = string(effectCode(d.Effect))
	}
	return d
}

// approvers may approve a tool where policy names nobody.
func (g *Gate) approvers(p *proposal) []action.Requirement {
	if len(p.tool.Groups) > 0 {
		return p.tool.Groups
	}
	return g.cfg.Approvers
}

func effectCode(e policy.Effect) Code {
	switch e {
	case policy.Allow:
		return CodeOK
	case policy.RequireApproval:
		return CodeApprovalRequired
	default:
		return CodePolicyDenied
	}
}

func (g *Gate) input(p *proposal) policy.Input {
	return policy.Input{
		Proposal: p.frozen, Handoff: p.handoff, RawArguments: append([]byte(nil), p.raw...),
		Requested: p.request, Session: p.session, Tool: facts(p),
		Turn: p.call.Turn, RunContext: p.call.RunContext, Now: p.now,
	}
}

// facts is what policy may know of the catalog. A handoff is no tool.
func facts(p *proposal) policy.Tool {
	if p.handoff != nil {
		return policy.Tool{}
	}
	t := p.tool
	return policy.Tool{Name: t.Name, Mutation: t.Mutation, HighImpact: t.HighImpact(),
		Impact: string(t.Impact), Effect: string(t.Effect), Cataloged: t.Cataloged}
}

// refusal is a denial that the runtime makes without policy.
func refusal(c Code) policy.Decision {
	return policy.Decision{Effect: policy.Deny, Code: string(c), Reason: string(c)}
}

// deny records a denial and answers it.
func (g *Gate) deny(ctx context.Context, p *proposal, d policy.Decision) (Outcome, error) {
	a := g.row(p, d, nil)
	a.State = action.Denied
	stored, err := g.cfg.Store.Decide(ctx, a)
	if errors.Is(err, action.ErrKeyTaken) && p.refused != "" && !(stored.Fingerprint == p.mark && stored.State.Terminal()) {
		// The key of another call must not keep this refusal out of the record.
		a.Key = ""
		stored, err = g.cfg.Store.Decide(ctx, a)
	}
	if err != nil {
		return g.obstacle(p, stored, err)
	}
	return g.receipted(outcomeOf(stored), stored.Leaf), nil
}

// refuse records that an allowed call must not begin after all. It leaves the
// idempotency key free: what stands in the way may go.
func (g *Gate) refuse(ctx context.Context, p *proposal, d policy.Decision, code Code, member string) (Outcome, error) {
	unkeyed := *p
	unkeyed.call.IdempotencyKey = ""
	no := refusal(code)
	no.PolicyVersion, no.Rules = d.PolicyVersion, d.Rules
	no.Reason = string(code) + ": " + member
	o, err := g.deny(ctx, &unkeyed, no)
	o.Member = member
	return o, err
}

// row is a new action of a proposal under a decision.
func (g *Gate) row(p *proposal, d policy.Decision, preview *preview) action.Action {
	s := p.session
	a := action.Action{
		ID: ids.Ordered("act"), Kind: p.kind(), Tenant: s.Tenant, Principal: s.Principal,
		Agent: s.Agent, Owner: s.Owner, Task: s.Task, GrantID: s.Grant.ID, GrantDigest: s.Grant.Digest,
		Tool: p.name(), Definition: p.tool.Definition, Mutation: p.tool.Mutation,
		HighImpact: p.tool.HighImpact() || d.RaiseImpact,
		State:      action.Received, Fingerprint: p.mark, Hash: p.frozen.Hash,
		Targets: p.frozen.Targets, Evidence: p.frozen.Evidence, Changes: p.frozen.Changes,
		Key: p.call.IdempotencyKey, Supersedes: p.call.Supersedes,
		Model: p.call.Model, CallID: p.call.CallID,
		Decision: stored(d),
		Payload: action.Payload{Raw: p.call.Arguments, Requested: string(p.request.Canonical()),
			Args: p.frozen.Args.Text(), Facts: recorded(p, d)},
	}
	if p.handoff != nil {
		a.Hash = p.handoff.Hash
	}
	if preview != nil {
		a.Payload.Preview = preview.text
	}
	g.watchAs(p, a.ID)
	return a
}

// recorded is what a decision on the proposal may have read beside the rest
// of its row. What gets no row is not kept.
func recorded(p *proposal, d policy.Decision) string {
	if d.Effect == policy.Allow && !p.tool.Mutation {
		return ""
	}
	in := policy.Input{Session: p.session, Turn: p.call.Turn, Now: p.now, RunContext: p.call.RunContext, Tool: facts(p)}
	return in.Facts().Text()
}

func stored(d policy.Decision) action.Decision {
	return action.Decision{Effect: d.Effect.String(), Code: d.Code, Reason: d.Reason,
		PublicReason: d.PublicReason, ResultMode: string(d.ResultMode),
		PolicyVersion: d.PolicyVersion, Rules: d.Rules}
}

// epochs remembers the policy versions that the store gave out, so that a
// call costs no extra write. The commit point compares with the store.
type epochs struct {
	mu    sync.Mutex
	known map[ruled]epoch
}

// ruled is what a policy version is of.
type ruled struct{ tenant, tool string }

type epoch struct {
	digest  canon.Digest
	version string
}

func newEpochs() *epochs { return &epochs{known: map[ruled]epoch{}} }

func (e *epochs) get(key ruled, d canon.Digest) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	have, ok := e.known[key]
	return have.version, ok && have.digest == d
}

func (e *epochs) set(key ruled, d canon.Digest, version string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[key] = epoch{d, version}
}

func (e *epochs) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = map[ruled]epoch{}
}

// policyVersion is the digest of the rules that can apply to the tool with
// the tool's own epoch in the store. Rules that were replaced while the call
// walked get a version that no commit point takes: a call on its way must not
// bring them back.
func (g *Gate) policyVersion(ctx context.Context, p *proposal) (string, error) {
	tenant, tool := p.session.Tenant, p.name()
	digest, ok := rulesOf(p.policy, tool)
	if !ok {
		return "", nil
	}
	if !g.inForce(p) {
		return replacedVersion(digest), nil
	}
	key := ruled{tenant, tool}
	if version, ok := g.epochs.get(key, digest); ok {
		return version, nil
	}
	version, err := g.cfg.Store.SetPolicy(ctx, tenant, tool, digest)
	if err != nil {
		return "", err
	}
	if !g.inForce(p) {
		return replacedVersion(digest), nil
	}
	g.epochs.set(key, digest, version)
	return version, nil
}

// inForce reports whether the rules that this call asks still are the ones
// that apply to its tool.
func (g *Gate) inForce(p *proposal) bool {
	now := g.engine()
	if reflect.TypeOf(now) == reflect.TypeOf(p.policy) && reflect.ValueOf(now).Kind() == reflect.Pointer && now == p.policy {
		return true // the very engine; nothing to read
	}
	asked, ok := rulesOf(p.policy, p.name())
	present, still := rulesOf(now, p.name())
	return ok && still && asked == present
}

// replacedVersion is of epoch 0, which no store gives out.
func replacedVersion(digest canon.Digest) string { return digest.String()[:16] + ".0" }

// rulesOf is the digest of the rules of an engine that can apply to a tool.
// An engine that panics has none.
func rulesOf(e policy.Engine, tool string) (digest canon.Digest, ok bool) {
	if e == nil {
		return canon.Digest{}, false
	}
	defer func() {
		if recover() != nil {
			digest, ok = canon.Digest{}, false
		}
	}()
	return canon.Sum([]byte(e.Version(tool))), true
}
