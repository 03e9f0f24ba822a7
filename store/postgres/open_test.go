package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

func opens(t *testing.T, dsn string, change func(*postgres.Options)) error {
	t.Helper()
	opt := postgres.Options{DSN: dsn, Sealer: fixedSealer(t)}
	if change != nil {
		change(&opt)
	}
	s, err := postgres.Open(t.Context(), opt)
	if err != nil {
		return err
	}
	return s.Close()
}

func TestStoreThatWouldForgetDoesNotOpen(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	must(t, opens(t, dsn, nil))
	for _, setting := range []string{"off", "local", "remote_write"} {
		if err := opens(t, dsn+" synchronous_commit="+setting, nil); !errors.Is(err, postgres.ErrDurability) {
			t.Errorf("synchronous_commit=%s: %v", setting, err)
		}
	}
	must(t, opens(t, dsn+" synchronous_commit=remote_apply", nil))
	if err := opens(t, dsn, func(o *postgres.Options) { o.RequireSync = true }); !errors.Is(err, postgres.ErrNoStandby) {
		t.Errorf("without a standby: %v", err)
	}
	other, err := keys.NewSealer(bytes.Repeat([]byte{8}, 32))
	must(t, err)
	if err := opens(t, dsn, func(o *postgres.Options) { o.Sealer = other }); !errors.Is(err, postgres.ErrSealKey) {
		t.Errorf("another key: %v", err)
	}
	if err := opens(t, dsn, func(o *postgres.Options) { o.Sealer = nil }); !errors.Is(err, postgres.ErrNoSealer) {
		t.Errorf("no key: %v", err)
	}
	for _, bad := range []string{"full_page_writes", "fsync"} {
		server.Set(t, bad+"=off")
		waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = '"+bad+"' AND setting = 'off'")
		if err := opens(t, dsn, nil); !errors.Is(err, postgres.ErrDurability) {
			t.Errorf("%s off: %v", bad, err)
		}
		server.Set(t, bad+"=on")
		waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = '"+bad+"' AND setting = 'on'")
	}
	must(t, opens(t, dsn, nil))
}

func TestTablesOfAnotherProgramAreNotTouched(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	newer, changed := server.Schema(t), server.Schema(t)
	must(t, opens(t, newer, nil))
	must(t, sql(t.Context(), newer, "INSERT INTO schema_version SELECT version + 1, 'later', digest, at FROM schema_version ORDER BY version DESC LIMIT 1"))
	if err := opens(t, newer, nil); !errors.Is(err, postgres.ErrMigration) {
		t.Errorf("newer: %v", err)
	}
	must(t, opens(t, changed, nil))
	must(t, sql(t.Context(), changed, "UPDATE schema_version SET digest = decode(repeat('00', 32), 'hex') WHERE version = 1"))
	if err := opens(t, changed, nil); !errors.Is(err, postgres.ErrMigration) {
		t.Errorf("changed: %v", err)
	}
	server.Exec(t, "CREATE ROLE gateway LOGIN; GRANT USAGE ON SCHEMA public TO gateway")
	empty := strings.Replace(server.Schema(t), "user=postgres", "user=gateway", 1)
	if err := opens(t, empty, nil); err == nil {
		t.Error("a role that may not make tables opened an empty schema")
	}
}

// A store of an earlier version can be backed up before its migration, from
// which there is no way back; what it is said to be is that, and no more.
func TestAStoreOfAnEarlierVersionIsBackedUpAsItIs(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	must(t, opens(t, dsn, nil))
	must(t, sql(t.Context(), dsn, "DROP TABLE time_ahead; DROP FUNCTION ahead_kept; DELETE FROM schema_version WHERE version = 18")) // as 0018_ahead.sql was not
	for name, look := range map[string]func() (postgres.Report, error){
		"check": func() (postgres.Report, error) { return postgres.Check(t.Context(), optionsAt(t, dsn)) },
		"check of the backup": func() (postgres.Report, error) {
			return postgres.CheckFile(t.Context(), backup(t, dsn), optionsAt(t, dsn))
		},
	} {
		if r, err := look(); !errors.Is(err, verbs.ErrEarlier) || len(r.Faults) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	must(t, opens(t, dsn, nil))
	if r, err := postgres.Check(t.Context(), optionsAt(t, dsn)); err != nil {
		t.Errorf("after the migration: %+v, %v", r, err)
	}
}

func TestClosedStoreAnswersNothing(t *testing.T) {
	t.Parallel()
	s := openAt(t, pgtest.Start(t).Schema(t), nil)
	call := start(t, s, "one")
	must(t, s.Close())
	if _, err := s.Begin(t.Context(), call); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("begin: %v", err)
	}
	if _, err := s.Action(t.Context(), "acme", "one"); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("read: %v", err)
	}
}

func TestStoredActionThatWasChangedIsNotGivenOut(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	s := openAt(t, dsn, nil)
	begin(t, s, "one")
	must(t, sql(t.Context(), dsn, `ALTER TABLE payload DISABLE TRIGGER payload_frozen; UPDATE payload SET args = raw`))
	if _, err := s.Action(t.Context(), "acme", "one"); err == nil {
		t.Error("arguments that are not those decided on were given out")
	}
	begin(t, s, "two")
	must(t, sql(t.Context(), dsn, `ALTER TABLE action DISABLE TRIGGER action_frozen; UPDATE action SET tool = 'bank.close' WHERE id = 'two'`))
	if _, err := s.Action(t.Context(), "acme", "two"); err == nil {
		t.Error("a call of another tool than decided on was given out")
	}
}

