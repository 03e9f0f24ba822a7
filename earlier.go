package verbatim

import (
	"context"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// earlier looks for what this call already is: an action under its
// idempotency key, the approval that it names, or the same request whose
// caller has gone. It returns the approved action to resume, or the outcome
// that ends the call, or neither for a new one. It never authorizes.
func (g *Gate) earlier(ctx context.Context, p *proposal) (*action.Action, *Outcome, error) {
	switch {
	case p.call.Approval != "":
		return g.named(ctx, p)
	case p.call.IdempotencyKey != "":
		return g.keyed(ctx, p)
	default:
		return g.same(ctx, p)
	}
}

// keyed answers a call whose key is known.
func (g *Gate) keyed(ctx context.Context, p *proposal) (*action.Action, *Outcome, error) {
	a, err := g.cfg.Store.ByKey(ctx, p.session.Tenant, p.session.Principal, p.call.IdempotencyKey)
	if errors.Is(err, action.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if o := differs(a, p); o != nil {
		return nil, o, g.turnAway(ctx, p, o)
	}
	if a, err = g.current(ctx, a, p); err != nil {
		return nil, nil, err
	}
	if resumable(a, p) {
		return &a, nil, nil
	}
	switch execute.Repeat(a, true, true) {
	case execute.New:
		return nil, nil, nil
	case execute.Pending:
		o, err := g.hold(ctx, p, a)
		o.Replayed = o.Status == StatusApprovalRequired
		return nil, &o, err
	default: // Stored, Running, Unknown: the row says it all
		o := outcomeOf(a)
		o.Replayed = true
		return nil, &o, nil
	}
}

// differs answers a call whose key belongs to another one; nil if it is the
// same.
func differs(a action.Action, p *proposal) *Outcome {
	switch execute.Repeat(a, sameRequest(a, p), a.Fingerprint == p.mark) {
	case execute.Mismatch:
		return problem(a, CodeIdempotencyMismatch, "")
	case execute.Moved:
		return problem(a, CodeTargetChanged, movedMember(a, p))
	default:
		return nil
	}
}

// current returns a row as it stands now: one whose time is over has ended,
// though nobody has swept it yet.
func (g *Gate) current(ctx context.Context, a action.Action, p *proposal) (action.Action, error) {
	if !overdue(a, p.now) {
		return a, nil
	}
	if _, err := g.Sweep(ctx, false); err != nil {
		return a, err
	}
	return g.cfg.Store.Action(ctx, a.Tenant, a.ID)
}

func overdue(a action.Action, now time.Time) bool {
	switch a.State {
	case action.PendingApproval, action.Approved, action.Claimed:
		return !a.Deadline.IsZero() && !now.Before(a.Deadline)
	case action.Executing:
		return !a.LeaseUntil.IsZero() && !now.Before(a.LeaseUntil)
	default:
		return false
	}
}

// resumable: approved, or claimed by somebody who never came to the commit
// point. Nothing was sent in either case.
func resumable(a action.Action, p *proposal) bool {
	return a.State == action.Approved || a.State == action.Claimed && a.LeaseUntil.Before(p.now)
}

func sameRequest(a action.Action, p *proposal) bool {
	return a.Kind == p.kind() && a.Agent == p.session.Agent && a.Tool == p.name() && a.Payload.Requested == string(p.request.Canonical())
}

// named answers a call that names an approval.
func (g *Gate) named(ctx context.Context, p *proposal) (*action.Action, *Outcome, error) {
	a, err := g.cfg.Store.Action(ctx, p.session.Tenant, p.call.Approval)
	if errors.Is(err, action.ErrNotFound) || err == nil && !mine(a, p) {
		o := &Outcome{Status: StatusDenied, Code: CodeApprovalUnknown, Tool: p.name()}
		return nil, o, g.turnAway(ctx, p, o)
	}
	if err != nil {
		return nil, nil, err
	}
	if !sameRequest(a, p) {
		o := problem(a, CodeApprovalMismatch, differingMember(a.Payload.Requested, p.request))
		return nil, o, g.turnAway(ctx, p, o)
	}
	if o, err := g.foreignKey(ctx, a, p); o != nil || err != nil {
		return nil, o, err
	}
	if a, err = g.current(ctx, a, p); err != nil {
		return nil, nil, err
	}
	switch {
	case resumable(a, p):
		return &a, nil, nil
	case a.State == action.PendingApproval:
		o, err := g.hold(ctx, p, a)
		return nil, &o, err
	default: // used, ended or running: the same answer again
		o := outcomeOf(a)
		o.Replayed = true
		return nil, &o, nil
	}
}

// mine: an approval is of use to the caller and tool that it was given for.
func mine(a action.Action, p *proposal) bool {
	return a.Kind == p.kind() && a.Principal == p.session.Principal && a.Agent == p.session.Agent &&
		a.Tool == p.name() && a.Terms != nil
}

// foreignKey refuses a call that names one action by its approval and another
// by its key.
func (g *Gate) foreignKey(ctx context.Context, a action.Action, p *proposal) (*Outcome, error) {
	if p.call.IdempotencyKey == "" || p.call.IdempotencyKey == a.Key {
		return nil, nil
	}
	other, err := g.cfg.Store.ByKey(ctx, p.session.Tenant, p.session.Principal, p.call.IdempotencyKey)
	if errors.Is(err, action.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o := problem(other, CodeIdempotencyMismatch, "")
	return o, g.turnAway(ctx, p, o)
}

// differingMember points at the first member that differs, in the order of
// the request. It names a place, never a value.
func differingMember(stored string, request canon.Value) string {
	old, err := canon.Decode([]byte(stored), canon.Options{})
	if err != nil {
		return ""
	}
	pointer, _ := canon.Difference(old, request)
	return pointer
}

// same answers an unkeyed call that repeats one in flight: it joins the one
// whose caller has gone and takes the oldest approval that covers it.
func (g *Gate) same(ctx context.Context, p *proposal) (*action.Action, *Outcome, error) {
	rows, err := g.cfg.Store.Joinable(ctx, p.session.Tenant, p.session.Principal, p.mark)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		a := rows[i]
		if a.Key != "" || !a.CallerGone && !resumable(a, p) {
			continue
		}
		if a, err = g.current(ctx, a, p); err != nil {
			return nil, nil, err
		}
		if a.State == action.PendingApproval || resumable(a, p) {
			code, _, err := g.compare(ctx, a, p)
			if err != nil {
				return nil, nil, err
			}
			if code != "" { // nobody should wait for what could not run any more
				continue
			}
		}
		if resumable(a, p) {
			return &a, nil, nil
		}
		switch a.State {
		case action.PendingApproval:
			o, err := g.hold(ctx, p, a)
			o.Joined = true
			return nil, &o, err
		case action.Claimed, action.Executing:
			o := outcomeOf(a)
			o.Joined = true
			return nil, &o, nil
		}
	}
	return nil, nil, nil
}

// problem words a refusal that leaves the row in question untouched.
func problem(a action.Action, code Code, member string) *Outcome {
	o := outcomeOf(a)
	o.Status, o.Code, o.Member, o.Output = statusOf(code), code, member, nil
	return &o
}

// turnAway records that a call leaned on an action that it is not. The answer
// goes on naming that action, which stays as it is.
func (g *Gate) turnAway(ctx context.Context, p *proposal, o *Outcome) error {
	_, err := g.refuse(ctx, p, policy.Decision{}, o.Code, o.Member)
	return err
}

// compare says how the approval differs from the call walked again: the code
// and the member, or "". It fails only where the store does.
func (g *Gate) compare(ctx context.Context, a action.Action, p *proposal) (Code, string, error) {
	version, err := g.policyVersion(ctx, p)
	if err != nil {
		return "", "", err
	}
	now := g.row(p, refusal(CodeApprovalRequired), nil)
	now.Decision.PolicyVersion = version
	if member := approval.Moved(a, now); member != "" {
		return CodeTargetChanged, member, nil
	}
	if member := approval.Stale(a, now); member != "" {
		return CodeApprovalStale, member, nil
	}
	return "", "", nil
}

func movedMember(a action.Action, p *proposal) string {
	now := action.Action{Targets: p.frozen.Targets, Evidence: p.frozen.Evidence, Payload: action.Payload{Args: p.frozen.Args.Text()}}
	return approval.Moved(a, now)
}
