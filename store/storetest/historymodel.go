package storetest

import (
	"errors"

	"github.com/anishathalye/porcupine"

	"github.com/seed-de4804fb/verbatim/action"
)

// historyRows is how many rows the clients of one part of a history fight
// over, two that each client makes: the first half are calls that policy
// allows, the others two people must approve. All are the same request; in
// every other part they share a key.
const historyRows = 8

// historyInput is one operation of one client on one row.
type historyInput struct {
	Part, Row int
	Keyed     bool
	Op        string
	Fence     int64
	Voter     int
	State     action.State // that finish and reconcile ask for
	Looked    bool         // a look of its own stands beside it
	Perhaps   bool         // nobody knows whether it happened
	Moved     bool         // servers may have taken over, which voids claims
}

// lookOp is the half of an operation that [historyState.look] answers.
const lookOp = "look"

// historyOutput is what the store answered: the refusal, and the row beside
// it, which may be another one.
type historyOutput struct {
	Err   error
	Row   int // -1 if none
	State action.State
	Fence int64
}

// historyRow is one row as the contract words it. Time stands still, so
// nothing expires and no claim runs out.
type historyRow struct {
	state action.State // "" while there is none
	fence int64
	votes [2]bool
}

type historyState struct {
	rows   [historyRows]historyRow
	holder int // of the key, plus one
}

func historyModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			parts := map[int][]porcupine.Operation{}
			for _, op := range all {
				part := op.Input.(historyInput).Part
				parts[part] = append(parts[part], op)
			}
			var out [][]porcupine.Operation
			for _, ops := range parts {
				out = append(out, ops)
			}
			return out
		},
		Init: func() any { return historyState{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, out := state.(historyState), input.(historyInput), output.(historyOutput)
			before := s
			want := s.apply(in)
			if in.voided(before, out) {
				return true, before
			}
			return in.Perhaps || want == out || s.eitherReason(in, want, out), s
		},
	}
}

// voided: a claim that was taken on a server of before begins nothing.
func (in historyInput) voided(s historyState, out historyOutput) bool {
	row := s.rows[in.Row]
	return in.Moved && in.Op == "begin" && row.state == action.Claimed &&
		out == historyOutput{Err: action.ErrFence, Row: in.Row, State: row.state, Fence: row.fence}
}

func (s *historyState) answer(row int, err error) historyOutput {
	return historyOutput{Err: err, Row: row, State: s.rows[row].state, Fence: s.rows[row].fence}
}

// apply runs one operation by the book and returns the answer that it must
// have.
func (s *historyState) apply(in historyInput) historyOutput {
	row := &s.rows[in.Row]
	switch in.Op {
	case "start":
		return s.create(in, historyRow{state: action.Executing, fence: 1})
	case "suspend":
		return s.create(in, historyRow{state: action.PendingApproval})
	case lookOp:
		return s.look(in)
	}
	if row.state == "" {
		return historyOutput{Err: action.ErrNotFound, Row: -1}
	}
	if in.Op == "begin" {
		return s.begin(in)
	}
	to, err := row.next(in)
	if err == nil {
		row.state = to
	}
	return s.answer(in.Row, err)
}

func (s *historyState) create(in historyInput, fresh historyRow) historyOutput {
	if s.rows[in.Row].state != "" {
		return s.answer(in.Row, action.ErrState)
	}
	if holder := s.holder - 1; in.Keyed && holder >= 0 {
		if state := s.rows[holder].state; state != action.Failed && state != action.ReconciledFailed {
			return s.answer(holder, action.ErrKeyTaken)
		}
	}
	if other := s.uncertain(-1); other >= 0 && !in.Looked {
		return s.answer(other, action.ErrUncertain)
	}
	s.rows[in.Row] = fresh
	if in.Keyed {
		s.holder = in.Row + 1
	}
	return s.answer(in.Row, nil)
}

