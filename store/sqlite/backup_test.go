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

	"github.com/seed-de4804fb/verbatim/action"
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
	out, err := s.Vote(t.Context(), action.Vote{ActionID: row.ID, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, Method: "password", LoginAt: row.UpdatedAt})
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
		{"arguments of another row", "DROP TRIGGER action_payload; UPDATE action SET args = (SELECT args FROM action WHERE seq = 2) WHERE seq = 1",
			"action act_1: "},
		{"a record taken out", "DROP TRIGGER event_pack_kept; DELETE FROM event_pack WHERE first = 2", "record 3 follows record 1"},
		{"a record rewritten", "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET leaves = (SELECT leaves FROM event_pack WHERE first = 3) WHERE first = 2", "record 2 is not what its columns say"},
		{"the time of a record moved", "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET at = at - 1 WHERE first = 2", "record 2 is not what its columns say"},
		{"a length rewritten", "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET leaves = CAST(x'0001' || substr(leaves, 3) AS BLOB) WHERE first = 2", "a row of records does not hold"},
		{"a count rewritten", "DROP TRIGGER event_pack_frozen; DROP TRIGGER event_pack_salts; UPDATE event_pack SET count = 2, salts = CAST(salts || salts AS BLOB) WHERE first = 2", "a row of records does not hold"},
		{"a record hidden from its tenant", "DROP TRIGGER event_in_kept; DELETE FROM event_in WHERE first = 2", "the lists of the records"},
		{"a record shown to another tenant", "DROP TRIGGER event_in_frozen; UPDATE event_in SET tenant = 'rival' WHERE first = 2", "the lists of the records"},
		{"a record listed twice", "INSERT INTO event_of SELECT 'act_9', first, first FROM event_in WHERE first = 2", "the lists of the records"},
		{"a record hidden from its action", "DROP TRIGGER event_of_kept; DELETE FROM event_of WHERE action_id = 'act_3'", "the lists of the records"},
		{"the first record hidden from its action", "DROP TRIGGER action_records; UPDATE action SET first_record = NULL WHERE id = 'act_1'", "the lists of the records"},
		{"the last record hidden from its action", "DROP TRIGGER action_records; UPDATE action SET end_record = NULL WHERE id = 'act_1'", "the lists of the records"},
		{"a record shown to another action", "UPDATE action SET end_record = 1 WHERE id = 'act_2'", "the lists of the records"},
		{"a record that there is not", "UPDATE action SET end_record = 1000 WHERE id = 'act_2'", "the lists of the records"},
		{"records listed too far", "DROP TRIGGER event_of_frozen; UPDATE event_of SET first = first - 2 WHERE action_id = 'act_3'", "the lists of the records"},
		{"a record that is none", "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET leaves = x'00027b7d' WHERE first = 2", "record 2"},
		{"a short form that is none", "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET leaves = x'0003010cff' WHERE first = 2", "record 2"},
		{"a short form cut off", "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET leaves = CAST(x'0020' || substr(leaves, 3, 32) AS BLOB) WHERE first = 2", "record 2"},
		{"a used approval made new", "DROP TRIGGER consumption_kept; DELETE FROM consumption", "action act_3 ran without using its approval up"},
		{"a run hidden from the sweeper", "DROP TRIGGER swift_from_forward; DROP TRIGGER swift_from_lists; UPDATE swift_from SET seq = 4000000000", "rows that run are not found"},
		{"a run taken out of the list", "UPDATE swift_from SET seq = 2; DROP TRIGGER running_true; DELETE FROM running", "rows that run are not found"},
		{"an end put into the list", "INSERT INTO running (seq) VALUES (1)", "rows that run are not found"},
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
			if err := s.Enlist(); err != nil {
				t.Fatal(err)
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
