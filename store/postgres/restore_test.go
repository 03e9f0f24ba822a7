package postgres_test

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

func optionsAt(t testing.TB, dsn string) postgres.Options {
	return postgres.Options{DSN: dsn, Sealer: fixedSealer(t)}
}

func backup(t testing.TB, dsn string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	_, err := postgres.Backup(t.Context(), to, optionsAt(t, dsn))
	must(t, err)
	return to
}

// lived gives a store three rows: one allowed and done, one running, one
// approved and done.
func lived(t testing.TB, s *postgres.Store) {
	t.Helper()
	admin(t, s)
	_, err := s.Finish(t.Context(), success(begin(t, s, "act_1")))
	must(t, err)
	begin(t, s, "act_2")
	ran, err := s.Begin(t.Context(), action.Start{Action: claimed(t, s, "act_3", lease), Lease: lease})
	must(t, err)
	_, err = s.Finish(t.Context(), success(ran))
	must(t, err)
}

// approved is a row that an admin approved.
func approved(t testing.TB, s *postgres.Store, id string) action.Action {
	t.Helper()
	row, err := s.Suspend(t.Context(), asking(t, s, id))
	must(t, err)
	row, err = s.Vote(t.Context(), action.Vote{ActionID: id, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, Nonce: "v" + id,
		Method: action.MethodPassword, Envelope: []byte("signed"), LoginAt: row.UpdatedAt})
	must(t, err)
	return row
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for name, run := range map[string]func(*testing.T, *pgtest.Server){
		"a restore revives nothing":                testRestoreRevivesNothing,
		"it needs the database for itself":         testRestoreNeedsTheDatabaseForItself,
		"a backup is whole while others write":     testBackupWhileOthersWrite,
		"a backup refuses":                         testBackupRefuses,
		"a check sees what was changed":            testCheckSeesWhatWasChanged,
		"a backup that is damaged is not put back": testDamagedBackupIsNotPutBack,
	} {
		t.Run(name, func(t *testing.T) { run(t, server) })
	}
}

// testRestoreRevivesNothing takes a backup, lets everything in it go on, puts
// the backup back, and tries to do it all again.
func testRestoreRevivesNothing(t *testing.T, server *pgtest.Server) {
	t.Parallel()
	server.Exec(t, "CREATE ROLE gateway LOGIN")
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	_, _, err := postgres.Migrate(t.Context(), dsn, "gateway")
	must(t, err)
	lived(t, s)
	waits, err := s.Suspend(t.Context(), asking(t, s, "waits"))
	must(t, err)
	given, held := approved(t, s, "approved"), claimed(t, s, "claimed", lease)
	before := allowed(t, s, "decided before")
	origin, err := s.Origin(t.Context())
	must(t, err)
	copied := backup(t, dsn)

	// Meanwhile the approvals are used, and the rules change and change back.
	_, err = s.Vote(t.Context(), action.Vote{ActionID: "waits", Voter: "acc_ann", Approve: true, Digest: waits.Terms.Digest, Nonce: "later",
		Method: action.MethodPassword, Envelope: []byte("signed"), LoginAt: waits.UpdatedAt})
	must(t, err)
	for _, id := range []string{"waits", "approved"} {
		row, err := s.Claim(t.Context(), id, lease)
		must(t, err)
		_, err = s.Begin(t.Context(), action.Start{Action: row, Lease: lease})
		must(t, err)
	}
	_, err = s.Begin(t.Context(), action.Start{Action: held, Lease: lease})
	must(t, err)
	for _, rules := range []string{"other", "rules"} {
		_, err := s.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte(rules)))
		must(t, err)
	}
	meanwhile := allowed(t, s, "decided meanwhile")
	must(t, s.Close())

	r, err := postgres.Restore(t.Context(), copied, optionsAt(t, dsn), "")
	must(t, err)
	if r.Expired != 3 || r.Uncertain != 1 || r.Epochs != 1 || r.LastRecord == 0 || r.Replaced == "" || r.LogBefore != origin || r.Log == origin {
		t.Errorf("%+v", r)
	}
	s = openAt(t, strings.Replace(dsn, "user=postgres", "user=gateway", 1), nil) // the role kept its rights
	states := map[string]action.State{}
	for _, id := range []string{"act_1", "act_2", "act_3", "waits", "approved", "claimed"} {
		got := row(t, s, id)
		states[id] = got.State
		if open := got.State == action.Expired || got.State == action.Uncertain; open && (got.Result == nil || got.Result.Code != "outcome_uncertain") {
			t.Errorf("%s does not say that nobody knows: %+v", id, got.Result)
		}
	}
	want := map[string]action.State{"act_1": action.Succeeded, "act_2": action.Uncertain, "act_3": action.Succeeded,
		"waits": action.Expired, "approved": action.Expired, "claimed": action.Expired}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	triesAll(t, s, []action.Action{held, given}, before, meanwhile)
	if r, err := postgres.Check(t.Context(), optionsAt(t, dsn)); err != nil || r.Restores != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	old := strings.Replace(dsn, "search_path=", "search_path="+r.Replaced+",", 1)
	if r, err := postgres.Check(t.Context(), optionsAt(t, old)); err != nil || r.Restores != 0 || r.States[action.Executing] != 4 {
		t.Errorf("the store of before: %+v, %v", r, err)
	}
}

