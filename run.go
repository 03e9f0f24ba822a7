package verbatim

import (
	"context"
	"errors"
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
	started, err := g.cfg.Store.Begin(ctx, action.Start{Action: a, Lease: timeout(p.tool) + leaseSlack})
	if err != nil {
		return g.notBegun(ctx, a, started, err)
	}
	a = started
	kind := permit.Mutation
	if !p.tool.Mutation {
		kind = permit.Read
	}
	pm := permit.Issue(kind, a.ID, a.Fence, action.ProviderKey(a.ID, a.Attempt), a.Payload.Args)
	done := make(chan Outcome, 1)
	failed := make(chan error, 1)
	g.runs.Add(1)
	go func() {
		defer g.runs.Done()
		o, err := g.finish(context.WithoutCancel(ctx), p, a, pm)
		if err != nil {
			failed <- err
			return
		}
		done <- o
	}()
	select {
	case o := <-done:
		return o, nil
	case err := <-failed:
		return outcomeOf(a), err
	case <-ctx.Done(): // the run goes on; only its caller is gone
		return outcomeOf(a), g.leave(ctx, a.ID)
	}
}

// notBegun words why the commit point refused. A claimed action whose
// approval cannot hold any more ends as denied.
func (g *Gate) notBegun(ctx context.Context, claimed, inTheWay action.Action, err error) (Outcome, error) {
	stale := errors.Is(err, action.ErrStale)
	if stale { // this process may only have remembered an old version
		g.epochs.forget()
	}
	if claimed.State == action.Claimed && (stale || errors.Is(err, action.ErrIneligible)) {
		return g.void(ctx, claimed, CodeApprovalStale, err.Error())
	}
	if inTheWay.ID == "" {
		inTheWay = claimed
	}
	return g.obstacle(inTheWay, err)
}

// finish runs the tool and stores how it ended. If that cannot be stored the
// answer is uncertain, and the sweeper will say so in the store.
func (g *Gate) finish(ctx context.Context, p *proposal, a action.Action, pm permit.Permit) (Outcome, error) {
	end, err := execute.Run(ctx, pm, p.handler, execute.Options{
		Timeout: timeout(p.tool), ErrorsUnclear: p.tool.Errors == catalog.ErrorsUnclear,
		Late: func(e execute.Ended) { g.late(ctx, a, e) },
	})
	if err != nil {
		end = execute.Ended{State: action.Failed, Result: action.Result{Evidence: action.EvidenceProved,
			Code: execute.CodeNotRun, Detail: err.Error()}}
	}
	stored, err := g.cfg.Store.Finish(ctx, action.Ending{ID: a.ID, Fence: a.Fence, State: end.State, Result: end.Result})
	g.changes.tell(a.ID)
	if err == nil {
		return outcomeOf(stored), nil
	}
	g.log.Error("the outcome could not be recorded", "action", a.ID, "error", err)
	a.State = action.Uncertain
	return outcomeOf(a), nil
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

// read records the decision of an allowed read and then runs it. There is no
// row: a read changes nothing that could be uncertain.
func (g *Gate) read(ctx context.Context, p *proposal, d policy.Decision) (Outcome, error) {
	a, err := g.cfg.Store.Decide(ctx, g.row(p, d, nil))
	if err != nil {
		return Outcome{Tool: p.name()}, err
	}
	pm := permit.Issue(permit.Read, a.ID, 0, "", p.frozen.Args.Text())
	end, err := execute.Run(ctx, pm, p.handler, execute.Options{Timeout: timeout(p.tool)})
	if err != nil {
		return Outcome{}, err
	}
	o := outcomeOf(a)
	o.Output, o.IsError, o.Evidence = end.Result.Output, end.Result.IsError, end.Result.Evidence
	o.Status, o.Code, o.State = StatusOK, CodeOK, end.State
	if end.State != action.Succeeded && !(end.Result.IsError && len(end.Result.Output) > 0) {
		o.Status, o.Code = StatusFailed, Code(end.Result.Code)
	}
	return o, nil
}
