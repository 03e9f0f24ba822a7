package sqlite_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestCommitsWriteFewPages counts what decisions and ends of runs add to the
// WAL, each in a commit of its own: what a caller waits for is first of all
// how many pages that are.
func TestCommitsWriteFewPages(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	const runs = 40
	rows := make([]action.Action, runs)
	warm(t, s)
	from := walPages(t, path)
	for i := range rows {
		rows[i] = begin(t, s, ids.Ordered("act"))
	}
	decided := walPages(t, path)
	for _, row := range rows {
		if _, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: row.Fence, State: action.Succeeded,
			Result: action.Result{Output: []byte(`{"done":true}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	ended := walPages(t, path)
	for _, count := range []struct {
		what  string
		pages int
		most  float64
	}{{"a decision", decided - from, 6}, {"an end", ended - decided, 5}} {
		each := float64(count.pages) / runs
		t.Logf("%s: %.2f pages", count.what, each)
		if each > count.most {
			t.Errorf("%s writes %.2f pages, at most %.1f are wanted", count.what, each, count.most)
		}
	}
}

// warm writes enough rows for each index to have leaves.
func warm(t *testing.T, s *sqlite.Store) {
	t.Helper()
	for i := range 20 {
		begin(t, s, fmt.Sprintf("act_warm_%d", i))
	}
}

// walPages is how many pages the WAL beside a file holds. Below a thousand
// nobody copies them, and the file only grows.
func walPages(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, frame = 32, 24 + 4096
	if n := (info.Size() - header) / frame; n < 1000 {
		return int(n)
	}
	t.Fatal("the WAL may have been written from the start again")
	return 0
}