// A failover: the standby takes over while a claim is held and a run is under
// way.
func TestFailoverKeepsWhatWasAcknowledgedAndVoidsClaims(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	dsn := primary.Schema(t)
	must(t, opens(t, dsn, nil))
	standby := primary.Standby(t, "b")
	if err := opens(t, strings.Replace(dsn, primary.DSN(), standby.DSN(), 1), nil); !errors.Is(err, postgres.ErrStandby) {
		t.Errorf("a standby decided: %v", err)
	}
	primary.Set(t, "synchronous_standby_names='b'")
	waitFor(t, dsn, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'")

	p := pgtest.NewWire(t, primary.Addr()) // an address that moves with the primary
	s := openAt(t, p.Through(dsn), func(o *postgres.Options) { o.RequireSync = true })
	admin(t, s)
	run, held := begin(t, s, "running"), claimed(t, s, "held", lease)
	primary.Crash(t)
	standby.Promote(t)
	standby.Set(t, "synchronous_standby_names=''")
	p.Lead(standby.Addr())

	got, err := s.Finish(context.Background(), success(run))
	if err != nil || got.State != action.Succeeded {
		t.Errorf("the run ended as %s, %v", got.State, err)
	}
	if _, err := s.Begin(t.Context(), action.Start{Action: held, Lease: lease}); !errors.Is(err, action.ErrFence) {
		t.Errorf("a claim that was taken before the failover: %v", err)
	}
	if got := row(t, s, "held"); got.State != action.Claimed {
		t.Errorf("the row is %s", got.State)
	}
	// The new primary has no standby of its own.
	if _, err := s.Begin(t.Context(), start(t, s, "new")); !errors.Is(err, postgres.ErrNoStandby) {
		t.Errorf("a run began that no standby knows of: %v", err)
	}
}

// Between the two statements that lock and read a row, another gateway makes
// it: nothing holds it then, and two votes of one person could both be counted.
func TestRowThatCameWhileItWasLookedForIsNotThereYet(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	calm := openAt(t, dsn, nil)
	w := pgtest.NewWire(t, server.Addr())
	s := openAt(t, w.Through(dsn), nil)
	asked := asking(t, calm, "one")
	w.Split(2, func() { // BEGIN, the lock
		waitFor(t, dsn, `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientRead' AND state = 'active'
			AND query LIKE '%FOR UPDATE OF action'`)
		_, err := calm.Suspend(t.Context(), asked)
		must(t, err)
	})
	if _, err := s.Claim(t.Context(), "one", lease); !errors.Is(err, action.ErrNotFound) {
		t.Errorf("a row that nobody holds was looked at: %v", err)
	}
	if _, err := s.Claim(t.Context(), "one", lease); !errors.Is(err, action.ErrState) {
		t.Errorf("a row that is there: %v", err)
	}
}

// TestCommitsWaitHoweverTheServerIsSetLater: what was found to be safe when
// the store connected is what its commits go by.
func TestCommitsWaitHoweverTheServerIsSetLater(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	call := start(t, s, "one")
	server.Set(t, "synchronous_commit=off", "synchronous_standby_names='nobody'")
	waitFor(t, dsn, `SELECT count(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'
		AND EXISTS (SELECT 1 FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = 'nobody')`)
	told := make(chan error, 1)
	go func() { _, err := s.Begin(t.Context(), call); told <- err }()
	for waits := int64(0); waits == 0; {
		select {
		case err := <-told:
			t.Fatalf("it began, and no standby knows: %v", err)
		default:
			waits = number(t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query NOT LIKE 'DELETE FROM time_ahead%'")
		}
	}
	server.Set(t, "synchronous_standby_names=''")
	must(t, <-told)
}

func TestStoreThatWouldForgetDoesNotGoOn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	admin(t, s)
	run, call, read := begin(t, s, "running"), start(t, s, "new"), allowed(t, s, "read")
	read.Mutation = false
	for _, bad := range []string{"full_page_writes", "fsync"} {
		server.Set(t, bad+"=off")
		waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = '"+bad+"' AND setting = 'off'")
		for verb, do := range map[string]func() error{
			"begin":  func() error { _, err := s.Begin(t.Context(), call); return err },
			"read":   func() error { _, err := s.Decide(t.Context(), read); return err },
			"finish": func() error { _, err := s.Finish(t.Context(), success(run)); return err },
			"stop":   func() error { _, err := s.Stop(t.Context(), action.Stop{By: action.ByHost}); return err },
		} {
			if err := do(); !errors.Is(err, postgres.ErrDurability) {
				t.Errorf("%s, %s off: %v", verb, bad, err)
			}
		}
		server.Set(t, bad+"=on")
		waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = '"+bad+"' AND setting = 'on'")
	}
	_, err := s.Begin(t.Context(), call)
	must(t, err)
	_, err = s.Finish(t.Context(), success(run))
	must(t, err)
}
