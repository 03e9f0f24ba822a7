package verbatim

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
)

// count works out what the run takes from the tool's limits. A run that
// cannot be counted, or that not even an empty window has room for, is
// refused before anybody is asked: a code and the limit's name, or "". What
// others have taken is looked at in the commit point alone, where it holds.
func (g *Gate) count(p *proposal) (Code, string) {
	if len(p.tool.Limits) == 0 {
		return "", ""
	}
	taken, err := p.tool.Reservations(catalog.Counted{Principal: p.session.Principal, Agent: p.session.Agent,
		Targets: p.frozen.Targets, Args: p.frozen.Args.Value()})
	var no *catalog.Uncountable
	if errors.As(err, &no) {
		return CodeLimitUncountable, no.Limit
	}
	if err != nil {
		return CodeLimitUncountable, ""
	}
	for _, l := range taken {
		if l.Amount > l.Most {
			return CodeLimitExceeded, l.Name
		}
	}
	p.limits = taken
	return "", ""
}

// counted refuses a new call that can never fit its limits; nil lets it go on.
func (g *Gate) counted(ctx context.Context, p *proposal, d policy.Decision) (*Outcome, error) {
	code, name := g.count(p)
	if code == "" {
		return nil, nil
	}
	o, err := g.refuse(ctx, p, d, code, name)
	return &o, err
}

// Budgets lists windows of limits.
func (g *Gate) Budgets(ctx context.Context, f action.BudgetFilter) ([]action.Budget, error) {
	return g.cfg.Store.Budgets(ctx, f)
}

// Reservations lists what an action took from limits.
func (g *Gate) Reservations(ctx context.Context, tenant, id string) ([]action.Reservation, error) {
	return g.cfg.Store.Reservations(ctx, tenant, id)
}

// Room is one limit that a run counts against, with its window as it stands.
type Room struct {
	action.Limit
	Taken int64 // reserved and posted by others, in the window of now
}

// Left is what the window still has room for; never negative.
func (r Room) Left() int64 { return max(0, r.Most-r.Taken) }

// Room says, for an action that has not begun, what it would take from each
// limit and what others have taken from the same window. It is for people who
// decide; only the commit point's own look counts. It fails with
// *catalog.Uncountable where the stored arguments cannot be counted.
func (g *Gate) Room(ctx context.Context, t *catalog.Tool, a action.Action) ([]Room, error) {
	if len(t.Limits) == 0 {
		return nil, nil
	}
	args, err := canon.Decode([]byte(a.Payload.Args), canon.Options{})
	if err != nil {
		return nil, err
	}
	taken, err := t.Reservations(catalog.Counted{Principal: a.Principal, Agent: a.Agent, Targets: a.Targets, Args: args})
	if err != nil {
		return nil, err
	}
	out := make([]Room, len(taken))
	for i, l := range taken {
		out[i].Limit = l
		windows, err := g.cfg.Store.Budgets(ctx, action.BudgetFilter{Tenant: a.Tenant, Name: l.Name, Scope: l.Scope})
		if err != nil {
			return nil, err
		}
		for _, w := range windows {
			if w.Currency == l.Currency && w.Window == l.Window {
				out[i].Taken = w.Reserved + w.Posted
			}
		}
	}
	return out, nil
}
