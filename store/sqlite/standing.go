package sqlite

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

// Grant keeps a standing grant with its first signature.
func (s *Store) Grant(ctx context.Context, g action.StandingGrant, v action.Vote) (action.StandingGrant, error) {
	return s.grant(ctx, func(t *tx) (action.StandingGrant, error) {
		source, err := s.loadWhere(t.conn, "WHERE a.tenant = ? AND a.id = ?", g.Tenant, g.Source)
		if err != nil {
			return action.StandingGrant{}, err
		}
		out, err := verbs.NewStanding(g, source, t.now)
		if err != nil {
			return action.StandingGrant{}, err
		}
		version, err := t.policyVersion(out.Tenant, out.Tool)
		if err == nil {
			err = verbs.InForce(source, version)
		}
		if err == nil {
			err = t.insertStanding(out, source)
		}
		if err != nil {
			return action.StandingGrant{}, err
		}
		return out, t.signStanding(out, source, v, audit.StandingMade)
	})
}

// SignGrant adds a further signature; v.ActionID is the grant's id.
func (s *Store) SignGrant(ctx context.Context, v action.Vote) (action.StandingGrant, error) {
	return s.grant(ctx, func(t *tx) (action.StandingGrant, error) {
		g, err := s.standingGrant(t.conn, "WHERE g.id = ?", v.ActionID)
		if err != nil {
			return action.StandingGrant{}, err
		}
		source, err := s.load(t.conn, g.Source)
		if err != nil {
			return action.StandingGrant{}, err
		}
		return g, t.signStanding(g, source, v, audit.StandingSigned)
	})
}

// grant is write for the verbs that change a standing grant. Nothing comes
// beside an error: the grant of another tenant does not exist.
func (s *Store) grant(ctx context.Context, fn func(*tx) (action.StandingGrant, error)) (out action.StandingGrant, err error) {
	err = s.write(ctx, syncFull, func(t *tx) error {
		out, err = fn(t)
		return err
	})
	if err != nil {
		return action.StandingGrant{}, err
	}
	return out, nil
}

func (t *tx) insertStanding(g action.StandingGrant, source action.Action) error {
	scope, err := t.store.opt.Sealer.Seal(verbs.StandingPlace(g, verbs.Shelf(source)), []byte(approval.ScopeText(g.Scope)))
	if err != nil {
		return fmt.Errorf("seal scope: %w", err)
	}
	total := any(nil)
	if g.Scope.Sum != "" {
		total = g.Scope.Total
	}
	if _, err := t.exec(`INSERT INTO standing_grant (id, tenant, principal, agent, owner, task, session_grant, session_digest, tool, definition,
		policy_version, source, scope, requirements, step_up, nonce, requested_at, expires_at, digest, max_uses, uses, total, spent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0)`,
		g.ID, g.Tenant, g.Principal, g.Agent, g.Owner, g.Task, g.GrantID, g.GrantDigest, g.Tool, g.Definition,
		g.PolicyVersion, g.Source, scope, verbs.RequirementsText(g.Requirements), g.StepUp, g.Nonce, g.RequestedAt, g.ExpiresAt, g.Digest,
		g.MaxUses, total); err != nil {
		return fmt.Errorf("insert standing grant: %w", err)
	}
	return nil
}

