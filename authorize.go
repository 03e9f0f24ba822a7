package verbatim

import (
	"context"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/permit"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// Authorization is what became of a call that its caller wants to run.
type Authorization struct {
	Outcome Outcome
	// Warrant is the DSSE envelope for the executor (docs/spec/warrant.md). It
	// is nil unless the code is CodeAuthorized, and is given out once: neither a
	// repeated nor a joined call gets it again.
	Warrant []byte
	Args    string    // argsCanonicalJson: what the executor must be given
	SendBy  time.Time // the send deadline: at most 30 s after the commit point
}

// Authorize walks one proposed call through every step of [Gate.Call] and
// stops where the tool would be called: the approval is consumed, limits and
// key are reserved, and the attempt is durable, before the warrant leaves. The
// caller has the executor run it and says how it ended with [Gate.Report]; an
// attempt of which nobody reports becomes uncertain. Whoever asks again counts
// as somebody whose first request is gone: two effects that are both wanted
// need a key each.
//
// A tool whose [Bound] names no audience is no_executor. The error is as that
// of Call.
func (g *Gate) Authorize(ctx context.Context, s Session, c Call) (Authorization, error) {
	hand := &handover{}
	other := *g
	other.hand = hand
	o, err := other.Call(ctx, s, c)
	if o.Code != CodeAuthorized {
		return Authorization{Outcome: o}, err
	}
	return Authorization{Outcome: o, Warrant: hand.warrant, Args: hand.args, SendBy: hand.sendBy}, err
}

// handover stands in the place of the run: what may start is given to the
// caller. It is of one call.
type handover struct {
	warrant []byte
	args    string
	sendBy  time.Time
}

// reportSlack is how long after the tool's time an outcome may still come.
const reportSlack = leaseSlack + warrant.MaxLife

// start words the commit point of a run.
func (g *Gate) start(p *proposal, a action.Action) action.Start {
	s := action.Start{Action: a, Lease: timeout(p.tool) + leaseSlack, Limits: p.limits, Server: p.server}
	if g.hand != nil {
		s.Lease, s.Server = timeout(p.tool)+reportSlack, handedTo(p.audience)
		// Nobody waits for the answer of a run that is somebody else's. A new row
		// says so from the start, which saves it a commit of its own.
		s.Action.CallerGone = s.Action.Fence == 0
	}
	if g.hand != nil || g.warrants(p.audience) {
		s.Action.Executor = p.audience
	}
	return s
}

// warrants: what is sent to an executor goes with a warrant.
func (g *Gate) warrants(audience string) bool { return g.cfg.Warrants != nil && audience != "" }

// handedTo names who was sent an attempt that its caller runs. No server that
// the gate itself sends to has such a name, so the gate neither asks one about
// it nor sends it again.
func handedTo(audience string) canon.Digest {
	var room [128]byte
	return canon.Sum(append(canon.AppendText(append(room[:0], `["warrant",`...), audience), ']'))
}

// give hands an attempt that has passed the commit point to the caller. Where
// no warrant can leave, nothing can have been sent.
func (g *Gate) give(ctx context.Context, p *proposal, a action.Action, h *ahead) (Outcome, error) {
	kept := context.WithoutCancel(ctx)
	err := ctx.Err()
	var text, receipt []byte
	var sendBy time.Time
	if err == nil {
		text, sendBy, receipt, err = h.given(kept, a)
	}
	if err != nil {
		g.log.Error("no warrant could be given out", "action", a.ID, "error", err)
		end := execute.NotRun(errors.New("no warrant left the gateway"))
		now, err := g.cfg.Store.Finish(kept, action.Ending{ID: a.ID, Fence: a.Fence, State: end.State, Result: end.Result})
		g.changes.tell(a.ID)
		return outcomeOf(now), err
	}
	if !a.CallerGone { // an approved row was there before
		g.leave(kept, a.ID)
	}
	return g.handed(p, a, text, sendBy, receipt), nil
}

// giveRead hands an allowed read to the caller once its decision is recorded.
// There is no row, so there is nothing to report.
func (g *Gate) giveRead(ctx context.Context, p *proposal, d policy.Decision) (Outcome, error) {
	row := g.row(p, d, nil)
	row.Executor = p.audience
	_, err := g.cfg.Store.Decide(context.WithoutCancel(ctx), row)
	if errors.Is(err, action.ErrStopped) {
		return g.refuse(ctx, p, d, CodeStopped, "")
	}
	var now time.Time
	if err == nil {
		now, err = g.cfg.Store.Now(ctx)
	}
	var text []byte
	w := warrantOf(p.audience, p.tool, basisOf(row, now), warrant.Read)
	if err == nil {
		text, err = g.signWarrant(ctx, w)
	}
	if err != nil {
		return Outcome{Tool: p.name()}, err
	}
	o := g.handed(p, row, text, w.SendBy, nil)
	o.State, o.read = "", true
	return o, nil
}

// handed is the outcome of what its caller may run.
func (g *Gate) handed(p *proposal, a action.Action, text []byte, sendBy time.Time, receipt []byte) Outcome {
	g.hand.warrant, g.hand.args, g.hand.sendBy = text, p.frozen.Args.Text(), sendBy
	o := outcomeOf(a)
	o.Status, o.Code, o.Receipt = StatusInProgress, CodeAuthorized, receipt
	return o
}

// basis is what a row gives to a warrant.
type basis struct {
	id, tenant, principal, agent, tool, args string
	attempt                                  int
	fence                                    int64
	at                                       int64 // milliseconds since 1970, by the database's clock
}

func basisOf(a action.Action, at time.Time) basis {
	return basis{a.ID, a.Tenant, a.Principal, a.Agent, a.Tool, a.Payload.Args, a.Attempt, a.Fence, at.UnixMilli()}
}

// warrantOf says what an executor may start.
func warrantOf(audience string, tool *catalog.Tool, of basis, kind warrant.Kind) warrant.Warrant {
	now := time.UnixMilli(of.at).UTC()
	var room [1 << 10]byte
	w := warrant.Warrant{Audience: audience, Kind: kind, Tenant: of.tenant, Principal: of.principal, Agent: of.agent,
		Tool: of.tool, Action: of.id, Proposal: warrant.ProposalHash(of.agent, of.tool, of.args), Args: canon.Sum(append(room[:0], of.args...)),
		Errors: warrant.Reported, IssuedAt: now, SendBy: now.Add(warrant.MaxLife)}
	if kind == warrant.Mutation {
		if tool.Errors == catalog.ErrorsUnclear {
			w.Errors = warrant.Unclear
		}
		w.Attempt, w.Fence, w.ProviderKey = of.attempt, of.fence, action.ProviderKey(of.id, of.attempt)
	}
	return w
}

// bearing gives a permit the warrant that the executor wants to see; where it
// takes none, the permit stays as it is. The row says what is sent.
func (g *Gate) bearing(ctx context.Context, pm permit.Permit, audience string, tool *catalog.Tool, a action.Action) (permit.Permit, error) {
	if !g.warrants(audience) {
		return pm, nil
	}
	kind, now := warrant.Mutation, a.UpdatedAt
	if pm.Kind() != permit.Mutation {
		if kind = warrant.Read; pm.Kind() == permit.Preview {
			kind = warrant.Preview
		}
		var err error
		if now, err = g.cfg.Store.Now(ctx); err != nil {
			return pm, err
		}
	}
	text, err := g.signWarrant(ctx, warrantOf(audience, tool, basisOf(a, now), kind))
	return pm.Bearing(text), err
}

func (g *Gate) signWarrant(ctx context.Context, w warrant.Warrant) ([]byte, error) {
	var err error
	if w.Issuer, err = g.origin.get(ctx, g.cfg.Store); err != nil {
		return nil, err
	}
	return w.Sign(g.cfg.Warrants)
}