// eitherReason: which of several rows in the way a refusal names is left to
// the store, and so is the reason where the holder of the key is uncertain.
func (s *historyState) eitherReason(in historyInput, want, got historyOutput) bool {
	fresh := in.Op == "start" || in.Op == "suspend"
	if got.Err != action.ErrUncertain || got.Row < 0 || !fresh && in.Op != "begin" {
		return false
	}
	held := fresh && want.Err == action.ErrKeyTaken && want.Row == got.Row
	if want.Err != action.ErrUncertain && !held {
		return false
	}
	row := s.rows[got.Row]
	return got.State == action.Uncertain && got.Fence == row.fence && (held || row.state == action.Uncertain)
}

// look is the other half of a start or suspension that was granted: at some
// moment of it no other row was uncertain. It may be another moment than that
// of the commit; the contract is that an uncertainty which was acknowledged
// before a call refuses that call.
func (s *historyState) look(in historyInput) historyOutput {
	if other := s.uncertain(in.Row); other >= 0 {
		return s.answer(other, action.ErrUncertain)
	}
	return historyOutput{Row: in.Row}
}

// uncertain is an uncertain row but one, or -1. All rows are the same request.
func (s *historyState) uncertain(but int) int {
	for i, r := range s.rows {
		if i != but && r.state == action.Uncertain {
			return i
		}
	}
	return -1
}

func (s *historyState) begin(in historyInput) historyOutput {
	row := &s.rows[in.Row]
	switch other := s.uncertain(-1); {
	case row.state != action.Claimed && row.state != action.Executing:
		return s.answer(in.Row, action.ErrState)
	case row.fence != in.Fence:
		return s.answer(in.Row, action.ErrFence)
	case row.state == action.Executing:
		return s.answer(in.Row, action.ErrState)
	case other >= 0 && !in.Looked:
		return s.answer(other, action.ErrUncertain)
	}
	row.state = action.Executing
	return s.answer(in.Row, nil)
}

// next is where an operation on a row that is there leads.
func (r *historyRow) next(in historyInput) (action.State, error) {
	switch in.Op {
	case "read":
		return r.state, nil
	case "approve", "reject":
		return r.vote(in)
	case "claim":
		if r.state != action.Approved {
			return "", action.ErrState
		}
		r.fence++
		return action.Claimed, nil
	case "dismiss":
		if r.state != action.PendingApproval && r.state != action.Approved {
			return "", action.ErrState
		}
		return action.Revoked, nil
	case "revoke":
		if !action.CanMove(r.state, action.Revoked) {
			return "", action.ErrState
		}
		return action.Revoked, nil
	case "finish":
		return r.finish(in)
	default: // reconcile
		if r.state != action.Uncertain {
			return "", action.ErrState
		}
		return in.State, nil
	}
}

func (r *historyRow) vote(in historyInput) (action.State, error) {
	switch {
	case r.state != action.PendingApproval:
		return "", action.ErrState
	case r.votes[in.Voter]:
		return "", action.ErrVoted
	case in.Op == "reject":
		return action.Denied, nil
	}
	r.votes[in.Voter] = true
	if r.votes[0] && r.votes[1] {
		return action.Approved, nil
	}
	return action.PendingApproval, nil
}

func (r *historyRow) finish(in historyInput) (action.State, error) {
	switch {
	case r.fence != in.Fence:
		return "", action.ErrFence
	case r.state == action.Executing:
		return in.State, nil
	case r.state == action.Uncertain && in.State == action.Succeeded:
		return action.ReconciledSucceeded, nil
	default:
		return "", action.ErrState
	}
}

// refusalOf names a refusal by the error of package action that it is.
func refusalOf(err error) (error, bool) {
	if err == nil {
		return nil, true
	}
	for _, known := range []error{action.ErrNotFound, action.ErrState, action.ErrFence, action.ErrKeyTaken,
		action.ErrUncertain, action.ErrConsumed, action.ErrVoted} {
		if errors.Is(err, known) {
			return known, true
		}
	}
	return err, false
}
