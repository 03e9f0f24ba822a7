package verbatim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/internal/ids"
)

// DraftGrant draws up a standing grant for calls like an action, for people to
// read and sign. Nothing is stored. It fails with action.ErrStanding where no
// such grant can be made, and never for high-impact actions.
func (g *Gate) DraftGrant(ctx context.Context, tenant, source string, scope action.Scope, uses int, life time.Duration) (action.StandingGrant, error) {
	a, err := g.cfg.Store.Action(ctx, tenant, source)
	if err != nil {
		return action.StandingGrant{}, err
	}
	if a.Terms == nil {
		return action.StandingGrant{}, fmt.Errorf("%w: nobody was asked about the action", action.ErrStanding)
	}
	now, err := g.cfg.Store.Now(ctx)
	if err != nil {
		return action.StandingGrant{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	draft := action.StandingGrant{Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Owner: a.Owner, Task: a.Task,
		GrantID: a.GrantID, GrantDigest: a.GrantDigest, Tool: a.Tool, Definition: a.Definition, PolicyVersion: a.Decision.PolicyVersion,
		Source: a.ID, Scope: scope, MaxUses: uses, Requirements: a.Terms.Requirements, StepUp: a.Terms.StepUp, Nonce: ids.Nonce(),
		RequestedAt: now, ExpiresAt: now.Add(life.Truncate(time.Millisecond))}
	draft.Digest = approval.StandingDigest(draft)
	draft.ID = approval.StandingID(draft.Digest)
	return draft, approval.FitsSource(draft, a)
}

// Grant keeps a standing grant with its first signature, and approves what
// waits and is covered by it. It fails if the signature does not hold, with
// action.ErrStanding, and as Vote does.
func (g *Gate) Grant(ctx context.Context, grant action.StandingGrant, v action.Vote) (action.StandingGrant, error) {
	return g.signed(ctx, v, func() (action.StandingGrant, error) { return g.cfg.Store.Grant(ctx, grant, v) })
}

// SignGrant adds a further signature to a standing grant of a tenant;
// v.ActionID is its id. It fails as Grant does.
func (g *Gate) SignGrant(ctx context.Context, tenant string, v action.Vote) (action.StandingGrant, error) {
	return g.signed(ctx, v, func() (action.StandingGrant, error) {
		if _, err := g.cfg.Store.StandingGrant(ctx, tenant, v.ActionID); err != nil {
			return action.StandingGrant{}, err
		}
		return g.cfg.Store.SignGrant(ctx, v)
	})
}

func (g *Gate) signed(ctx context.Context, v action.Vote, keep func() (action.StandingGrant, error)) (action.StandingGrant, error) {
	if err := approval.CheckVotes(ctx, g.cfg.Votes, []action.Vote{v}); err != nil {
		return action.StandingGrant{}, fmt.Errorf("grant: %w", err)
	}
	grant, err := keep()
	if err == nil {
		g.reconsider(ctx, grant)
	}
	return grant, err
}

// RevokeGrant ends a standing grant. Once it has returned, no run begins under
// the grant any more; what it has approved and has not run is refused.
func (g *Gate) RevokeGrant(ctx context.Context, tenant, id, account string) (action.StandingGrant, error) {
	return g.cfg.Store.RevokeGrant(ctx, tenant, id, account)
}

// Grants lists standing grants, newest first.
func (g *Gate) Grants(ctx context.Context, f action.StandingFilter) ([]action.StandingGrant, error) {
	return g.cfg.Store.Grants(ctx, f)
}

// StandingGrant returns one standing grant of a tenant with its signatures.
func (g *Gate) StandingGrant(ctx context.Context, tenant, id string) (action.StandingGrant, []action.Vote, error) {
	grant, err := g.cfg.Store.StandingGrant(ctx, tenant, id)
	if err != nil {
		return grant, nil, err
	}
	votes, err := g.cfg.Store.GrantVotes(ctx, tenant, id)
	return grant, votes, err
}

// CoveredBy returns the standing grant that approved an action in the place
// of votes; action.ErrNotFound where none did.
func (g *Gate) CoveredBy(ctx context.Context, tenant, id string) (action.StandingGrant, error) {
	return g.cfg.Store.CoveredBy(ctx, tenant, id)
}

// credited names the standing grant that approved what an outcome is about. It
// tells, and decides nothing: where the store fails, none is named.
func (g *Gate) credited(ctx context.Context, tenant string, o Outcome) Outcome {
	if !o.asked {
		return o
	}
	grant, err := g.CoveredBy(context.WithoutCancel(ctx), tenant, o.ActionID)
	if err != nil && !errors.Is(err, action.ErrNotFound) {
		g.log.Error("the standing grant of an action could not be looked up", "action", o.ActionID, "error", err)
	}
	o.Standing = grant.ID
	return o
}

// reconsider looks at what waits already: a grant made on the first of five
// calls is for the other four, too. What fails here waits for people as before.
func (g *Gate) reconsider(ctx context.Context, grant action.StandingGrant) {
	rows, err := g.cfg.Store.Actions(ctx, action.Filter{Tenant: grant.Tenant, Principal: grant.Principal, Tool: grant.Tool,
		States: []action.State{action.PendingApproval}, Limit: 1000})
	if err != nil {
		g.log.Error("what waits could not be looked at again", "grant", grant.ID, "error", err)
		return
	}
	slices.Reverse(rows) // who asked first is first
	for _, a := range rows {
		g.coverBy(ctx, a, []action.StandingGrant{grant})
	}
}

// cover approves a pending action by a standing grant, if one covers it. A
// store that fails leaves it to people.
func (g *Gate) cover(ctx context.Context, a action.Action) bool {
	if a.HighImpact || a.State != action.PendingApproval || a.Kind != action.KindCall {
		return false
	}
	grants, err := g.cfg.Store.Grants(ctx, action.StandingFilter{Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Tool: a.Tool, Usable: true})
	if err != nil {
		g.log.Error("standing grants could not be looked up", "action", a.ID, "error", err)
		return false
	}
	slices.Reverse(grants) // the oldest ends first
	return g.coverBy(ctx, a, grants)
}

func (g *Gate) coverBy(ctx context.Context, a action.Action, grants []action.StandingGrant) bool {
	for _, grant := range grants {
		if _, member := approval.Uncovered(grant, a); member != "" {
			continue
		}
		_, err := g.cfg.Store.Cover(ctx, a.ID, grant.ID)
		if err == nil {
			g.changes.tell(a.ID)
			return true
		}
		if !errors.Is(err, action.ErrStanding) && !errors.Is(err, action.ErrState) && !errors.Is(err, action.ErrLate) {
			g.log.Error("a standing grant could not be used", "action", a.ID, "grant", grant.ID, "error", err)
		}
	}
	return false
}

// signatures are the votes that allow an approved action: its own, or those
// of the standing grant that covers it. false says that they are for
// something else.
func (g *Gate) signatures(ctx context.Context, a action.Action) ([]action.Vote, bool, error) {
	grant, err := g.cfg.Store.CoveredBy(ctx, a.Tenant, a.ID)
	if errors.Is(err, action.ErrNotFound) {
		votes, err := g.cfg.Store.Votes(ctx, a.Tenant, a.ID)
		return votes, true, err
	}
	if err != nil {
		return nil, false, err
	}
	votes, err := g.cfg.Store.GrantVotes(ctx, a.Tenant, grant.ID)
	return votes, len(votes) > 0 && grant.Digest == approval.StandingDigest(grant), err
}
