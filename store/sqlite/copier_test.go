package sqlite_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestTheWALBeginsAnew: however much is written, what it holds goes into the
// database and it does not grow beyond what the operating manual says.
func TestTheWALBeginsAnew(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	output := make([]byte, 1<<20)
	const most = 28 << 20
	for i := range 100 {
		id := fmt.Sprintf("act_%d", i)
		begin(t, s, id)
		if _, err := s.Finish(t.Context(), action.Ending{ID: id, Fence: 1, State: action.Succeeded,
			Result: action.Result{Output: output}}); err != nil {
			t.Fatal(err)
		}
		if f, err := os.Stat(path + "-wal"); err != nil || f.Size() > most+4<<20 { // and one commit
			t.Fatalf("after %d runs the WAL has %d bytes, %v", i, f.Size(), err)
		}
	}
	if f, err := os.Stat(path); err != nil || f.Size() < 60<<20 {
		t.Errorf("the database has %d bytes, %v", f.Size(), err)
	}
	row, err := s.Action(t.Context(), "acme", "act_0")
	if err != nil || len(row.Result.Output) != len(output) {
		t.Errorf("the first row: %v", err)
	}
}

// TestTheWALIsCopiedBesideTheCommits, before a commit has to.
func TestTheWALIsCopiedBesideTheCommits(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	for i := range 12 { // about 3,000 pages
		id := fmt.Sprintf("act_%d", i)
		begin(t, s, id)
		if _, err := s.Finish(t.Context(), action.Ending{ID: id, Fence: 1, State: action.Succeeded,
			Result: action.Result{Output: make([]byte, 1<<20)}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		if f, err := os.Stat(path); err == nil && f.Size() > 7<<20 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("nothing was copied")
}