// triesAll: nothing starts while everything is frozen; afterwards nothing
// starts that was decided before.
func triesAll(t *testing.T, s *postgres.Store, open []action.Action, before, meanwhile action.Action) {
	t.Helper()
	begins := func(a action.Action) error {
		_, err := s.Begin(t.Context(), action.Start{Action: a, Lease: lease})
		return err
	}
	fresh := allowed(t, s, "fresh")
	if err := begins(fresh); !errors.Is(err, action.ErrStopped) {
		t.Errorf("before a person looked: %v", err)
	}
	must(t, s.Resume(t.Context(), action.Stop{By: "acc_ann", Reason: "compared"}))
	for _, row := range open {
		row.Fence = max(row.Fence, 1)
		if err := begins(row); !errors.Is(err, action.ErrState) {
			t.Errorf("%s: %v", row.ID, err)
		}
		if _, err := s.Claim(t.Context(), row.ID, time.Minute); !errors.Is(err, action.ErrState) {
			t.Errorf("claim %s: %v", row.ID, err)
		}
	}
	for _, row := range []action.Action{before, meanwhile} {
		if err := begins(row); !errors.Is(err, action.ErrStale) {
			t.Errorf("%s: %v", row.ID, err)
		}
	}
	if err := begins(fresh); err != nil {
		t.Errorf("a call of now: %v", err)
	}
	records, err := s.Records(t.Context(), audit.Filter{Event: audit.Restored})
	if err != nil || len(records) != 1 || records[0].Facts["lastRecord"] == "" || records[0].Facts["lastAt"] == "" {
		t.Errorf("the gap is marked by %+v, %v", records, err)
	}
}

