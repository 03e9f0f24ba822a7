package tables

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Cover approves a pending row by a standing grant of its tenant.
func (s Grants) Cover(ctx context.Context, id, grant string) (action.Action, error) {
	return s.db.Change(ctx, func(t Rows) (action.Action, error) {
		row, err := t.Row(id)
		if err != nil {
			return action.Action{}, err
		}
		m, err := s.cover(t, row, grant)
		if err != nil {
			return verbs.Visible(row, err), err
		}
		return t.Carry(row, m)
	})
}

func (s Grants) cover(t Rows, row action.Action, grant string) (verbs.Move, error) {
	g, err := s.held(t, "WHERE g.tenant = $1 AND g.id = $2", row.Tenant, grant)
	if err != nil {
		return verbs.Move{}, err
	}
	votes, err := s.tally(t, g)
	if err != nil {
		return verbs.Move{}, err
	}
	taken, err := withCovered(t, g)
	if err != nil {
		return verbs.Move{}, err
	}
	m, amount, err := verbs.Cover(row, taken, votes, t.Now())
	if err == nil {
		err = t.KeepCover(row, g.ID, amount)
	}
	return m, err
}

// withCovered adds to a grant what the rows that it has approved, and that
// have not run or ended yet, will still use.
func withCovered(c Reader, g action.StandingGrant) (action.StandingGrant, error) {
	err := c.Query(func(cur Row) error { g.Uses += int(cur.Int()); g.Spent += cur.Int(); return nil },
		`SELECT count(*), CAST(coalesce(sum(c.amount), 0) AS BIGINT) FROM standing_cover c JOIN action a ON a.id = c.action_id
		WHERE c.grant_id = $1 AND c.used_at IS NULL AND a.state IN ('approved', 'claimed')`, g.ID)
	return g, err
}

// tally counts the signatures of a grant with the accounts as they are now.
func (s Grants) tally(t Tx, g action.StandingGrant) (approval.Standing, error) {
	votes, err := s.votes(t, g.ID)
	if err != nil {
		return approval.Waiting, err
	}
	if err := t.Share(`SELECT 1 FROM account WHERE id IN (SELECT voter FROM standing_vote WHERE grant_id = $1) OR id IN (SELECT d.delegator
		FROM delegation d JOIN standing_vote v ON v.voter = d.delegate WHERE v.grant_id = $1 AND d.ended_at IS NULL) ORDER BY id`, g.ID); err != nil {
		return approval.Waiting, err
	}
	return verbs.Tally(approval.Ballot(g), votes, t.Person, Passkeys(t))
}

// Backing is the standing grant that approved a row, with its signatures
// checked as they are now; nil where none did, so that votes must have. Where
// the row is sent again, the grant's use was counted when it was sent first.
func Backing(s Grants, t Tx, row action.Action, again bool) (*action.StandingGrant, error) {
	if row.Terms == nil {
		return nil, nil
	}
	grant := ""
	if err := t.Query(func(cur Row) error { grant = cur.Text(); return nil },
		"SELECT grant_id FROM standing_cover WHERE action_id = $1", row.ID); err != nil || grant == "" {
		return nil, err
	}
	g, err := s.held(t, "WHERE g.id = $1", grant)
	if err != nil {
		return nil, err
	}
	votes, err := s.tally(t, g)
	switch {
	case err != nil:
		return nil, err
	case !again:
		return &g, verbs.UseStanding(row, g, votes, t.Now())
	case !g.RevokedAt.IsZero():
		return nil, fmt.Errorf("%w: the standing grant was revoked", action.ErrIneligible)
	}
	return &g, verbs.Suffice(votes)
}

// Spend counts one use of the grant that covers a row, whatever was checked
// before: the condition of the update is what bounds it. A nil grant is none.
func Spend(t Tx, row action.Action, g *action.StandingGrant) error {
	if g == nil {
		return nil
	}
	amount, member := approval.Uncovered(*g, row)
	if member != "" {
		return fmt.Errorf("%w: %w: it does not cover %s", action.ErrIneligible, action.ErrStanding, member)
	}
	n, err := t.Exec(`UPDATE standing_grant SET uses = uses + 1, spent = spent + $1 WHERE id = $2 AND uses < max_uses AND revoked_at IS NULL
		AND expires_at > $3 AND (total IS NULL OR spent + $1 <= total)`, amount, g.ID, t.Now())
	if err != nil {
		return fmt.Errorf("use standing grant: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("%w: %w: it is over, revoked or used up", action.ErrIneligible, action.ErrStanding)
	}
	n, err = t.Exec("UPDATE standing_cover SET used_at = $1 WHERE action_id = $2 AND used_at IS NULL", t.Now(), row.ID)
	if err == nil && n != 1 {
		err = action.ErrConsumed
	}
	return err
}
