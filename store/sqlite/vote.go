package sqlite

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Vote adds one vote and moves the row when the votes are enough or one
// rejects.
func (s *Store) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := s.load(t.conn, v.ActionID)
		if err != nil {
			return action.Action{}, err
		}
		who, err := person(t.conn, v.Voter)
		if err != nil {
			return action.Action{}, err
		}
		if who.Tenant != row.Tenant { // who may not know that the row exists
			return action.Action{}, action.ErrNotFound
		}
		v.At = t.now
		if err := t.admit(row, v, who); err != nil {
			return row, err
		}
		if err := t.insertVote(row, v); err != nil {
			return row, err
		}
		return t.count(row, v)
	})
}

// admit checks a vote before it is kept.
func (t *tx) admit(row action.Action, v action.Vote, who action.Person) error {
	switch {
	case row.State != action.PendingApproval || row.Terms == nil:
		return action.ErrState
	case !t.now.Before(row.Deadline):
		return action.ErrLate
	case v.Digest != row.Terms.Digest:
		return action.ErrDigest
	}
	if err := approval.Eligible(*row.Terms, approval.ProposerOf(row), who); err != nil {
		return err
	}
	switch void, err := t.byOldWay(v); {
	case err != nil:
		return err
	case void:
		return action.ErrPasskey
	}
	n, err := t.number("SELECT count(*) FROM vote WHERE action_id = ? AND voter = ?", v.ActionID, v.Voter)
	if err == nil && n > 0 {
		err = action.ErrVoted
	}
	return err
}

// byOldWay reports whether a vote was made by password though its voter had a
// passkey by then.
func (t *tx) byOldWay(v action.Vote) (bool, error) {
	if v.Method == action.MethodPasskey {
		return false, nil
	}
	return hasPasskey(t.conn, v.Voter, v.At)
}

func (t *tx) insertVote(row action.Action, v action.Vote) error {
	envelope := v.Envelope
	if envelope == nil {
		envelope = []byte{}
	}
	if _, err := t.exec(`INSERT INTO vote (action_id, voter, approve, reason, digest, nonce, method, envelope, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.ActionID, v.Voter, v.Approve, v.Reason, v.Digest, v.Nonce, v.Method, envelope, v.At); err != nil {
		return fmt.Errorf("insert vote: %w", err)
	}
	event := audit.VoteReject
	if v.Approve {
		event = audit.VoteApprove
	}
	return t.record(about(event, row.State, row, v.Voter),
		facts{"method": v.Method, "approvalDigest": v.Digest.String(), "voteDigest": approval.VoteDigest(v).String()},
		secrets{"envelope": v.Envelope, "reason": []byte(v.Reason)})
}

// count moves the row when the vote decides.
func (t *tx) count(row action.Action, v action.Vote) (action.Action, error) {
	standing, err := t.tally(row)
	if err != nil {
		return row, err
	}
	to, event := row, audit.ActionApproved
	switch {
	case !v.Approve || standing == approval.Refused:
		to.State, to.Result, event = action.Denied, end(codeRejected, v.Reason), audit.ActionDenied
	case standing == approval.Enough:
		to.State, to.Deadline = action.Approved, earlier(t.now.Add(row.Terms.TTL), row.Terms.ExpiresAt)
	default:
		return row, nil
	}
	out, err := t.move(row, to)
	if err != nil {
		return out, err
	}
	r := about(event, row.State, out, v.Voter)
	if out.State == action.Denied {
		r.Code = codeRejected
	}
	return out, t.record(r, facts{"approvalDigest": row.Terms.Digest.String(), "policyVersion": row.Decision.PolicyVersion}, nil)
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
	people := make(map[string]action.Person, len(votes))
	var counted []action.Vote
	for _, v := range votes {
		void, err := t.byOldWay(v)
		if err != nil {
			return approval.Waiting, err
		}
		if void {
			continue
		}
		if people[v.Voter], err = person(t.conn, v.Voter); err != nil {
			return approval.Waiting, err
		}
		counted = append(counted, v)
	}
	return approval.Tally(*row.Terms, approval.ProposerOf(row), counted, people), nil
}

func votesOf(c *conn, id string) ([]action.Vote, error) {
	var out []action.Vote
	err := c.query(func(cur *cursor) error {
		v := action.Vote{ActionID: cur.text(), Voter: cur.text(), Approve: cur.bool(), Reason: cur.text(),
			Digest: cur.digest(), Nonce: cur.text(), Method: cur.text(), Envelope: cur.blob(), At: cur.time()}
		if len(v.Envelope) == 0 {
			v.Envelope = nil
		}
		out = append(out, v)
		return nil
	}, `SELECT action_id, voter, approve, reason, digest, nonce, method, envelope, at FROM vote WHERE action_id = ?
		ORDER BY rowid`, id)
	return out, err
}
