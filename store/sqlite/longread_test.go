package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestAReadWhoseNumberDoesNotFitStopsNobody: a record is one number longer in
// the log than in the journal. One that only fits without it is refused, and
// neither keeps others from being recorded nor the store shut.
func TestAReadWhoseNumberDoesNotFitStopsNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	now := func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		read(t, s, id)
	}
	long := allowed(t, s, "long")
	long.Mutation = false
	if _, err := s.Decide(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	list, err := s.Records(t.Context(), audit.Filter{Action: "long"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	leaf, err := list[0].Leaf()
	if err != nil {
		t.Fatal(err)
	}
	long.Tenant += strings.Repeat("x", audit.MaxLeaf-len(leaf)+1) // one more than fits
	if _, err := s.Decide(t.Context(), long); !errors.Is(err, audit.ErrLong) {
		t.Errorf("a record that is too long: %v", err)
	}
	if _, err := s.Begin(t.Context(), action.Start{Action: allowed(t, s, "act_1"), Lease: time.Minute}); err != nil {
		t.Errorf("a verb after it: %v", err)
	}
	read(t, s, "after")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := readsOf(t, openAt(t, path, now)); got[len(got)-1] != "after" {
		t.Errorf("the last read is %s", got[len(got)-1])
	}
	sound(t, path)
}

// TestOldJournalsCountNoReadTwice: a power cut may bring files back that were
// removed, of a process before the last. Their frames have the same numbers as
// those of the last one, and older times.
func TestOldJournalsCountNoReadTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, to := filepath.Join(dir, "store.db"), filepath.Join(dir, "after.db")
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	opt := sqlite.Options{Sealer: fixedSealer(t), Now: func() time.Time { return clock }}
	for _, id := range []string{"read_1", "read_2"} {
		clock = clock.Add(time.Hour)
		s, err := sqlite.Open(path, opt)
		if err != nil {
			t.Fatal(err)
		}
		read(t, s, id)
		copyFiles(t, path, to, "-reads1")
		if id == "read_1" {
			if err := os.Rename(to+"-reads1", to+"-reads2"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	copyFiles(t, path, to, "")
	if diff := cmp.Diff([]string{"read_1", "read_2"}, readsOf(t, openWith(t, to, opt))); diff != "" {
		t.Error(diff)
	}
}

// TestReadsWaitForALogThatCannotBeWritten: they stay acknowledged while the
// database refuses them, and come into the log once it takes them. No more are
// acknowledged meanwhile.
func TestReadsWaitForALogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	start := action.Start{Action: allowed(t, s, "act_1"), Lease: time.Minute}
	db := raw(t, path)
	sql(t, db, "CREATE TRIGGER broken BEFORE INSERT ON event_pack BEGIN SELECT RAISE(ABORT, 'broken'); END")
	read(t, s, "read_0")
	for range 2 {
		if _, err := s.Begin(t.Context(), start); err == nil {
			t.Error("a call began before a read that came first was in the log")
		}
	}
	late := allowed(t, s, "read_1")
	late.Mutation = false
	if _, err := s.Decide(t.Context(), late); err == nil {
		t.Error("a read went on whose record the database has shown that it does not take")
	}
	sql(t, db, "DROP TRIGGER broken")
	if _, err := s.Begin(t.Context(), start); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"read_0"}, readsOf(t, s)); diff != "" {
		t.Error(diff)
	}
}
