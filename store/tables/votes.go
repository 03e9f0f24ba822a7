package tables

import (
	"context"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// People is what people do to actions, for a store that embeds it.
type People struct {
	db      DB
	arrival string
}

// NewPeople is what people do to the actions of a store. arrival is the column
// of vote that counts its rows as they come.
func NewPeople(db DB, arrival string) People { return People{db, arrival} }

// Vote adds one vote and moves the row when the votes are enough or one
// rejects.
func (p People) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	return p.db.Change(ctx, func(t Rows) (action.Action, error) {
		row, err := t.Row(v.ActionID)
		if err != nil {
			return action.Action{}, err
		}
		who, err := t.Person(v.Voter)
		if err != nil {
			return action.Action{}, err
		}
		v := v
		v.At = t.Now()
		err = verbs.Admit(row, v, who, t.Now())
		if err == nil {
			err = newVote(t, v, "SELECT count(*) FROM vote WHERE action_id = $1 AND voter = $2")
		}
		if err != nil {
			return verbs.Visible(row, err), err
		}
		v.For = approval.StandsFor(*row.Terms, approval.ProposerOf(row), who)
		if err := keepVote(t, row, v, who); err != nil {
			return verbs.Visible(row, err), err
		}
		return count(t, row, v)
	})
}

// newVote refuses a vote that counts for nothing, or comes again. known counts
// the votes of somebody on something.
func newVote(t Tx, v action.Vote, known string) error {
	void, err := verbs.Worthless(v, Passkeys(t))
	if err != nil {
		return err
	}
	if void {
		return action.ErrPasskey
	}
	n, err := number(t, known, v.ActionID, v.Voter)
	if err == nil && n > 0 {
		err = action.ErrVoted
	}
	return err
}

func keepVote(t Rows, row action.Action, v action.Vote, who action.Person) error {
	if err := t.KeepVote(row, v); err != nil {
		return err
	}
	by, err := t.Inviters(v.Voter)
	if err != nil {
		return err
	}
	return t.Record(verbs.VoteRecord(row, v, verbs.Ties(row, who, by)))
}

// count moves the row when the vote decides.
func count(t Rows, row action.Action, v action.Vote) (action.Action, error) {
	standing, err := t.Tally(row)
	if err != nil {
		return row, err
	}
	m, decided := verbs.Count(row, v, standing, t.Now())
	if !decided {
		return row, nil
	}
	return t.Carry(row, m)
}

// Dismiss ends a pending or approved row for its requester.
func (p People) Dismiss(ctx context.Context, id, principal string) (action.Action, error) {
	return p.end(ctx, id, func(_ Rows, row action.Action) (verbs.Move, error) { return verbs.Dismiss(row, principal) })
}

// Revoke ends a pending, approved or claimed row for an approver or operator.
func (p People) Revoke(ctx context.Context, id, account, reason string) (action.Action, error) {
	return p.end(ctx, id, func(t Rows, row action.Action) (verbs.Move, error) {
		who, err := Actor(t, row, account)
		if err != nil {
			return verbs.Move{}, err
		}
		return verbs.Revoke(row, who, reason)
	})
}

func (p People) end(ctx context.Context, id string, rule func(Rows, action.Action) (verbs.Move, error)) (action.Action, error) {
	return p.db.Change(ctx, func(t Rows) (action.Action, error) {
		row, err := t.Row(id)
		if err != nil {
			return action.Action{}, err
		}
		m, err := rule(t, row)
		if err != nil {
			return verbs.Visible(row, err), err
		}
		return t.Carry(row, m)
	})
}

// Actor returns an account that acts on a row. It must be active and of the
// row's tenant; to another tenant the row does not exist.
func Actor(t Tx, row action.Action, id string) (action.Person, error) {
	who, err := t.Person(id)
	if err == nil {
		err = verbs.MayAct(row, who)
	}
	if err != nil {
		return action.Person{}, err
	}
	return who, nil
}

// VoteColumns are what VoteOf reads, of a table of votes.
const VoteColumns = "voter, reason, digest, nonce, method, envelope, at, login, login_at, behalf"

// VoteOf reads a vote on something.
func VoteOf(cur Row, on string, approve bool) (action.Vote, error) {
	v := action.Vote{ActionID: on, Voter: cur.Text(), Approve: approve, Reason: cur.Text(), Digest: cur.Digest(), Nonce: cur.Text(),
		Method: cur.Text(), Envelope: cur.Blob(), At: cur.Time(), Login: cur.Blob(), LoginAt: cur.Time()}
	if len(v.Envelope) == 0 {
		v.Envelope = nil
	}
	return v, verbs.ParseList(cur.Text(), &v.For)
}

// VotesOf returns the votes on a row, which is there. arrival is as in
// [NewPeople].
func VotesOf(c Reader, id, arrival string) (out []action.Vote, err error) {
	err = c.Query(func(cur Row) error {
		approve := cur.Bool()
		v, err := VoteOf(cur, id, approve)
		out = append(out, v)
		return err
	}, "SELECT approve, "+VoteColumns+" FROM vote WHERE action_id = $1 ORDER BY "+arrival, id)
	return out, err
}

// VoteValues are what is kept of a vote, in the order of VoteColumns.
func VoteValues(v action.Vote) []any {
	envelope := v.Envelope
	if envelope == nil {
		envelope = []byte{}
	}
	return []any{v.Voter, v.Reason, v.Digest, v.Nonce, v.Method, envelope, v.At, v.Login, v.LoginAt, verbs.ListText(v.For)}
}
