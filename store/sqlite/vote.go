package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Vote adds one vote and moves the row when the votes are enough or one
// rejects.
func (s *Store) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, v.ActionID)
		if err != nil {
			return action.Action{}, err
		}
		who, err := person(t.conn, v.Voter, t.now)
		if err != nil {
			return action.Action{}, err
		}
		v.At = t.now
		if err := t.admit(row, v, who); err != nil {
			return verbs.Visible(row, err), err
		}
		v.For = approval.StandsFor(*row.Terms, approval.ProposerOf(row), who)
		if err := t.insertVote(row, v, who); err != nil {
			return row, err
		}
		return t.count(row, v)
	})
}

// admit checks a vote before it is kept.
func (t *tx) admit(row action.Action, v action.Vote, who action.Person) error {
	if err := verbs.Admit(row, v, who, t.now); err != nil {
		return err
	}
	void, err := verbs.ByOldWay(v, t.passkey)
	if err != nil {
		return err
	}
	if void {
		return action.ErrPasskey
	}
	n, err := t.number("SELECT count(*) FROM vote WHERE action_id = ? AND voter = ?", v.ActionID, v.Voter)
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
	if _, err := t.exec(`INSERT INTO vote (action_id, voter, approve, reason, digest, nonce, method, envelope, at, login, login_at, behalf)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.ActionID, v.Voter, v.Approve, v.Reason, v.Digest, v.Nonce, v.Method, envelope, v.At, v.Login, v.LoginAt, verbs.ListText(v.For)); err != nil {
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
	standing, err := t.tally(row)
	if err != nil {
		return row, err
	}
	m, decided := verbs.Count(row, v, standing, t.now)
	if !decided {
		return row, nil
	}
	return t.carry(row, m)
}

// tally counts the stored votes with the accounts as they are now.
func (t *tx) tally(row action.Action) (approval.Standing, error) {
	if row.Terms == nil {
		return approval.Waiting, nil
	}
	votes, err := votesOf(t.conn, row.ID)
	if err != nil {
		return approval.Waiting, err
	}
	return verbs.Tally(row, votes, func(id string) (action.Person, error) { return person(t.conn, id, t.now) }, t.passkey)
}

func votesOf(c *conn, id string) ([]action.Vote, error) {
	var out []action.Vote
	err := c.query(func(cur *cursor) error {
		v := action.Vote{ActionID: cur.text(), Voter: cur.text(), Approve: cur.bool(), Reason: cur.text(),
			Digest: cur.digest(), Nonce: cur.text(), Method: cur.text(), Envelope: cur.blob(), At: cur.time(), Login: cur.blob(), LoginAt: cur.time()}
		if err := verbs.ParseList(cur.text(), &v.For); err != nil {
			return err
		}
		if len(v.Envelope) == 0 {
			v.Envelope = nil
		}
		out = append(out, v)
		return nil
	}, `SELECT action_id, voter, approve, reason, digest, nonce, method, envelope, at, login, login_at, behalf FROM vote WHERE action_id = ?
		ORDER BY rowid`, id)
	return out, err
}
