package verbatim

import (
	"context"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/policy"
)

// suspend stores exactly one pending action and, if the caller asked for it,
// holds the call while people decide.
func (g *Gate) suspend(ctx context.Context, p *proposal, d policy.Decision, preview *preview) (Outcome, error) {
	a := g.row(p, d, preview)
	a.State = action.PendingApproval
	a.Terms = terms(p.now, d, preview)
	a.Terms.Digest = approval.Digest(a)
	a.Deadline = a.Terms.PendingUntil
	a, err := g.cfg.Store.Suspend(ctx, a)
	if err != nil {
		return g.obstacle(p, a, err)
	}
	return g.hold(ctx, p, a)
}

// terms fixes both clocks of an approval: how long it waits and how long it
// is good for. Times are whole milliseconds, as the digest binds them.
func terms(now time.Time, d policy.Decision, preview *preview) *action.Terms {
	now = now.UTC().Truncate(time.Millisecond)
	t := &action.Terms{
		Requirements: d.Approval.Requirements, TTL: d.Approval.TTL, StepUp: d.Approval.StepUp,
		PendingUntil: now.Add(d.Approval.PendingTTL), Nonce: ids.Nonce(), RequestedAt: now,
	}
	t.ExpiresAt = t.PendingUntil.Add(t.TTL)
	if end := d.ExpiresAt.UTC().Truncate(time.Millisecond); !d.ExpiresAt.IsZero() && end.Before(t.ExpiresAt) {
		t.ExpiresAt = end
	}
	if t.ExpiresAt.Before(t.PendingUntil) {
		t.PendingUntil = t.ExpiresAt
	}
	if preview != nil {
		t.Preview = preview.digest
	}
	return t
}

// hold runs what a standing grant covers, answers a pending action at once, or
// waits for people and runs it when they agree. Whoever stops waiting is gone:
// a retry then joins.
func (g *Gate) hold(ctx context.Context, p *proposal, a action.Action) (Outcome, error) {
	if g.cover(ctx, a) {
		return g.again(ctx, p, a.ID)
	}
	o := g.receipted(outcomeOf(a), a.Leaf)
	ok, err := g.canApprove(ctx, a.Tenant)
	if !ok || err != nil || p.call.Wait <= 0 {
		if !ok && err == nil {
			o.Code = CodeNoApprover
		}
		g.leave(ctx, a.ID)
		return o, err
	}
	if p.call.Suspended != nil {
		p.call.Suspended(o)
	}
	done := p.call.walked.step(StepWait)
	a, err = g.await(ctx, a, p.call.Wait)
	done()
	if err != nil || a.State != action.Approved {
		g.leave(ctx, a.ID)
		return outcomeOf(a), err
	}
	return g.again(ctx, p, a.ID)
}

// again walks the same call once more, from its own bytes, naming the
// approval that it waited for.
func (g *Gate) again(ctx context.Context, p *proposal, id string) (Outcome, error) {
	next := p.call
	next.Approval, next.Wait, next.Suspended = id, 0, nil
	if p.handoff != nil {
		return g.walkHandoff(ctx, p.session, Handoff{To: p.handoff.ToAgentName, Payload: p.raw, Approval: id,
			IdempotencyKey: next.IdempotencyKey, Turn: next.Turn, RunContext: next.RunContext, walked: next.walked})
	}
	return g.walk(ctx, p.session, next)
}

func (g *Gate) canApprove(ctx context.Context, tenant string) (bool, error) {
	if g.cfg.CanApprove == nil {
		return true, nil
	}
	return g.cfg.CanApprove(ctx, tenant)
}

// leave records that nobody waits any more, also when the caller's context
// has ended: that is the very case. A note that cannot be written changes no
// answer; without it a retry is a proposal of its own.
func (g *Gate) leave(ctx context.Context, id string) {
	if err := g.cfg.Store.Leave(context.WithoutCancel(ctx), id); err != nil {
		g.log.Error("it could not be noted that a caller left", "action", id, "error", err)
	}
}

// await waits until a pending action moves, the wait is over or ctx ends. It
// fails only where the store does.
func (g *Gate) await(ctx context.Context, a action.Action, wait time.Duration) (action.Action, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	defer g.changes.tell(a.ID) // forgets the channel; others look again
	for a.State == action.PendingApproval {
		moved := g.changes.watch(a.ID)
		next, err := g.cfg.Store.Action(context.WithoutCancel(ctx), a.Tenant, a.ID)
		if err != nil {
			return a, err
		}
		if a = next; a.State != action.PendingApproval {
			break
		}
		select {
		case <-moved:
		case <-poll.C: // another gateway may have moved it
		case <-timer.C:
			return a, nil
		case <-ctx.Done():
			return a, nil
		}
	}
	return a, nil
}

// pollEvery is how often a waiting call looks at the store by itself.
const pollEvery = time.Second

// obstacle words a store's refusal by the row in the way.
func (g *Gate) obstacle(p *proposal, a action.Action, err error) (Outcome, error) {
	code, ok := obstacles(err)
	if !ok {
		return Outcome{Tool: p.name(), ActionID: a.ID}, err
	}
	if errors.Is(err, action.ErrKeyTaken) {
		if o := differs(a, p); o != nil { // another call took the key meanwhile
			return *o, nil
		}
	}
	if code == "" {
		o := outcomeOf(a)
		o.Joined, o.Replayed = a.State.InFlight(), !a.State.InFlight()
		return o, nil
	}
	o := outcomeOf(a)
	o.Status, o.Code = statusOf(code), code
	return o, nil
}

// obstacles maps a store's refusal to a code; "" means that the row in the
// way is the answer.
func obstacles(err error) (Code, bool) {
	switch {
	case errors.Is(err, action.ErrKeyTaken), errors.Is(err, action.ErrState), errors.Is(err, action.ErrFence):
		return "", true
	case errors.Is(err, action.ErrUncertain):
		return CodeOutcomeUncertain, true
	case errors.Is(err, action.ErrConsumed):
		return CodeApprovalConsumed, true
	case errors.Is(err, action.ErrStale):
		return CodeApprovalStale, true
	case errors.Is(err, action.ErrLate):
		return CodeExpired, true
	case errors.Is(err, action.ErrStopped):
		return CodeStopped, true
	case errors.Is(err, action.ErrOverLimit):
		return CodeLimitExceeded, true
	case errors.Is(err, action.ErrIneligible):
		return CodeApprovalStale, true
	default:
		return "", false
	}
}
