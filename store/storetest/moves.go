package storetest

import (
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
)

// moves counts the edges that the sequences of the model took.
type moves map[pair]int

// trace is what tells that a row has moved, also where its state is the same.
type trace struct {
	state action.State // "" before it was made
	fence int64
	votes int
}

func (m moves) note(row *modelRow) {
	now := trace{row.state, row.fence, len(row.votes)}
	if now == row.seen {
		return
	}
	from := row.seen.state
	if from == "" {
		from = action.Received
	}
	m[pair{from, row.state}]++
	row.seen = now
}

// enoughSequences is how many must take every edge that a verb takes.
const enoughSequences = 2500

func (m moves) report(t *testing.T, sequences int) {
	t.Helper()
	unused, edges, all := unusedEdges(), 0, 0
	for _, from := range action.States() {
		for _, to := range action.States() {
			p := pair{from, to}
			all += m[p]
			switch {
			case m[p] > 0 && !action.CanMove(from, to):
				t.Errorf("%s moved to %s", from, to)
			case action.CanMove(from, to) && !unused[p]:
				if edges++; m[p] == 0 && sequences >= enoughSequences {
					t.Errorf("no sequence moved a row from %s to %s", from, to)
				}
			}
		}
	}
	t.Logf("%d sequences moved rows %d times, along %d of %d edges", sequences, all, len(m), edges)
}

// refusals counts what the model refused and the store with it.
type refusals map[error]int

func (n refusals) note(err error) {
	if err != nil {
		n[err]++
	}
}

// report fails where enough sequences never met a refusal that they can meet.
func (n refusals) report(t *testing.T, sequences int) {
	t.Helper()
	met := map[string]int{}
	for _, err := range []error{action.ErrState, action.ErrFence, action.ErrLate, action.ErrKeyTaken, action.ErrUncertain, action.ErrStale,
		action.ErrVoted, action.ErrIneligible, action.ErrOverLimit, action.ErrStopped, action.ErrOvertaken, action.ErrNotFound} {
		for got, times := range n {
			if errors.Is(got, err) {
				met[err.Error()] += times
			}
		}
		if met[err.Error()] == 0 && sequences >= enoughSequences {
			t.Errorf("no sequence met: %v", err)
		}
	}
	t.Logf("refused: %v", met)
}