// signStanding keeps a vote for a grant, under the rules of votes on actions.
func (t *tx) signStanding(g action.StandingGrant, source action.Action, v action.Vote, event string) error {
	who, err := person(t.conn, v.Voter, t.now)
	if err != nil {
		return err
	}
	v.ActionID, v.At = g.ID, t.now
	if err := verbs.AdmitStanding(g, v, who, t.now); err != nil {
		return err
	}
	void, err := verbs.ByOldWay(v, t.passkey)
	if err != nil {
		return err
	}
	if void {
		return action.ErrPasskey
	}
	n, err := t.number("SELECT count(*) FROM standing_vote WHERE grant_id = ? AND voter = ?", g.ID, v.Voter)
	if err != nil {
		return err
	}
	if n > 0 {
		return action.ErrVoted
	}
	row := approval.Ballot(g)
	v.For = approval.StandsFor(*row.Terms, approval.ProposerOf(row), who)
	envelope := v.Envelope
	if envelope == nil {
		envelope = []byte{}
	}
	if _, err := t.exec(`INSERT INTO standing_vote (grant_id, voter, reason, digest, nonce, method, envelope, at, login, login_at, behalf)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		g.ID, v.Voter, v.Reason, v.Digest, v.Nonce, v.Method, envelope, v.At, v.Login, v.LoginAt, verbs.ListText(v.For)); err != nil {
		return fmt.Errorf("insert vote: %w", err)
	}
	by, err := inviters(t.conn, v.Voter)
	if err != nil {
		return err
	}
	return t.record(verbs.StandingRecord(event, g, source, v, verbs.Ties(source, who, by)))
}

// RevokeGrant ends a standing grant. Once it has returned, no run begins
// under the grant any more.
func (s *Store) RevokeGrant(ctx context.Context, tenant, id, account string) (action.StandingGrant, error) {
	return s.grant(ctx, func(t *tx) (action.StandingGrant, error) {
		g, err := s.standingGrant(t.conn, "WHERE g.tenant = ? AND g.id = ?", tenant, id)
		if err != nil {
			return action.StandingGrant{}, err
		}
		who, err := person(t.conn, account, t.now)
		if err == nil {
			err = approval.MayRevokeStanding(g, who)
		}
		if err == nil && !g.RevokedAt.IsZero() {
			err = action.ErrState
		}
		if err != nil {
			return action.StandingGrant{}, err
		}
		g.RevokedAt, g.RevokedBy = t.now, account
		if _, err := t.exec("UPDATE standing_grant SET revoked_at = ?, revoked_by = ? WHERE id = ?", t.now, account, id); err != nil {
			return action.StandingGrant{}, fmt.Errorf("revoke standing grant: %w", err)
		}
		return g, t.record(verbs.StandingRevokedRecord(g))
	})
}

// Cover approves a pending row by a standing grant.
func (s *Store) Cover(ctx context.Context, id, grant string) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, id)
		if err != nil {
			return action.Action{}, err
		}
		g, err := s.standingGrant(t.conn, "WHERE g.tenant = ? AND g.id = ?", row.Tenant, grant)
		if err != nil {
			return action.Action{}, err
		}
		votes, err := t.tallyStanding(g)
		if err != nil {
			return row, err
		}
		taken, err := t.withCovered(g)
		if err != nil {
			return row, err
		}
		m, amount, err := verbs.Cover(row, taken, votes, t.now)
		if err != nil {
			return row, err
		}
		if _, err := t.exec("INSERT INTO standing_cover (action_id, grant_id, amount, at) VALUES (?, ?, ?, ?)", row.ID, g.ID, amount, t.now); err != nil {
			return row, fmt.Errorf("cover action: %w", err)
		}
		return t.carry(row, m)
	})
}

// withCovered adds to a grant what the rows that it has approved, and that
// have not run or ended yet, will still use.
func (t *tx) withCovered(g action.StandingGrant) (action.StandingGrant, error) {
	err := t.query(func(cur *cursor) error { g.Uses += int(cur.int()); g.Spent += cur.int(); return nil },
		`SELECT count(*), coalesce(sum(c.amount), 0) FROM standing_cover c JOIN action a ON a.id = c.action_id
		WHERE c.grant_id = ? AND c.used_at IS NULL AND a.state IN ('approved', 'claimed')`, g.ID)
	return g, err
}

func (t *tx) tallyStanding(g action.StandingGrant) (approval.Standing, error) {
	votes, err := standingVotes(t.conn, g.ID)
	if err != nil {
		return approval.Waiting, err
	}
	return verbs.Tally(approval.Ballot(g), votes, func(id string) (action.Person, error) { return person(t.conn, id, t.now) }, t.passkey)
}

// cover is the grant that approved a row, nil where votes did.
func (t *tx) cover(row action.Action) (*action.StandingGrant, error) {
	if row.Terms == nil {
		return nil, nil
	}
	g, err := t.store.standingGrant(t.conn, "WHERE g.id = (SELECT c.grant_id FROM standing_cover c WHERE c.action_id = ?)", row.ID)
	if errors.Is(err, action.ErrNotFound) {
		return nil, nil
	}
	return &g, err
}

// backed checks who or what allowed a row: its votes with the accounts as
// they are now, or the standing grant that covers it, with its signatures.
func (t *tx) backed(row action.Action, again bool) (*action.StandingGrant, error) {
	g, err := t.cover(row)
	if err != nil {
		return nil, err
	}
	if g == nil {
		standing, err := t.tally(row)
		if err == nil {
			err = verbs.Suffice(standing)
		}
		return nil, err
	}
	votes, err := t.tallyStanding(*g)
	if err != nil {
		return g, err
	}
	if again { // its use was counted when it was sent first
		if !g.RevokedAt.IsZero() {
			return g, fmt.Errorf("%w: the standing grant was revoked", action.ErrIneligible)
		}
		return g, verbs.Suffice(votes)
	}
	return g, verbs.UseStanding(row, *g, votes, t.now)
}

// spend counts one use of the grant that covers a row, whatever was checked
// before: the condition of the update is what bounds it.
func (t *tx) spend(row action.Action, g *action.StandingGrant) error {
	if g == nil {
		return nil
	}
	amount, member := approval.Uncovered(*g, row)
	if member != "" {
		return fmt.Errorf("%w: %w: it does not cover %s", action.ErrIneligible, action.ErrStanding, member)
	}
	n, err := t.exec(`UPDATE standing_grant SET uses = uses + 1, spent = spent + ? WHERE id = ? AND uses < max_uses AND revoked_at IS NULL
		AND expires_at > ? AND (total IS NULL OR spent + ? <= total)`, amount, g.ID, t.now, amount)
	if err != nil {
		return fmt.Errorf("use standing grant: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("%w: %w: it is over, revoked or used up", action.ErrIneligible, action.ErrStanding)
	}
	n, err = t.exec("UPDATE standing_cover SET used_at = ? WHERE action_id = ? AND used_at IS NULL", t.now, row.ID)
	if err == nil && n != 1 {
		err = action.ErrConsumed
	}
	return err
}

// Grants lists standing grants, newest first.
func (s *Store) Grants(ctx context.Context, f action.StandingFilter) (out []action.StandingGrant, err error) {
	var w where
	w.equal("g.tenant", f.Tenant)
	w.equal("g.principal", f.Principal)
	w.equal("g.agent", f.Agent)
	w.equal("g.tool", f.Tool)
	if f.Usable {
		w.add("g.revoked_at IS NULL AND g.uses < g.max_uses AND g.expires_at > ?", s.present())
	}
	if f.Before != "" {
		w.add("g.seq < (SELECT b.seq FROM standing_grant b WHERE b.id = ?)", f.Before)
	}
	err = s.read(ctx, func(c *conn) error {
		out, err = s.standingGrants(c, w.sql()+" ORDER BY g.seq DESC LIMIT ?", append(w.args, limit(f.Limit))...)
		return err
	})
	return out, err
}

// GrantVotes returns the signatures of a standing grant in the order of their
// arrival.
func (s *Store) GrantVotes(ctx context.Context, tenant, id string) (out []action.Vote, err error) {
	err = s.read(ctx, func(c *conn) error {
		if _, err := s.standingGrant(c, "WHERE g.tenant = ? AND g.id = ?", tenant, id); err != nil {
			return err
		}
		out, err = standingVotes(c, id)
		return err
	})
	return out, err
}

// StandingGrant returns one standing grant of a tenant.
func (s *Store) StandingGrant(ctx context.Context, tenant, id string) (g action.StandingGrant, err error) {
	err = s.read(ctx, func(c *conn) error {
		g, err = s.standingGrant(c, "WHERE g.tenant = ? AND g.id = ?", tenant, id)
		return err
	})
	return g, err
}

// CoveredBy returns the standing grant that approved an action; ErrNotFound
// where none did.
func (s *Store) CoveredBy(ctx context.Context, tenant, id string) (g action.StandingGrant, err error) {
	err = s.read(ctx, func(c *conn) error {
		g, err = s.standingGrant(c, "WHERE g.tenant = ? AND g.id = (SELECT c.grant_id FROM standing_cover c WHERE c.action_id = ?)", tenant, id)
		return err
	})
	return g, err
}

func (s *Store) standingGrant(c *conn, where string, args ...any) (action.StandingGrant, error) {
	found, err := s.standingGrants(c, where, args...)
	if err == nil && len(found) == 0 {
		err = action.ErrNotFound
	}
	if err != nil {
		return action.StandingGrant{}, err
	}
	return found[0], nil
}

func (s *Store) standingGrants(c *conn, where string, args ...any) ([]action.StandingGrant, error) {
	var out []action.StandingGrant
	err := c.query(func(cur *cursor) error {
		g := action.StandingGrant{ID: cur.text(), Tenant: cur.text(), Principal: cur.text(), Agent: cur.text(), Owner: cur.text(), Task: cur.text(),
			GrantID: cur.text(), GrantDigest: cur.digest(), Tool: cur.text(), Definition: cur.digest(), PolicyVersion: cur.text(), Source: cur.text()}
		scope, requirements := cur.blob(), cur.text()
		g.StepUp, g.Nonce, g.RequestedAt, g.ExpiresAt, g.Digest = cur.bool(), cur.text(), cur.time(), cur.time(), cur.digest()
		g.MaxUses, g.Uses, g.Spent, g.RevokedAt, g.RevokedBy = int(cur.int()), int(cur.int()), cur.int(), cur.time(), cur.text()
		if err := errors.Join(verbs.ParseRequirements(requirements, &g.Requirements), s.openScope(&g, &scope), cur.err); err != nil {
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
func (s *Store) openScope(g *action.StandingGrant, sealed *[]byte) error {
	if *sealed == nil {
		return nil
	}
	text, err := s.opt.Sealer.Open(verbs.StandingPlace(*g, keys.Shelf{}), *sealed)
	if errors.Is(err, keys.ErrErased) {
		*sealed = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("standing grant %s: %w: %w", g.ID, verbs.ErrTampered, err)
	}
	return verbs.ParseScope(string(text), &g.Scope)
}

func standingVotes(c *conn, id string) ([]action.Vote, error) {
	var out []action.Vote
	err := c.query(func(cur *cursor) error {
		v := action.Vote{ActionID: cur.text(), Voter: cur.text(), Approve: true, Reason: cur.text(), Digest: cur.digest(), Nonce: cur.text(),
			Method: cur.text(), Envelope: cur.blob(), At: cur.time(), Login: cur.blob(), LoginAt: cur.time()}
		if len(v.Envelope) == 0 {
			v.Envelope = nil
		}
		if err := verbs.ParseList(cur.text(), &v.For); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	}, `SELECT grant_id, voter, reason, digest, nonce, method, envelope, at, login, login_at, behalf FROM standing_vote WHERE grant_id = ?
		ORDER BY rowid`, id)
	return out, err
}
