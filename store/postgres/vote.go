package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Vote adds one vote and moves the row when the votes are enough or one
// rejects.
func (s *Store) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.lock(v.ActionID)
		if err != nil {
			return action.Action{}, err
		}
		who, err := person(t.conn, v.Voter, t.now(), lockVoters)
		if err != nil {
			return action.Action{}, err
		}
		v := v
		v.At = t.now()
		if err := t.admit(row, v, who); err != nil {
			return verbs.Visible(row, err), err
		}
		v.For = approval.StandsFor(*row.Terms, approval.ProposerOf(row), who)
		if err := t.insertVote(row, v, who); err != nil {
			return verbs.Visible(row, err), err
		}
		return t.count(row, v)
	})
}

// admit checks a vote before it is kept.
func (t *tx) admit(row action.Action, v action.Vote, who action.Person) error {
	if err := verbs.Admit(row, v, who, t.now()); err != nil {
		return err
	}
	void, err := verbs.ByOldWay(v, t.passkey)
	if err != nil {
		return err
	}
	if void {
		return action.ErrPasskey
	}
	n, err := t.number("SELECT count(*) FROM vote WHERE action_id = $1 AND voter = $2", v.ActionID, v.Voter)
	if err == nil && n > 0 {
		err = action.ErrVoted
	}
	return err
}

func (t *tx) passkey(account string, at time.Time) (bool, error) {
	return tables.HasPasskey(t, account, at)
}

func (t *tx) insertVote(row action.Action, v action.Vote, who action.Person) error {
	envelope := v.Envelope
	if envelope == nil {
		envelope = []byte{}
	}
	if _, err := t.exec(`INSERT INTO vote (tenant, action_id, voter, approve, reason, digest, nonce, method, envelope, at, login, login_at, behalf)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		row.Tenant, v.ActionID, v.Voter, v.Approve, v.Reason, v.Digest, v.Nonce, v.Method, envelope, v.At, v.Login, v.LoginAt, verbs.ListText(v.For)); err != nil {
		// The key is the second line: one vote of one person, however two came here.
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == uniqueViolation && refused.ConstraintName == "vote_pkey" {
			return action.ErrVoted
		}
		return fmt.Errorf("insert vote: %w", err)
	}
	by, err := inviters(t.conn, v.Voter)
	if err != nil {
		return err
	}
	return t.record(verbs.VoteRecord(row, v, verbs.Ties(row, who, by)))
}

// count moves the row when the vote decides.
func (t *tx) count(row action.Action, v action.Vote) (action.Action, error) {
	standing, err := t.tally(row, "")
	if err != nil {
		return row, err
	}
	m, decided := verbs.Count(row, v, standing, t.now())
	if !decided {
		return row, nil
	}
	return t.carry(row, m)
}

// lockVoters keeps accounts as they are until the transaction has ended.
const lockVoters = " FOR SHARE"

// tally counts the stored votes with the accounts as they are now.
func (t *tx) tally(row action.Action, lock string) (approval.Standing, error) {
	if row.Terms == nil {
		return approval.Waiting, nil
	}
	var votes []action.Vote
	steps := []step{votesStep(row.ID, &votes)}
	if lock != "" {
		steps = append(steps, do(`SELECT 1 FROM account WHERE id IN (SELECT voter FROM vote WHERE action_id = $1) OR id IN (SELECT d.delegator FROM delegation d
			JOIN vote v ON v.voter = d.delegate WHERE v.action_id = $1 AND d.ended_at IS NULL) ORDER BY id`+lock, row.ID))
	}
	if err := t.run(steps...); err != nil {
		return approval.Waiting, err
	}
	return verbs.Tally(row, votes, func(id string) (action.Person, error) { return person(t.conn, id, t.now(), "") }, t.passkey)
}

func votesOf(c *conn, id string) ([]action.Vote, error) {
	var out []action.Vote
	err := c.run(votesStep(id, &out))
	return out, err
}

func votesStep(id string, out *[]action.Vote) step {
	return ask(func(cur *cursor) error {
		v := action.Vote{ActionID: cur.text(), Voter: cur.text(), Approve: cur.bool(), Reason: cur.text(),
			Digest: cur.digest(), Nonce: cur.text(), Method: cur.text(), Envelope: cur.blob(), At: cur.time(), Login: cur.blob(), LoginAt: cur.time()}
		if err := verbs.ParseList(cur.text(), &v.For); err != nil {
			return err
		}
		if len(v.Envelope) == 0 {
			v.Envelope = nil
		}
		*out = append(*out, v)
		return nil
	}, `SELECT action_id, voter, approve, reason, digest, nonce, method, envelope, at, login, login_at, behalf FROM vote WHERE action_id = $1
		ORDER BY seq`, id)
}