func testRestoreNeedsTheDatabaseForItself(t *testing.T, server *pgtest.Server) {
	t.Parallel()
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	lived(t, s)
	copied := backup(t, dsn)
	if _, err := postgres.Restore(t.Context(), copied, optionsAt(t, dsn), ""); !errors.Is(err, postgres.ErrInUse) {
		t.Fatalf("beside a gateway: %v", err)
	}
	if got := row(t, s, "act_2"); got.State != action.Executing {
		t.Errorf("%s", got.State)
	}
	must(t, s.Close())
	t.Run("a lost connection is all or nothing", func(t *testing.T) {
		for _, tt := range []struct {
			how  pgtest.Loss
			want bool // the store of before stays
		}{{pgtest.LoseCommit, true}, {pgtest.LoseAnswer, false}} {
			w := pgtest.NewWire(t, server.Addr())
			w.Lose(tt.how, 1)
			if _, err := postgres.Restore(t.Context(), copied, optionsAt(t, w.Through(dsn)), ""); !errors.Is(err, postgres.ErrUnknown) {
				t.Errorf("restore: %v", err)
			}
			r, err := postgres.Check(t.Context(), optionsAt(t, dsn))
			if stays := r.States[action.Executing] == 1 && r.Restores == 0; err != nil || stays != tt.want {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
	t.Run("elsewhere it makes a store of nothing", func(t *testing.T) {
		empty := server.Schema(t)
		r, err := postgres.Restore(t.Context(), copied, optionsAt(t, empty), "")
		if err != nil || r.Replaced != "" || r.Uncertain != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		again := openAt(t, empty, nil)
		if got := row(t, again, "act_2"); got.State != action.Uncertain {
			t.Errorf("%s", got.State)
		}
	})
}

// testBackupWhileOthersWrite takes copies of a store that is being written
// to: each is whole, and holds everything that was acknowledged before.
func testBackupWhileOthersWrite(t *testing.T, server *pgtest.Server) {
	t.Parallel()
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	var count atomic.Int64
	var writers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	call := start(t, s, "first")
	for w := range 3 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				next := call
				next.Action.ID = fmt.Sprintf("act_%d_%d", w, i)
				next.Action.Fingerprint = canon.Sum([]byte(next.Action.ID))
				if _, err := s.Begin(context.Background(), next); err != nil {
					t.Error(err)
					return
				}
				count.Add(1)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for range 2 {
		before := int(count.Load())
		to := filepath.Join(t.TempDir(), "copy")
		r, err := postgres.Backup(t.Context(), to, optionsAt(t, dsn))
		if err != nil || r.Actions < before || r.States[action.Executing] != r.Actions {
			t.Errorf("%d actions after %d were acknowledged: %+v, %v", r.Actions, before, r, err)
		}
		again, err := postgres.CheckFile(t.Context(), to, optionsAt(t, dsn))
		if diff := cmp.Diff(r, again); err != nil || r.Bytes == 0 || diff != "" {
			t.Errorf("the copy is not what was copied: %v\n%s", err, diff)
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(to), "*"))
		if err != nil || len(left) != 1 {
			t.Errorf("files %v, %v", left, err)
		}
	}
	stop()
	writers.Wait()
}

func testBackupRefuses(t *testing.T, server *pgtest.Server) {
	t.Parallel()
	dsn := server.Schema(t)
	openAt(t, dsn, nil)
	there := filepath.Join(t.TempDir(), "there")
	must(t, os.WriteFile(there, []byte("mine"), 0o600))
	other, err := keys.NewSealer([]byte(strings.Repeat("x", 32)))
	must(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name, to string
		ctx      context.Context
		opt      postgres.Options
		want     error
	}{
		{"a file that is there", there, t.Context(), optionsAt(t, dsn), fs.ErrExist},
		{"a schema without a store", filepath.Join(t.TempDir(), "a"), t.Context(), optionsAt(t, server.Schema(t)), postgres.ErrNoStore},
		{"a store with another key", filepath.Join(t.TempDir(), "b"), t.Context(), postgres.Options{DSN: dsn, Sealer: other}, postgres.ErrSealKey},
		{"without a sealer", filepath.Join(t.TempDir(), "c"), t.Context(), postgres.Options{DSN: dsn}, postgres.ErrNoSealer},
		{"after the caller left", filepath.Join(t.TempDir(), "d"), gone, optionsAt(t, dsn), context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := postgres.Backup(tt.ctx, tt.to, tt.opt); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(tt.to), "*"))
			if want := tt.to == there; err != nil || (len(left) == 1) != want {
				t.Errorf("files %v, %v", left, err)
			}
		})
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("the file that was there: %q, %v", text, err)
	}
}

