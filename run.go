package verbatim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/permit"
	"github.com/seed-de4804fb/verbatim/policy"
)

// leaseSlack is how long after the tool's timeout a sweeper waits before it
// calls a silent run uncertain.
const leaseSlack = 15 * time.Second

// run passes the commit point, runs the tool once and stores how it ended.
// The row is new and allowed, or claimed and approved.
func (g *Gate) run(ctx context.Context, p *proposal, a action.Action) (Outcome, error) {
	sendBy := time.Now().Add(leaseSlack) // taken first: the tool's time then ends before the lease
	done := p.call.walked.step(StepBegin)
	start := g.start(p, a)
	var h *ahead
	if g.hand != nil {
		h = &ahead{gate: g, of: p}
		start.Written = h.signs(ctx)
	}
	started, err := g.cfg.Store.Begin(ctx, start)
	done()
	if err != nil {
		return g.notBegun(ctx, p, a, started, err)
	}
	a = started
	if g.hand != nil {
		return g.give(ctx, p, a, h)
	}
	t := attempt{row: a, tool: p.tool, handler: p.handler, audience: p.audience, sendBy: sendBy}
	running := p.call.walked.step(StepRun)
	g.runs.Add(1)
	u := g.begun(context.WithoutCancel(ctx), t)
	if u.wait(ctx.Done()) {
		defer g.runs.Done()
		defer running()
		return u.end(), nil
	}
	go func() { // the run goes on; only its caller is gone
		defer g.runs.Done()
		u.wait(nil)
		u.end()
		running()
	}()
	g.leave(ctx, a.ID)
	return outcomeOf(a), nil
}

// notBegun words why the commit point refused. A claimed action that it
// refused ends as denied, so that nothing looks as if it ran; a new one gets
// a row that says why. An unknown end of the commit leaves the row to the
// sweeper, and nothing was sent.
func (g *Gate) notBegun(ctx context.Context, p *proposal, a, inTheWay action.Action, err error) (Outcome, error) {
	code, member := CodeApprovalStale, ""
	var full *action.LimitError
	switch {
	case errors.As(err, &full):
		code, member = CodeLimitExceeded, full.Name
	case errors.Is(err, action.ErrStale): // this process may only have remembered an old version
		g.epochs.forget()
		member = "policyVersion"
	case errors.Is(err, action.ErrStanding):
		member = "standingGrant"
	case errors.Is(err, action.ErrIneligible):
		member = "votes"
	case errors.Is(err, action.ErrStopped):
		code = CodeStopped
	case errors.Is(err, action.ErrUncertain) && a.State == action.Claimed:
		if _, err := g.void(ctx, a, CodeApprovalStale, "supersedes", ""); err != nil {
			return outcomeOf(a), err
		}
		return g.obstacle(p, inTheWay, err)
	default:
		if inTheWay.ID == "" {
			inTheWay = a
		}
		return g.obstacle(p, inTheWay, err)
	}
	if a.State == action.Claimed {
		return g.void(ctx, a, code, member, "")
	}
	if code == CodeApprovalStale { // there was no approval
		code = CodePolicyChanged
	}
	return g.refuse(ctx, p, policy.Decision{PolicyVersion: a.Decision.PolicyVersion, Rules: a.Decision.Rules}, code, member)
}

// attempt is one run that has passed the commit point.
type attempt struct {
	row     action.Action
	tool    *catalog.Tool
	handler execute.Handler
	// audience is the executor's name in a warrant; "" if it takes none.
	audience string
	sendBy   time.Time // the tool is not called any later
	again    bool      // it was sent before
}

func (t attempt) permit() permit.Permit {
	kind := permit.Mutation
	if !t.tool.Mutation {
		kind = permit.Read
	}
	return permit.Issue(kind, t.row.ID, t.row.Fence, action.ProviderKey(t.row.ID, t.row.Attempt), t.row.Payload.Args)
}

// underway is an attempt whose tool has been called.
type underway struct {
	attempt
	gate    *Gate
	ctx     context.Context // of the run, which its caller does not end
	running *execute.Started
	how     execute.Ended // once it has ended
	stored  chan struct{} // a late answer waits for the end that it corrects
}

