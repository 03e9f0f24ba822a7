package verbatim

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Vote adds one signed vote to a pending action and returns the action as it
// stands afterwards. It fails if the signature does not hold, and with the
// errors of package action where the store refuses.
func (g *Gate) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	if err := approval.CheckVotes(ctx, g.cfg.Votes, []action.Vote{v}); err != nil {
		return action.Action{}, fmt.Errorf("vote: %w", err)
	}
	a, err := g.cfg.Store.Vote(ctx, v)
	g.changes.tell(v.ActionID)
	return a, err
}

// Revoke withdraws a pending or approved action for an approver or operator.
// Once the run has begun it fails with action.ErrState.
func (g *Gate) Revoke(ctx context.Context, tenant, id, account, reason string) (action.Action, error) {
	if _, err := g.cfg.Store.Action(ctx, tenant, id); err != nil {
		return action.Action{}, err
	}
	a, err := g.cfg.Store.Revoke(ctx, id, account, reason)
	g.changes.tell(id)
	return a, err
}

// Dismiss withdraws a pending or approved action for whoever proposed it.
func (g *Gate) Dismiss(ctx context.Context, s Session, id string) (action.Action, error) {
	a, err := g.cfg.Store.Action(ctx, s.Tenant, id)
	if err != nil {
		return action.Action{}, err
	}
	if a.Principal != s.Principal {
		return action.Action{}, action.ErrNotFound
	}
	a, err = g.cfg.Store.Dismiss(ctx, id, s.Principal)
	g.changes.tell(id)
	return a, err
}

// Reconcile settles an uncertain action on an operator's word or evidence. It
// fails with action.ErrState where nothing is uncertain, and with
// action.ErrIneligible where the account may not say so.
func (g *Gate) Reconcile(ctx context.Context, tenant string, r action.Reconciliation) (action.Action, error) {
	if r.By == action.ByLateReply || r.By == action.ByProvider { // no account has such a name
		return action.Action{}, action.ErrIneligible
	}
	if _, err := g.cfg.Store.Action(ctx, tenant, r.ID); err != nil {
		return action.Action{}, err
	}
	a, err := g.cfg.Store.Reconcile(ctx, r)
	g.changes.tell(r.ID)
	return a, err
}

// Sweep ends what is overdue. With orphans, runs of an earlier process count
// as uncertain at once; only the owner of the store says so, when it starts.
func (g *Gate) Sweep(ctx context.Context, orphans bool) (moved int, err error) {
	rows, err := g.cfg.Store.Expire(ctx, orphans)
	for _, a := range rows {
		g.changes.tell(a.ID)
	}
	return len(rows), err
}

// Action returns one action of a tenant.
func (g *Gate) Action(ctx context.Context, tenant, id string) (action.Action, error) {
	return g.cfg.Store.Action(ctx, tenant, id)
}

// Actions lists actions, newest first.
func (g *Gate) Actions(ctx context.Context, f action.Filter) ([]action.Action, error) {
	return g.cfg.Store.Actions(ctx, f)
}

// Votes lists the votes on one action, oldest first.
func (g *Gate) Votes(ctx context.Context, tenant, id string) ([]action.Vote, error) {
	return g.cfg.Store.Votes(ctx, tenant, id)
}

// Records lists the audit log, newest first.
func (g *Gate) Records(ctx context.Context, f audit.Filter) ([]audit.Record, error) {
	return g.cfg.Store.Records(ctx, f)
}