// testCheckSeesWhatWasChanged changes a store behind its back.
func testCheckSeesWhatWasChanged(t *testing.T, server *pgtest.Server) {
	t.Parallel()
	for _, tt := range []struct{ name, change, want string }{
		{"a trigger taken out", "DROP TRIGGER action_edge ON action", "trigger action.action_edge is missing"},
		{"a trigger put to sleep", "ALTER TABLE vote DISABLE TRIGGER vote_frozen", "trigger vote.vote_frozen is missing or changed"},
		{"a function made empty", "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'", "function refuse is missing or changed"},
		{"a constraint taken out", "ALTER TABLE consumption DROP CONSTRAINT consumption_pkey", "constraint consumption.consumption_pkey is missing"},
		{"a table added", "CREATE TABLE extra (a INTEGER)", "column extra.a was added"},
		{"a state turned back", "ALTER TABLE action DISABLE TRIGGER USER; UPDATE action SET state = 'uncertain' WHERE id = 'act_1'; ALTER TABLE action ENABLE TRIGGER USER",
			"action act_1 is uncertain, its last record says succeeded"},
		{"arguments of another row", `ALTER TABLE payload DISABLE TRIGGER USER; UPDATE payload SET args = (SELECT p.args FROM payload p JOIN action a ON a.seq = p.action_seq
			WHERE a.id = 'act_2') WHERE action_seq = (SELECT seq FROM action WHERE id = 'act_1'); ALTER TABLE payload ENABLE TRIGGER USER`, "action act_1: "},
		{"a record taken out", "ALTER TABLE leaf DISABLE TRIGGER USER; DELETE FROM leaf WHERE seq = 2; ALTER TABLE leaf ENABLE TRIGGER USER", "record 3 follows record 1"},
		{"a record rewritten", "ALTER TABLE event DISABLE TRIGGER USER; UPDATE event SET tenant = 'rival' WHERE place = 2; ALTER TABLE event ENABLE TRIGGER USER",
			"is not what its columns say"},
		{"a record that is none", `ALTER TABLE leaf DISABLE TRIGGER USER; UPDATE leaf SET leaf = '\x7b7d' WHERE seq = 2; ALTER TABLE leaf ENABLE TRIGGER USER`, "record 2"},
		{"a numbering set back", "UPDATE numbering SET last = 1", "the numbering does not go on"},
		{"a used approval made new", "ALTER TABLE consumption DISABLE TRIGGER USER; DELETE FROM consumption; ALTER TABLE consumption ENABLE TRIGGER USER",
			"action act_3 ran without using its approval up"},
		{"a clock turned back", `ALTER TABLE time_floor DISABLE TRIGGER USER; UPDATE time_floor SET at = 1; ALTER TABLE time_floor ENABLE TRIGGER USER;
			ALTER TABLE time_ahead DISABLE TRIGGER USER; DELETE FROM time_ahead; ALTER TABLE time_ahead ENABLE TRIGGER USER`, "the clock is behind"},
		{"the sealed word taken out", "DELETE FROM seal_check", "the word that shows the sealing key is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dsn := server.Schema(t)
			s := openAt(t, dsn, nil)
			lived(t, s)
			_, err := s.Records(t.Context(), audit.Filter{Limit: 1}) // so that they are numbered
			must(t, err)
			if r, err := postgres.Check(t.Context(), optionsAt(t, dsn)); err != nil || r.Actions != 3 {
				t.Fatalf("before: %+v, %v", r, err)
			}
			must(t, sql(t.Context(), dsn, tt.change))
			r, err := postgres.Check(t.Context(), optionsAt(t, dsn))
			named := slices.ContainsFunc(r.Faults, func(f string) bool { return strings.Contains(f, tt.want) })
			if !errors.Is(err, postgres.ErrFaults) || !named {
				t.Errorf("error %v, faults %q, want %q", err, r.Faults, tt.want)
			}
			if _, err := postgres.Backup(t.Context(), filepath.Join(t.TempDir(), "copy"), optionsAt(t, dsn)); !errors.Is(err, postgres.ErrFaults) {
				t.Errorf("a backup of it: %v", err)
			}
		})
	}
}

func testDamagedBackupIsNotPutBack(t *testing.T, server *pgtest.Server) {
	t.Parallel()
	dsn := server.Schema(t)
	lived(t, openAt(t, dsn, nil))
	whole, err := os.ReadFile(backup(t, dsn))
	must(t, err)
	for _, tt := range []struct {
		name   string
		change func([]byte) []byte
	}{
		{"cut", func(b []byte) []byte { return b[:len(b)-100] }},
		{"one byte", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
		{"something behind", func(b []byte) []byte { return append(b, 0) }},
		{"another file", func([]byte) []byte { return []byte(strings.Repeat("no backup ", 1000)) }},
		{"nothing", func([]byte) []byte { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, home := filepath.Join(t.TempDir(), "copy"), server.Schema(t)
			must(t, os.WriteFile(path, tt.change(slices.Clone(whole)), 0o600))
			if _, err := postgres.CheckFile(t.Context(), path, optionsAt(t, home)); !errors.Is(err, postgres.ErrNoBackup) {
				t.Errorf("check: %v", err)
			}
			if _, err := postgres.Restore(t.Context(), path, optionsAt(t, home), ""); !errors.Is(err, postgres.ErrNoBackup) {
				t.Errorf("restore: %v", err)
			}
			if n := number(t, home, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"); n != 0 {
				t.Errorf("%d tables were left behind", n)
			}
		})
	}
}
