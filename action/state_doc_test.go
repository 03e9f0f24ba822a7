package action_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
)

// page is the document that operators read; it must say what the code does.
const page = "../docs/state-machine.md"

var (
	stateRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [^`|][^|]* \\| (yes)? ?\\|$")
	edgeRow  = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| `([a-z_]+)` \\| [^|]+ \\|$")
)

func TestDocumentedStatesAreTheStates(t *testing.T) {
	t.Parallel()
	want, got := map[action.State]bool{}, map[action.State]bool{}
	for _, s := range action.States() {
		want[s] = s.Terminal()
	}
	for _, row := range stateRow.FindAllStringSubmatch(read(t), -1) {
		got[action.State(row[1])] = row[2] == "yes"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states and whether they end (-code +%s):\n%s", page, diff)
	}
}

func TestDocumentedEdgesAreTheEdges(t *testing.T) {
	t.Parallel()
	documented := map[[2]action.State]bool{}
	for _, row := range edgeRow.FindAllStringSubmatch(read(t), -1) {
		edge := [2]action.State{action.State(row[1]), action.State(row[2])}
		if documented[edge] {
			t.Errorf("%s has the edge from %s to %s twice", page, edge[0], edge[1])
		}
		documented[edge] = true
	}
	pairs := 0
	for _, from := range action.States() {
		for _, to := range action.States() {
			pairs++
			edge := [2]action.State{from, to}
			if got := action.CanMove(from, to); got != documented[edge] {
				t.Errorf("from %s to %s: the code says %v, %s says %v", from, to, got, page, documented[edge])
			}
			delete(documented, edge)
		}
	}
	if pairs != 169 {
		t.Errorf("%d pairs compared, want 13 x 13", pairs)
	}
	for edge := range documented {
		t.Errorf("%s has an edge between unknown states: %v", page, edge)
	}
}

func TestNothingLeavesATerminalState(t *testing.T) {
	t.Parallel()
	for _, from := range action.States() {
		for _, to := range action.States() {
			if from.Terminal() && action.CanMove(from, to) {
				t.Errorf("%s is terminal and moves to %s", from, to)
			}
			if from.Terminal() && from.InFlight() {
				t.Errorf("%s is terminal and in flight", from)
			}
		}
	}
}

func TestNoEdgeReturnsFromExecutingToAStateThatHasNotRun(t *testing.T) {
	t.Parallel()
	for _, from := range []action.State{action.Executing, action.Uncertain} {
		for _, to := range []action.State{action.Received, action.PendingApproval, action.Approved, action.Claimed,
			action.Denied, action.Expired, action.Revoked} {
			if action.CanMove(from, to) {
				t.Errorf("%s moves to %s, though it may have happened", from, to)
			}
		}
	}
}

func read(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
