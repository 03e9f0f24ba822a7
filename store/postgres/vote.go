package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// KeepVote writes a vote on a row.
func (t *tx) KeepVote(row action.Action, v action.Vote) error {
	_, err := t.exec("INSERT INTO vote ("+tables.VoteColumns+", approve, tenant, action_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
		append(tables.VoteValues(v), v.Approve, row.Tenant, v.ActionID)...)
	// The key is the second line: one vote of one person, however two came here.
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == uniqueViolation && refused.ConstraintName == "vote_pkey" {
		return action.ErrVoted
	}
	if err != nil {
		return fmt.Errorf("insert vote: %w", err)
	}
	return nil
}

// Tally is for a vote that comes: whether the row may run is asked again when
// it does.
func (t *tx) Tally(row action.Action) (approval.Standing, error) { return t.tally(row, "") }

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
	return verbs.Tally(row, votes, func(id string) (action.Person, error) { return person(t.conn, id, t.now(), "") }, tables.Passkeys(t))
}

func votesStep(id string, out *[]action.Vote) step {
	return ask(func(cur *cursor) error {
		approve := cur.bool()
		v, err := tables.VoteOf(cur, id, approve)
		*out = append(*out, v)
		return err
	}, "SELECT approve, "+tables.VoteColumns+" FROM vote WHERE action_id = $1 ORDER BY "+arrival, id)
}
