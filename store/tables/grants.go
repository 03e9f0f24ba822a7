package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Grants keeps standing grants for a store that embeds it. Their scopes are
// sealed.
type Grants struct {
	db      DB
	sealer  *keys.Sealer
	arrival string
}

// NewGrants are the standing grants of a store. arrival is the column of
// standing_vote that counts its rows as they come.
func NewGrants(db DB, sealer *keys.Sealer, arrival string) Grants { return Grants{db, sealer, arrival} }

// Grant keeps a standing grant with its first signature.
func (s Grants) Grant(ctx context.Context, g action.StandingGrant, v action.Vote) (action.StandingGrant, error) {
	return s.change(ctx, func(t Tx) (action.StandingGrant, error) {
		source, err := t.Action(g.Tenant, g.Source)
		if err != nil {
			return g, err
		}
		out, err := verbs.NewStanding(g, source, t.Now())
		if err != nil {
			return g, err
		}
		version, err := t.PolicyVersion(out.Tenant, out.Tool)
		if err == nil {
			err = verbs.InForce(source, version)
		}
		if err == nil {
			err = s.insert(t, out, source)
		}
		if err == nil {
			err = sign(t, out, source, v, audit.StandingMade)
		}
		return out, err
	})
}

// SignGrant adds a further signature; v.ActionID is the grant's id.
func (s Grants) SignGrant(ctx context.Context, v action.Vote) (action.StandingGrant, error) {
	return s.change(ctx, func(t Tx) (action.StandingGrant, error) {
		g, err := s.held(t, "WHERE g.id = $1", v.ActionID)
		if err != nil {
			return g, err
		}
		source, err := t.Action(g.Tenant, g.Source)
		if err != nil {
			return g, err
		}
		return g, sign(t, g, source, v, audit.StandingSigned)
	})
}

// change runs a verb on a standing grant. Nothing comes beside an error: the
// grant of another tenant does not exist.
func (s Grants) change(ctx context.Context, fn func(Tx) (action.StandingGrant, error)) (out action.StandingGrant, err error) {
	err = s.db.Write(ctx, synced, func(t Tx) error {
		out, err = fn(t)
		return err
	})
	if err != nil {
		return action.StandingGrant{}, err
	}
	return out, nil
}

func (s Grants) insert(t Tx, g action.StandingGrant, source action.Action) error {
	scope, err := s.sealer.Seal(verbs.StandingPlace(g, verbs.Shelf(source)), []byte(approval.ScopeText(g.Scope)))
	if err != nil {
		return fmt.Errorf("seal scope: %w", err)
	}
	total := any(nil)
	if g.Scope.Sum != "" {
		total = g.Scope.Total
	}
	if _, err := t.Exec(`INSERT INTO standing_grant (id, tenant, principal, agent, owner, task, session_grant, session_digest, tool, definition,
		policy_version, source, scope, requirements, step_up, nonce, requested_at, expires_at, digest, max_uses, uses, total, spent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 0, $21, 0)`,
		g.ID, g.Tenant, g.Principal, g.Agent, g.Owner, g.Task, g.GrantID, g.GrantDigest, g.Tool, g.Definition,
		g.PolicyVersion, g.Source, scope, verbs.RequirementsText(g.Requirements), g.StepUp, g.Nonce, g.RequestedAt, g.ExpiresAt, g.Digest,
		g.MaxUses, total); err != nil {
		return fmt.Errorf("insert standing grant: %w", err)
	}
	return nil
}

// sign keeps a vote for a grant, under the rules of votes on actions.
func sign(t Tx, g action.StandingGrant, source action.Action, v action.Vote, event string) error {
	who, err := t.Person(v.Voter)
	if err != nil {
		return err
	}
	v.ActionID, v.At = g.ID, t.Now()
	if err := verbs.AdmitStanding(g, v, who, t.Now()); err != nil {
		return err
	}
	if err := newVote(t, v, "SELECT count(*) FROM standing_vote WHERE grant_id = $1 AND voter = $2"); err != nil {
		return err
	}
	row := approval.Ballot(g)
	v.For = approval.StandsFor(*row.Terms, approval.ProposerOf(row), who)
	if _, err := t.Exec("INSERT INTO standing_vote ("+VoteColumns+", grant_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
		append(VoteValues(v), g.ID)...); err != nil {
		return fmt.Errorf("insert vote: %w", err)
	}
	by, err := t.Inviters(v.Voter)
	if err != nil {
		return err
	}
	return t.Record(verbs.StandingRecord(event, g, source, v, verbs.Ties(source, who, by)))
}

// RevokeGrant ends a standing grant. Once it has returned, no run begins
// under the grant any more.
func (s Grants) RevokeGrant(ctx context.Context, tenant, id, account string) (action.StandingGrant, error) {
	return s.change(ctx, func(t Tx) (action.StandingGrant, error) {
		g, err := s.held(t, "WHERE g.tenant = $1 AND g.id = $2", tenant, id)
		if err != nil {
			return g, err
		}
		who, err := t.Person(account)
		if err == nil {
			err = approval.MayRevokeStanding(g, who)
		}
		if err == nil && !g.RevokedAt.IsZero() {
			err = action.ErrState
		}
		if err != nil {
			return g, err
		}
		g.RevokedAt, g.RevokedBy = t.Now(), account
		if _, err := t.Exec("UPDATE standing_grant SET revoked_at = $1, revoked_by = $2 WHERE id = $3", t.Now(), account, id); err != nil {
			return g, fmt.Errorf("revoke standing grant: %w", err)
		}
		return g, t.Record(verbs.StandingRevokedRecord(g))
	})
}

