package postgres

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const saveSQL = `UPDATE action SET state = $1, fence = $2, lease_until = $3, attempt = $4, updated_at = $5, deadline = $6,
	caller_gone = $7, effect = $8, code = $9, reason = $10, public_reason = $11, result_mode = $12, policy_version = $13,
	rules = $14, process = $15, timeline = $16, ended_at = $17, end_error = $18, end_evidence = $19, end_code = $20,
	end_detail = $21, end_comparison = $22 WHERE id = $23 AND state = $24 AND fence = $25`

// carry takes a row over one edge of the state table by compare-and-swap on
// state and fence, with all that goes with it: the output of the tool, the end
// of the attempt, and the record. It returns the row as it then is; ErrState
// comes with the row as it was. The row is locked: should it have moved all
// the same, the transaction fails.
func (t *tx) carry(row action.Action, m verbs.Move) (action.Action, error) {
	return t.carryWith(row, m, func(*compound) {})
}

// carryStarted is carry over the commit point.
func (t *tx) carryStarted(row action.Action, m verbs.Move, server canon.Digest) (action.Action, error) {
	return t.carryWith(row, m, func(c *compound) { c.attempted(m.To, t.now(), server) })
}

func (t *tx) carryWith(row action.Action, m verbs.Move, add func(*compound)) (action.Action, error) {
	if !action.CanMove(row.State, m.To.State) {
		return row, action.ErrState
	}
	to := t.moved(m)
	save, err := t.save(row, to)
	if err != nil {
		return action.Action{}, err
	}
	add(save)
	moved, err := t.recordOf(save, m.Record, m.Facts, m.Secrets)
	if err != nil {
		return action.Action{}, err
	}
	moved.fail = func(err error) error { return fmt.Errorf("move action to %s: %w", to.State, err) }
	to.Leaf = t.leaf
	limits := t.settleLimits(to)
	t.last(append(limits, moved)...)
	if len(limits) > 0 { // it may have to wait for others, which the end of a transaction should not
		return to, t.run()
	}
	return to, nil
}

// moved is a row as a move leaves it, at the time of the transaction.
func (t *tx) moved(m verbs.Move) action.Action {
	to := m.To
	to.UpdatedAt = t.now()
	if to.Result != nil {
		result := *to.Result
		result.At = t.now()
		to.Result = &result
	}
	return to
}

// saved are the values of a moved row, in the order of saveSQL.
func (t *tx) saved(from, to action.Action) []any {
	r, d := action.Result{}, to.Decision
	if to.Result != nil {
		r = *to.Result
	}
	return []any{string(to.State), to.Fence, to.LeaseUntil, to.Attempt, to.UpdatedAt, to.Deadline,
		to.CallerGone, d.Effect, d.Code, d.Reason, d.PublicReason, d.ResultMode, d.PolicyVersion, verbs.ListText(d.Rules),
		t.store.process, t.session.timeline, r.At, r.IsError, r.Evidence, r.Code, r.Detail, r.Comparison,
		from.ID, string(from.State), from.Fence}
}

// save begins the statement that writes a moved row.
func (t *tx) save(from, to action.Action) (*compound, error) {
	c := compose(saveSQL, t.saved(from, to)...)
	b, err := t.sealOutput(to)
	if err != nil {
		return nil, fmt.Errorf("seal result: %w", err)
	}
	if b != nil {
		c.with("p", "UPDATE payload SET result = ?::bytea FROM a WHERE action_seq = a.seq", b)
	}
	if to.State == action.Succeeded && b == nil { // what an unclear end left is not its output
		c.with("p", "UPDATE payload SET result = NULL FROM a WHERE result IS NOT NULL AND action_seq = a.seq")
	}
	if from.State == action.Executing {
		c.with("n", "UPDATE attempt SET ended_at = ?, outcome = ? FROM a WHERE action_seq = a.seq AND attempt = ?",
			t.now(), string(to.State), to.Attempt)
	}
	return c, nil
}
