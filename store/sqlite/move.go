package sqlite

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const saveSQL = `UPDATE OR FAIL action SET swift = 0, state = ?, fence = ?, lease_until = ?, attempt = ?, updated_at = ?, deadline = ?,
	caller_gone = ?, effect = ?, code = ?, reason = ?, public_reason = ?, result_mode = ?, policy_version = ?, rules = ?,
	process = ?, ended_at = ?, end_error = ?, end_evidence = ?, end_code = ?, end_detail = ?, end_comparison = ?
	WHERE id = ? AND state = ? AND fence = ?`

// move takes a row over one edge of the state table by compare-and-swap on
// state and fence, and returns it as it then is. ErrState comes with the row
// as it was.
func (t *tx) move(from, to action.Action) (action.Action, error) {
	if !action.CanMove(from.State, to.State) {
		return from, action.ErrState
	}
	to.UpdatedAt = t.now
	r := action.Result{}
	if to.Result != nil {
		to.Result.At = t.now
		r = *to.Result
	}
	d := to.Decision
	n, err := t.exec(saveSQL, string(to.State), to.Fence, to.LeaseUntil, to.Attempt, to.UpdatedAt, to.Deadline,
		to.CallerGone, d.Effect, d.Code, d.Reason, d.PublicReason, d.ResultMode, d.PolicyVersion, verbs.ListText(d.Rules),
		t.store.process, r.At, r.IsError, r.Evidence, r.Code, r.Detail, r.Comparison,
		from.ID, string(from.State), from.Fence)
	if err != nil {
		return action.Action{}, fmt.Errorf("move action to %s: %w", to.State, err)
	}
	if n != 1 {
		return from, action.ErrState
	}
	t.moved(from, to)
	return to, nil
}

// keep seals the output of a result into the row, or beside it.
func (t *tx) keep(a action.Action) error {
	if a.Result == nil || len(a.Result.Output) == 0 && a.State != action.Succeeded {
		return nil // what an unclear end left stays
	}
	if len(a.Result.Output) == 0 {
		return t.forgetOutput(a)
	}
	b, err := t.store.opt.Sealer.Seal(keys.Place{Tenant: a.Tenant, Row: a.ID, Field: fieldResult, Shelf: verbs.Shelf(a)}, a.Result.Output)
	if err != nil {
		return fmt.Errorf("seal result: %w", err)
	}
	if err := t.forgetOutput(a); err != nil {
		return err
	}
	seq, err := t.number("SELECT seq FROM action WHERE id = ?", a.ID)
	if err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	if len(b) > maxOutput {
		return t.keepBeside(seq, b)
	}
	if _, err := t.exec("UPDATE action SET result = ? WHERE seq = ?", b, seq); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	return nil
}

// keepBeside keeps a long output beside the row; there is none in the row.
func (t *tx) keepBeside(seq int64, output []byte) error {
	if _, err := t.exec(`INSERT INTO payload (action_seq, result) VALUES (?, ?)
		ON CONFLICT (action_seq) DO UPDATE SET result = excluded.result`, seq, output); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	return nil
}

// forgetOutput drops what an earlier, unclear end left in a row or beside it.
func (t *tx) forgetOutput(a action.Action) error {
	_, err := t.exec("UPDATE action SET result = NULL WHERE result IS NOT NULL AND id = ?", a.ID)
	if err == nil {
		_, err = t.exec(`UPDATE payload SET result = NULL WHERE result IS NOT NULL
			AND action_seq = (SELECT seq FROM action WHERE id = ?)`, a.ID)
	}
	if err != nil {
		return fmt.Errorf("forget result: %w", err)
	}
	return nil
}

// carry takes a row over an edge with all that goes with it: the output of
// the tool, the end of the attempt, and the record.
func (t *tx) carry(row action.Action, m verbs.Move) (action.Action, error) {
	if m.To.Result != nil {
		result := *m.To.Result
		m.To.Result = &result
	}
	out, err := t.move(row, m.To)
	if err != nil {
		return out, err
	}
	if err := t.keep(out); err != nil {
		return action.Action{}, err
	}
	if err := t.settleLimits(out); err != nil {
		return action.Action{}, err
	}
	if row.State == action.Executing {
		if _, err := t.exec(`UPDATE attempt SET ended_at = ?, outcome = ?
			WHERE action_seq = (SELECT seq FROM action WHERE id = ?) AND attempt = ?`,
			t.now, string(out.State), out.ID, out.Attempt); err != nil {
			return action.Action{}, fmt.Errorf("end attempt: %w", err)
		}
	}
	out.Leaf, err = t.recorded(m.Record, m.Facts, m.Secrets)
	return out, err
}

// record writes one entry of the audit log. If it cannot be written, the
// whole verb fails.
func (t *tx) record(r audit.Record, f verbs.Facts, s verbs.Secrets) error {
	_, err := t.recorded(r, f, s)
	return err
}

// recorded is record for those who want the leaf.
func (t *tx) recorded(r audit.Record, f verbs.Facts, s verbs.Secrets) ([]byte, error) {
	e := verbs.NewEntry(t.now, r, f, s)
	return t.write(&e)
}

// What is refused beside the answers of package action.
var (
	ErrInvalid  = verbs.ErrInvalid  // a verb asked for what no caller may ask for
	ErrTampered = verbs.ErrTampered // a stored action was changed outside this program
	ErrMismatch = verbs.ErrMismatch // arguments do not hash to the proposal hash
)
