package sqlite

import (
	"bytes"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// run is a row that this process has begun, as it was written. Its end needs
// not read it again: the move compares what could have changed since, and
// reads the row where something has.
type run struct {
	row action.Action
	seq int64
	box *keys.RowSealer

	limited bool // it takes from limits
}

// What is remembered at most.
const (
	maxRuns       = 1024
	maxRunPayload = 64 << 10
)

// began notes a row that a verb has begun, for when that is committed.
func (t *tx) began(row *action.Action, box *keys.RowSealer, limited bool) {
	p := &row.Payload
	if len(p.Raw)+len(p.Requested)+len(p.Args)+len(p.Preview)+len(p.Facts) > maxRunPayload || !t.store.memory.roomForRun() {
		return
	}
	r := &run{row: *row, seq: t.seq, box: box, limited: limited}
	r.row.Leaf, r.row.Payload.Raw = nil, bytes.Clone(p.Raw)
	t.job.begun = r
}

func (m *memory) roomForRun() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.runs) < maxRuns
}

// keepRun remembers a row that has begun.
func (m *memory) keepRun(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.runs) < maxRuns {
		m.runs[r.row.ID] = r
	}
}

// takeRun hands over what is remembered of a row, once.
func (m *memory) takeRun(id string) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[id]
	delete(m.runs, id)
	return r
}

// endSQL is saveSQL for a run that is as this process began it.
const endSQL = `UPDATE OR FAIL action SET state = ?, lease_until = NULL, updated_at = ?, process = ?, ended_at = ?, end_error = ?,
	end_evidence = ?, end_code = ?, end_detail = ?, end_comparison = ?, result = ?, end_record = ?
	WHERE seq = ? AND id = ? AND state = 'executing' AND fence = ? AND attempt = ? AND updated_at = ? AND caller_gone = ?`

// end is the end of a run, made of what is remembered before the transaction.
type end struct {
	*run
	to     action.Action
	output []byte // sealed
	entry  *verbs.Entry
}

// ending makes the end of a run; nil where its row must be read first.
func (r *run) ending(e action.Ending) (*end, error) {
	if r == nil {
		return nil, nil
	}
	m, err := verbs.Finish(r.row, e)
	if err != nil || !action.CanMove(action.Executing, m.To.State) {
		return nil, nil // which the row, as it is read, says too
	}
	entry := verbs.NewEntry(time.Time{}, m.Record, m.Facts, m.Secrets)
	out := end{run: r, to: m.To, entry: &entry}
	if len(e.Result.Output) > 0 {
		if out.output, err = r.box.Seal(fieldResult, e.Result.Output); err != nil {
			return nil, fmt.Errorf("seal result: %w", err)
		}
	}
	return &out, nil
}

// inRow is the sealed output, if it stands in the row.
func (e *end) inRow() []byte {
	if len(e.output) > maxOutput {
		return nil
	}
	return e.output
}

// endRun writes the end of a run. known is false where its row must be read
// first; nothing is written then.
func (t *tx) endRun(r *end) (out action.Action, known bool, err error) {
	if r == nil {
		return action.Action{}, false, nil
	}
	to, result := r.to, *r.to.Result
	result.At = t.now
	to.UpdatedAt, to.Result = t.now, &result
	number := t.next()
	n, err := t.exec(endSQL, string(to.State), t.now, t.store.process, t.now, result.IsError, result.Evidence, result.Code,
		result.Detail, result.Comparison, r.inRow(), number, r.seq, to.ID, to.Fence, to.Attempt, r.row.UpdatedAt, r.row.CallerGone)
	if err != nil {
		return action.Action{}, true, fmt.Errorf("move action to %s: %w", to.State, err)
	}
	if n != 1 {
		return action.Action{}, false, nil
	}
	t.moved(r.row, to)
	// The attempt began with the row, and has none of its own.
	if len(r.output) > maxOutput {
		err = t.keepBeside(r.seq, r.output)
	}
	if err == nil && r.limited {
		err = t.settleLimits(to)
	}
	if err == nil {
		r.entry.At = t.now
		to.Leaf, err = t.writeNamed(r.entry, number)
	}
	if err != nil {
		return action.Action{}, true, fmt.Errorf("end run: %w", err)
	}
	return to, true, nil
}