// begun calls the tool. What could not be called has ended.
func (g *Gate) begun(ctx context.Context, t attempt) *underway {
	u := &underway{attempt: t, gate: g, ctx: ctx, stored: make(chan struct{})}
	pm, err := g.bearing(ctx, t.permit(), t.audience, t.tool, t.row)
	if err == nil {
		u.running, err = execute.Start(ctx, pm, t.handler, execute.Options{
			Timeout: timeout(t.tool), SendBy: t.sendBy, ErrorsUnclear: t.tool.Errors == catalog.ErrorsUnclear,
			Late: func(e execute.Ended) { <-u.stored; g.late(ctx, t.row, e) },
		})
	}
	if err != nil {
		u.how = execute.NotRun(err)
	}
	return u
}

// wait reports whether the tool has ended; false once gone is closed.
func (u *underway) wait(gone <-chan struct{}) (over bool) {
	if u.running == nil {
		return true
	}
	u.how, over = u.running.Wait(gone)
	return over
}

// end stores how a tool ended. If that cannot be stored the answer is
// uncertain, and the sweeper will say so in the store.
func (u *underway) end() Outcome {
	defer close(u.stored)
	g, a, how := u.gate, u.row, u.how
	if u.again && how.State != action.Succeeded {
		how = unsettled(how)
	}
	now, err := g.cfg.Store.Finish(u.ctx, action.Ending{ID: a.ID, Fence: a.Fence, State: how.State, Result: how.Result})
	g.changes.tell(a.ID)
	if err == nil {
		return g.receipted(outcomeOf(now), now.Leaf)
	}
	g.log.Error("the outcome could not be recorded", "action", a.ID, "error", err)
	a.State = action.Uncertain
	return outcomeOf(a)
}

// unsettled: what was sent again and did not succeed says nothing of the
// first time.
func unsettled(e execute.Ended) execute.Ended {
	e.State, e.Result.Evidence = action.Uncertain, ""
	e.Result.Detail = "sent again: " + e.Result.Detail
	return e
}

// late records an answer that came after the run was called uncertain. The
// store takes a success as evidence and nothing else.
func (g *Gate) late(ctx context.Context, a action.Action, e execute.Ended) {
	if e.State != action.Succeeded {
		return
	}
	_, err := g.cfg.Store.Finish(ctx, action.Ending{ID: a.ID, Fence: a.Fence, State: e.State, Result: e.Result})
	if err != nil {
		g.log.Error("a late answer could not be recorded", "action", a.ID, "error", err)
	}
	g.changes.tell(a.ID)
}

func timeout(t *catalog.Tool) time.Duration {
	if t.Timeout <= 0 {
		return catalog.DefaultTimeout
	}
	return t.Timeout
}

// read runs an allowed read and records the decision beside it: nobody gets
// the answer before the record is committed (semantics §9). There is no row:
// a read changes nothing that could be uncertain.
func (g *Gate) read(ctx context.Context, p *proposal, d policy.Decision) (Outcome, error) {
	if g.hand != nil {
		return g.giveRead(ctx, p, d)
	}
	row := g.row(p, d, nil)
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	var refused error
	record := func() {
		once.Do(func() {
			if _, refused = g.cfg.Store.Decide(context.WithoutCancel(ctx), row); refused != nil {
				cancel() // nobody will get the answer
			}
		})
	}
	pm := permit.Issue(permit.Read, row.ID, 0, "", p.frozen.Args.Text())
	done := p.call.walked.step(StepRun)
	var end execute.Ended
	var err error
	if g.warrants(p.audience) { // it does not leave before the decision is recorded
		row.Executor = p.audience
		record()
		pm, err = g.bearing(ctx, pm, p.audience, p.tool, row)
	}
	if err == nil && refused == nil {
		end, err = execute.Run(reading, pm, p.handler, execute.Options{Timeout: timeout(p.tool), Beside: record})
	}
	if err != nil {
		end = execute.NotRun(err)
	}
	record() // or wait for it
	done()
	if errors.Is(refused, action.ErrStopped) {
		return g.refuse(ctx, p, d, CodeStopped, "")
	}
	if refused != nil {
		return Outcome{Tool: p.name()}, refused
	}
	row.State, row.Result = end.State, &end.Result
	o := outcomeOf(row)
	o.read = true
	return o, nil
}
