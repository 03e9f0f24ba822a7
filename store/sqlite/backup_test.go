package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func options(t testing.TB) sqlite.Options { return sqlite.Options{Sealer: fixedSealer(t)} }

func backup(t testing.TB, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := sqlite.Backup(t.Context(), path, to, options(t)); err != nil {
		t.Fatal(err)
	}
	return to
}

func vote(t testing.TB, s *sqlite.Store, row action.Action) action.Action {
	t.Helper()
	out, err := s.Vote(t.Context(), action.Vote{ActionID: row.ID, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, Method: "password"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func claim(t testing.TB, s *sqlite.Store, row action.Action) action.Action {
	t.Helper()
	out, err := s.Claim(t.Context(), row.ID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func start(s *sqlite.Store, row action.Action) (action.Action, error) {
	return s.Begin(context.Background(), action.Start{Action: row, Lease: time.Minute})
}

func finish(t testing.TB, s *sqlite.Store, row action.Action, state action.State) {
	t.Helper()
	e := action.Ending{ID: row.ID, Fence: row.Fence, State: state, Result: action.Result{Output: []byte("done"), Code: "ok"}}
	if state == action.Failed {
		e.Result = action.Result{Evidence: action.EvidenceProved, Code: "tool_not_run"}
	}
	if _, err := s.Finish(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// TestBackupWhileOthersWrite takes copies of a store that is being written
// to: each is whole, and holds everything that was acknowledged before.
func TestBackupWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	stop, count := make(chan struct{}), 0
	var mu sync.Mutex
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				a, err := newCall(context.Background(), s, fmt.Sprintf("act_%d_%d", w, i))
				if err == nil {
					_, err = start(s, a)
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				count++
				mu.Unlock()
			}
		}()
	}
	for range 5 {
		mu.Lock()
		before := count
		mu.Unlock()
		to := filepath.Join(t.TempDir(), "copy.db")
		r, err := sqlite.Backup(t.Context(), path, to, options(t))
		if err != nil {
			t.Fatal(err)
		}
		if r.Actions < before || r.States[action.Executing] != r.Actions || len(r.Faults) > 0 {
			t.Errorf("%d actions after %d were acknowledged: %+v", r.Actions, before, r)
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(to), "*"))
		if err != nil || len(left) != 1 {
			t.Errorf("files %v, %v", left, err)
		}
	}
	close(stop)
	writers.Wait()
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	_, path := newStore(t)
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := keys.NewSealer([]byte(strings.Repeat("x", 32)))
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name, from, to string
		ctx            context.Context
		opt            sqlite.Options
		want           error
	}{
		{"a file that is there", path, there, t.Context(), options(t), fs.ErrExist},
		{"a store that is not there", path + "x", filepath.Join(t.TempDir(), "a"), t.Context(), options(t), sqlite.ErrNoStore},
		{"a store with another key", path, filepath.Join(t.TempDir(), "b"), t.Context(), sqlite.Options{Sealer: other}, sqlite.ErrSealKey},
		{"without a sealer", path, filepath.Join(t.TempDir(), "c"), t.Context(), sqlite.Options{}, sqlite.ErrNoSealer},
		{"after the caller left", path, filepath.Join(t.TempDir(), "d"), gone, options(t), context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := sqlite.Backup(tt.ctx, tt.from, tt.to, tt.opt); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(tt.to), "*"))
			if want := len(tt.name) == len("a file that is there"); err != nil || (len(left) == 1) != want {
				t.Errorf("files %v, %v", left, err)
			}
		})
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("the file that was there: %q, %v", text, err)
	}
}

// TestCheckSeesWhatWasChanged changes a store behind its back.
func TestCheckSeesWhatWasChanged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, change, want string }{
		{"a trigger taken out", "DROP TRIGGER action_edge", "trigger action_edge is missing"},
		{"a table added", "CREATE TABLE extra (a)", "table extra was added"},
		{"a state turned back", "DROP TRIGGER action_edge; UPDATE action SET state = 'uncertain' WHERE id = 'act_1'",
			"action act_1 is uncertain, its last record says succeeded"},
		{"arguments of another row", "DROP TRIGGER payload_frozen; UPDATE payload SET args = (SELECT args FROM payload WHERE action_seq = 2) WHERE action_seq = 1",
			"action act_1: "},
		{"a record taken out", "DROP TRIGGER event_kept; DELETE FROM event WHERE seq = 2", "record 3 follows record 1"},
		{"a record rewritten", "DROP TRIGGER event_frozen; UPDATE event SET tenant = 'rival' WHERE seq = 2", "record 2 is not what its columns say"},
		{"a record that is none", "DROP TRIGGER event_frozen; UPDATE event SET leaf = x'7b7d' WHERE seq = 2", "record 2"},
		{"a used approval made new", "DROP TRIGGER consumption_kept; DELETE FROM consumption", "action act_3 ran without using its approval up"},
		{"a clock turned back", "DROP TRIGGER time_forward; UPDATE time_floor SET at = 1", "the clock is behind"},
		{"the sealed word taken out", "DELETE FROM seal_check", "the word that shows the sealing key is missing"},
		{"a vote without a person", "PRAGMA foreign_keys = OFF; DROP TRIGGER account_kept; DELETE FROM account", "a row of vote points to nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, path := newStore(t)
			lived(t, s)
			if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil || r.Actions != 3 {
				t.Fatalf("before: %+v, %v", r, err)
			}
			sql(t, raw(t, path), tt.change)
			r, err := sqlite.Check(t.Context(), path, options(t))
			named := slices.ContainsFunc(r.Faults, func(f string) bool { return strings.Contains(f, tt.want) })
			if !errors.Is(err, sqlite.ErrFaults) || !named {
				t.Errorf("error %v, faults %q, want %q", err, r.Faults, tt.want)
			}
			_, err = sqlite.Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), options(t))
			if !errors.Is(err, sqlite.ErrFaults) {
				t.Errorf("a backup of it: %v", err)
			}
		})
	}
}

// lived gives a store three rows: one allowed and done, one running, one
// approved and done.
func lived(t testing.TB, s *sqlite.Store) {
	t.Helper()
	admin(t, s)
	finish(t, s, begin(t, s, "act_1"), action.Succeeded)
	begin(t, s, "act_2")
	row, err := start(s, claim(t, s, vote(t, s, pending(t, s, "act_3"))))
	if err != nil {
		t.Fatal(err)
	}
	finish(t, s, row, action.Succeeded)
}

func TestCheckSeesADamagedFile(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	lived(t, s)
	copied := backup(t, path)
	text, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func([]byte) []byte
	}{
		{"cut", func(b []byte) []byte { return b[:len(b)-8192] }},
		{"pages of nothing", func(b []byte) []byte { clear(b[8192:16384]); return b }},
		{"not a database", func(b []byte) []byte { return []byte(strings.Repeat("no database ", 1000)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "copy.db")
			if err := os.WriteFile(path, tt.change(slices.Clone(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			if r, err := sqlite.Check(t.Context(), path, options(t)); err == nil {
				t.Errorf("no fault: %+v", r)
			}
			home := filepath.Join(t.TempDir(), "store.db")
			if _, err := sqlite.Restore(t.Context(), home, path, options(t)); err == nil {
				t.Error("it was put back")
			}
			if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was made: %v", err)
			}
		})
	}
}

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
