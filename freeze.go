package verbatim

import (
	"context"

	"github.com/seed-de4804fb/verbatim/action"
)

// Freeze turns the switch that stops a tenant, an agent, a tool or everything
// now: no call that it covers starts any more, reads included, nobody is
// asked to approve one, and what was approved does not begin. It says how many
// runs are under way: they are not cut. s.By is the account that freezes, or
// action.ByHost; it fails with action.ErrIneligible for any other.
func (g *Gate) Freeze(ctx context.Context, s action.Stop) (running int, err error) {
	return g.cfg.Store.Stop(ctx, s)
}

// Unfreeze lifts a stop. s names it by tenant, agent and tool; s.By must be
// an account whose own credential the caller has just checked. It fails with
// action.ErrNotFound or action.ErrIneligible.
func (g *Gate) Unfreeze(ctx context.Context, s action.Stop) error {
	return g.cfg.Store.Resume(ctx, s)
}

// Stops lists what is frozen for a tenant.
func (g *Gate) Stops(ctx context.Context, tenant string) ([]action.Stop, error) {
	return g.cfg.Store.Stops(ctx, tenant)
}

// frozen answers a call that a stop covers, before policy and people are
// asked; nil lets it go on. The commit point looks again. An approval stays
// as it is: it may be used once the stop is lifted, while it is good.
func (g *Gate) frozen(ctx context.Context, p *proposal, found *action.Action) (*Outcome, error) {
	stops, err := g.cfg.Store.Stops(ctx, p.session.Tenant)
	if err != nil {
		return nil, err
	}
	for _, s := range stops {
		if !s.Covers(p.session.Tenant, p.session.Agent, p.name()) {
			continue
		}
		if found != nil {
			o := problem(*found, CodeStopped, s.Kind())
			return o, g.turnAway(ctx, p, o)
		}
		o, err := g.refuse(ctx, p, refusal(CodeStopped), CodeStopped, s.Kind())
		return &o, err
	}
	return nil, nil
}