// Grants lists standing grants, newest first.
func (s Grants) Grants(ctx context.Context, f action.StandingFilter) ([]action.StandingGrant, error) {
	var w filter
	w.equal("g.tenant = $", f.Tenant)
	w.equal("g.principal = $", f.Principal)
	w.equal("g.agent = $", f.Agent)
	w.equal("g.tool = $", f.Tool)
	w.equal("g.seq < (SELECT b.seq FROM standing_grant b WHERE b.id = $)", f.Before)
	if f.Usable {
		now, err := s.db.Now(ctx)
		if err != nil {
			return nil, err
		}
		w.add("g.revoked_at IS NULL AND g.uses < g.max_uses AND g.expires_at > $", now)
	}
	sql, args := w.page("ORDER BY g.seq DESC", f.Limit)
	return many(ctx, s.db, func(c Reader) ([]action.StandingGrant, error) { return s.list(c, sql, args...) })
}

// GrantVotes returns the signatures of a standing grant in the order of their
// arrival.
func (s Grants) GrantVotes(ctx context.Context, tenant, id string) ([]action.Vote, error) {
	return many(ctx, s.db, func(c Reader) ([]action.Vote, error) {
		if _, err := s.one(c, "WHERE g.tenant = $1 AND g.id = $2", tenant, id); err != nil {
			return nil, err
		}
		return s.votes(c, id)
	})
}

// StandingGrant returns one standing grant of a tenant.
func (s Grants) StandingGrant(ctx context.Context, tenant, id string) (action.StandingGrant, error) {
	return one(ctx, s.db, action.ErrNotFound, func(c Reader) ([]action.StandingGrant, error) {
		return s.list(c, "WHERE g.tenant = $1 AND g.id = $2", tenant, id)
	})
}

// CoveredBy returns the standing grant that approved an action; ErrNotFound
// where none did.
func (s Grants) CoveredBy(ctx context.Context, tenant, id string) (action.StandingGrant, error) {
	return one(ctx, s.db, action.ErrNotFound, func(c Reader) ([]action.StandingGrant, error) {
		return s.list(c, "WHERE g.tenant = $1 AND g.id = (SELECT c.grant_id FROM standing_cover c WHERE c.action_id = $2)", tenant, id)
	})
}

func (s Grants) one(c Reader, where string, args ...any) (action.StandingGrant, error) {
	found, err := s.list(c, where, args...)
	return first(found, err, action.ErrNotFound)
}

// held is one for who changes or uses the grant. The action, if there is one,
// is held before.
func (s Grants) held(t Tx, where string, args ...any) (action.StandingGrant, error) {
	if err := t.Hold("SELECT 1 FROM standing_grant g "+where, args...); err != nil {
		return action.StandingGrant{}, err
	}
	return s.one(t, where, args...)
}

func (s Grants) list(c Reader, where string, args ...any) ([]action.StandingGrant, error) {
	var out []action.StandingGrant
	err := c.Query(func(cur Row) error {
		g := action.StandingGrant{ID: cur.Text(), Tenant: cur.Text(), Principal: cur.Text(), Agent: cur.Text(), Owner: cur.Text(), Task: cur.Text(),
			GrantID: cur.Text(), GrantDigest: cur.Digest(), Tool: cur.Text(), Definition: cur.Digest(), PolicyVersion: cur.Text(), Source: cur.Text()}
		scope, requirements := cur.Blob(), cur.Text()
		g.StepUp, g.Nonce, g.RequestedAt, g.ExpiresAt, g.Digest = cur.Bool(), cur.Text(), cur.Time(), cur.Time(), cur.Digest()
		g.MaxUses, g.Uses, g.Spent, g.RevokedAt, g.RevokedBy = int(cur.Int()), int(cur.Int()), cur.Int(), cur.Time(), cur.Text()
		if err := errors.Join(verbs.ParseRequirements(requirements, &g.Requirements), s.openScope(&g, &scope)); err != nil {
			return err
		}
		out = append(out, g)
		return verbs.VerifyStanding(g, scope == nil)
	}, `SELECT g.id, g.tenant, g.principal, g.agent, g.owner, g.task, g.session_grant, g.session_digest, g.tool, g.definition, g.policy_version,
		g.source, g.scope, g.requirements, g.step_up, g.nonce, g.requested_at, g.expires_at, g.digest, g.max_uses, g.uses, g.spent, g.revoked_at,
		g.revoked_by FROM standing_grant g `+where, args...)
	return out, err
}

// openScope reads a scope. One whose key was destroyed is none.
func (s Grants) openScope(g *action.StandingGrant, sealed *[]byte) error {
	if *sealed == nil {
		return nil
	}
	text, err := s.sealer.Open(verbs.StandingPlace(*g, keys.Shelf{}), *sealed)
	if errors.Is(err, keys.ErrErased) {
		*sealed = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("standing grant %s: %w: %w", g.ID, verbs.ErrTampered, err)
	}
	return verbs.ParseScope(string(text), &g.Scope)
}

func (s Grants) votes(c Reader, id string) ([]action.Vote, error) {
	var out []action.Vote
	err := c.Query(func(cur Row) error {
		v, err := VoteOf(cur, id, true)
		out = append(out, v)
		return err
	}, "SELECT "+VoteColumns+" FROM standing_vote WHERE grant_id = $1 ORDER BY "+s.arrival, id)
	return out, err
}
