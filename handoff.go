package verbatim

import (
	"bytes"
	"context"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Handoff walks one proposed transfer of control. Where it is allowed, the
// outcome's Output is the frozen payload, and the host makes the transfer.
func (g *Gate) Handoff(ctx context.Context, s Session, h Handoff) (Outcome, error) {
	c := Call{Trace: h.Trace}
	g.observing(s, &c, action.KindHandoff)
	h.walked = c.walked
	o, err := g.walkHandoff(ctx, s, h)
	g.observed(ctx, h.walked, o, err)
	return g.deliver(g.promise(ctx, s, o, err), err)
}

func (g *Gate) walkHandoff(ctx context.Context, s Session, h Handoff) (Outcome, error) {
	c := Call{Tool: h.To, Arguments: h.Payload, Approval: h.Approval,
		IdempotencyKey: h.IdempotencyKey, Turn: h.Turn, RunContext: h.RunContext, walked: h.walked}
	p, err := g.proposeHandoff(ctx, s, c)
	c.walked.found(p)
	if err != nil {
		return g.reject(ctx, s, c, err)
	}
	return g.settle(ctx, p)
}

// proposeHandoff shares strict decoding and freezing with calls.
func (g *Gate) proposeHandoff(ctx context.Context, s Session, c Call) (*proposal, error) {
	if err := s.Validate(); err != nil {
		return nil, &sessionError{err}
	}
	now, err := g.cfg.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	request, err := decode.Arguments(c.Arguments, decode.Options{})
	if err != nil {
		return nil, &inputError{StageJSON, "", err}
	}
	frozen, err := snapshot.Freeze(request)
	if err != nil {
		return nil, &inputError{StageSnapshot, "", err}
	}
	if err := agentName(c.Tool); err != nil {
		return nil, &inputError{StageSnapshot, "", err}
	}
	h := snapshot.ProposeHandoff(s.Agent, c.Tool, frozen)
	c.Arguments = bytes.Clone(c.Arguments)
	p := &proposal{session: s, call: c, policy: g.engine(), now: now, raw: c.Arguments, request: request, handoff: &h,
		tool: handoffTool(c.Tool), handler: execute.HandlerFunc(givePayload)}
	p.frozen.Args, p.frozen.Hash = frozen, h.Hash
	p.mark = fingerprint(p)
	return p, nil
}

// agentName: a handoff names a whole agent, so its name must be plain.
func agentName(name string) error {
	if err := (Session{Tenant: "t", Principal: "p", Agent: name}).Validate(); err != nil {
		return canon.Refuse("", "agent_name", "the name of an agent")
	}
	return nil
}

// handoffTool stands for the transfer: it changes nothing by itself.
func handoffTool(to string) *catalog.Tool {
	return &catalog.Tool{Name: to, Cataloged: true, Impact: catalog.Ordinary, Timeout: catalog.DefaultTimeout}
}

func givePayload(_ context.Context, in execute.Input) (execute.Output, error) {
	return execute.Output{Bytes: in.JSON()}, nil
}
