package sqlite_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestGrowthIsWhatTheDocumentationSays bounds what one call takes on the
// disk, and the journal beside the file: docs/operations.md gives the figures.
func TestGrowthIsWhatTheDocumentationSays(t *testing.T) {
	t.Parallel()
	calls := 1000 / shortened
	s, path := newStore(t)
	begin(t, s, "act_0")
	empty, err := sqlite.Check(t.Context(), path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	journal := int64(0)
	for i := range calls {
		finish(t, s, begin(t, s, fmt.Sprintf("act_%06d", i)), action.Succeeded)
		if info, err := os.Stat(path + "-wal"); err == nil {
			journal = max(journal, info.Size())
		}
	}
	before, err := sqlite.Check(t.Context(), path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		read := allowed(t, s, fmt.Sprintf("read_%06d", i))
		read.Mutation = false
		if _, err := s.Decide(t.Context(), read); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Records(t.Context(), audit.Filter{Limit: 1}); err != nil { // takes the journal of reads in
		t.Fatal(err)
	}
	after, err := sqlite.Check(t.Context(), path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	mutation, read := (before.Bytes-empty.Bytes)/int64(calls), (after.Bytes-before.Bytes)/int64(calls)
	t.Logf("%d bytes for a mutation with small arguments, %d for a read, journal up to %d", mutation, read, journal)
	if mutation > 5<<10 || read > 2<<10 {
		t.Errorf("%d bytes for a mutation, %d for a read", mutation, read)
	}
	if journal > 13<<20 {
		t.Errorf("the journal grew to %d bytes", journal)
	}
}
