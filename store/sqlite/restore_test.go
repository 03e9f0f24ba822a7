package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestRestoreRevivesNothing takes a backup, lets everything in it go on, puts
// the backup back, and tries to do it all again.
func TestRestoreRevivesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	lived(t, s)
	held := pending(t, s, "waits")
	approved := vote(t, s, pending(t, s, "approved"))
	claimed := claim(t, s, vote(t, s, pending(t, s, "claimed")))
	before := allowed(t, s, "decided before")
	copied := backup(t, path)

	// Meanwhile the approvals are used, and the rules change and change back.
	for _, row := range []action.Action{claim(t, s, vote(t, s, held)), claim(t, s, approved), claimed} {
		ran, err := start(s, row)
		if err != nil {
			t.Fatal(err)
		}
		finish(t, s, ran, action.Succeeded)
	}
	for _, rules := range []string{"other", "rules"} {
		if _, err := s.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte(rules))); err != nil {
			t.Fatal(err)
		}
	}
	meanwhile := allowed(t, s, "decided meanwhile")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	r, err := sqlite.Restore(t.Context(), path, copied, options(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Expired != 3 || r.Uncertain != 1 || r.Epochs != 1 || r.LastRecord == 0 || r.Replaced == "" {
		t.Errorf("%+v", r)
	}
	s = openAt(t, path, nil)
	states := map[string]action.State{}
	for _, id := range []string{"act_1", "act_2", "act_3", "waits", "approved", "claimed"} {
		row, err := s.Action(t.Context(), "acme", id)
		if err != nil {
			t.Fatal(err)
		}
		states[id] = row.State
		if open := row.State == action.Expired || row.State == action.Uncertain; open && (row.Result == nil || row.Result.Code != "outcome_uncertain") {
			t.Errorf("%s does not say that nobody knows: %+v", id, row.Result)
		}
	}
	want := map[string]action.State{"act_1": action.Succeeded, "act_2": action.Uncertain, "act_3": action.Succeeded,
		"waits": action.Expired, "approved": action.Expired, "claimed": action.Expired}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	triesAll(t, s, []action.Action{claimed, approved}, before, meanwhile)
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil || r.Restores != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := sqlite.Check(t.Context(), r.Replaced, options(t)); err != nil || r.Restores != 0 {
		t.Errorf("the store of before: %+v, %v", r, err)
	}
}

// triesAll: nothing starts while everything is frozen; afterwards nothing
// starts that was decided before.
func triesAll(t *testing.T, s *sqlite.Store, open []action.Action, before, meanwhile action.Action) {
	t.Helper()
	fresh := allowed(t, s, "fresh")
	if _, err := start(s, fresh); !errors.Is(err, action.ErrStopped) {
		t.Errorf("before a person looked: %v", err)
	}
	if err := s.Resume(t.Context(), action.Stop{By: "acc_ann", Reason: "compared"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range open {
		row.Fence = max(row.Fence, 1)
		if _, err := start(s, row); !errors.Is(err, action.ErrState) {
			t.Errorf("%s: %v", row.ID, err)
		}
		if _, err := s.Claim(t.Context(), row.ID, time.Minute); !errors.Is(err, action.ErrState) {
			t.Errorf("claim %s: %v", row.ID, err)
		}
	}
	for _, row := range []action.Action{before, meanwhile} {
		if _, err := start(s, row); !errors.Is(err, action.ErrStale) {
			t.Errorf("%s: %v", row.ID, err)
		}
	}
	if _, err := start(s, fresh); err != nil {
		t.Errorf("a call of now: %v", err)
	}
	records, err := s.Records(t.Context(), audit.Filter{Event: audit.Restored})
	if err != nil || len(records) != 1 || records[0].Facts["lastRecord"] == "" || records[0].Facts["lastAt"] == "" {
		t.Errorf("the gap is marked by %+v, %v", records, err)
	}
}

func TestRestoreNeedsTheStoreForItself(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	lived(t, s)
	copied := backup(t, path)
	if _, err := sqlite.Restore(t.Context(), path, copied, options(t)); !errors.Is(err, sqlite.ErrOwned) {
		t.Fatalf("beside its owner: %v", err)
	}
	if row, err := s.Action(t.Context(), "acme", "act_2"); err != nil || row.State != action.Executing {
		t.Errorf("%s, %v", row.State, err)
	}
}

// TestAnInterruptedRestoreStartsNothing: as long as the prepared store has
// not come to its place, nobody opens the old one, and nobody a new one.
func TestAnInterruptedRestoreStartsNothing(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	lived(t, s)
	copied := backup(t, path)
	home := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(home+".restoring", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(home, options(t)); !errors.Is(err, sqlite.ErrRestoring) {
		t.Fatalf("open: %v", err)
	}
	if _, err := sqlite.Restore(t.Context(), home, copied, options(t)); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, home, nil)
	if row, err := again.Action(t.Context(), "acme", "act_2"); err != nil || row.State != action.Uncertain {
		t.Errorf("%s, %v", row.State, err)
	}
	left, err := filepath.Glob(home + ".restoring*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMigrateBringsAnOldStoreUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	if _, _, err := sqlite.Migrate(path, options(t)); !errors.Is(err, sqlite.ErrNoStore) {
		t.Fatalf("no store: %v", err)
	}
	oldStore(t, path, 2)
	r, err := sqlite.Check(t.Context(), path, options(t))
	if !errors.Is(err, sqlite.ErrFaults) || r.Schema != 2 { // it has no sealed word yet
		t.Fatalf("%+v, %v", r, err)
	}
	from, to, err := sqlite.Migrate(path, options(t))
	if err != nil || from != 2 || to != r.Known {
		t.Fatalf("from %d to %d of %d: %v", from, to, r.Known, err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil || r.Schema != r.Known {
		t.Errorf("%+v, %v", r, err)
	}
}

// oldStore makes a store of an earlier version from the files of the
// migrations.
func oldStore(t *testing.T, path string, version int) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sql(t, db, sqlite.VersionTable)
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) <= version {
		t.Fatalf("%d migrations: %v", len(files), err)
	}
	for i, file := range files[:version] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sql(t, db, string(text))
		sql(t, db, fmt.Sprintf("INSERT INTO schema_version VALUES (%d, 'old', x'%s', 1)", i+1, canon.Sum(text)))
	}
}
