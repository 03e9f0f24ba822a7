package sqlite

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// KeepVote writes a vote on a row.
func (t *tx) KeepVote(_ action.Action, v action.Vote) error {
	if _, err := t.exec("INSERT INTO vote ("+tables.VoteColumns+", approve, action_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		append(tables.VoteValues(v), v.Approve, v.ActionID)...); err != nil {
		return fmt.Errorf("insert vote: %w", err)
	}
	return nil
}

// Tally counts the stored votes with the accounts as they are now.
func (t *tx) Tally(row action.Action) (approval.Standing, error) { return t.tally(row) }

// tally counts the stored votes with the accounts as they are now.
func (t *tx) tally(row action.Action) (approval.Standing, error) {
	if row.Terms == nil {
		return approval.Waiting, nil
	}
	votes, err := tables.VotesOf(t, row.ID, arrival)
	if err != nil {
		return approval.Waiting, err
	}
	return verbs.Tally(row, votes, func(id string) (action.Person, error) { return person(t.conn, id, t.now) }, tables.Passkeys(t))
}
