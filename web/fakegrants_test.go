package web_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/web"
)

// The fake keeps standing grants and signatures; the real engine's tests say
// what they do.

func (g *fakeGate) DraftGrant(ctx context.Context, tenant, source string, scope action.Scope, uses int, life time.Duration) (action.StandingGrant, error) {
	a, err := g.Action(ctx, tenant, source)
	if err != nil {
		return action.StandingGrant{}, err
	}
	draft := action.StandingGrant{Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Owner: a.Owner, Task: a.Task, Tool: a.Tool, Definition: a.Definition,
		PolicyVersion: a.Decision.PolicyVersion, Source: a.ID, Scope: scope, MaxUses: uses, Requirements: a.Terms.Requirements, Nonce: "n",
		RequestedAt: g.clock(), ExpiresAt: g.clock().Add(life)}
	draft.Digest = approval.StandingDigest(draft)
	draft.ID = approval.StandingID(draft.Digest)
	return draft, approval.FitsSource(draft, a)
}

func (g *fakeGate) Grant(ctx context.Context, grant action.StandingGrant, v action.Vote) (action.StandingGrant, error) {
	if err := g.accounts.VerifyVote(ctx, v); err != nil {
		return action.StandingGrant{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse != nil {
		return action.StandingGrant{}, g.refuse
	}
	v.At = g.clock()
	g.grants, g.signed = append(g.grants, grant), append(g.signed, v)
	return grant, nil
}

func (g *fakeGate) SignGrant(_ context.Context, _ string, v action.Vote) (action.StandingGrant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.signed = append(g.signed, v)
	return action.StandingGrant{}, nil
}

func (g *fakeGate) RevokeGrant(_ context.Context, _, id, account string) (action.StandingGrant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.grants {
		if g.grants[i].ID == id {
			g.grants[i].RevokedAt, g.grants[i].RevokedBy = g.clock(), account
			return g.grants[i], nil
		}
	}
	return action.StandingGrant{}, action.ErrNotFound
}

func (g *fakeGate) Grants(_ context.Context, f action.StandingFilter) (out []action.StandingGrant, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, grant := range slices.Backward(g.grants) {
		if grant.Tenant == f.Tenant {
			out = append(out, grant)
		}
	}
	return out, g.fail
}

func (g *fakeGate) StandingGrant(_ context.Context, tenant, id string) (action.StandingGrant, []action.Vote, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, grant := range g.grants {
		if grant.ID == id && grant.Tenant == tenant {
			var votes []action.Vote
			for _, v := range g.signed {
				if v.ActionID == id {
					votes = append(votes, v)
				}
			}
			return grant, votes, g.fail
		}
	}
	return action.StandingGrant{}, nil, action.ErrNotFound
}

func (g *fakeGate) CoveredBy(_ context.Context, _, id string) (action.StandingGrant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if grant, covered := g.covers[id]; covered {
		return grant, nil
	}
	return action.StandingGrant{}, action.ErrNotFound
}

// withTool is the bench's site with another tool for payments.
func (b *bench) withTool(t *testing.T, tool *catalog.Tool) http.Handler {
	t.Helper()
	site, err := web.New(web.Config{Gate: b.gate, People: b.accounts, Origin: origin, Now: b.clock.Now,
		Tools: func(name string) (*catalog.Tool, bool) {
			if name == tool.Name {
				return tool, true
			}
			return tools(name)
		}})
	if err != nil {
		t.Fatal(err)
	}
	return site
}
