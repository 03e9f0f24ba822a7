package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// faulty is a store behind a wire of its own, and one that nothing disturbs.
func faulty(t *testing.T, server *pgtest.Server) (*postgres.Store, *postgres.Store, *pgtest.Wire) {
	t.Helper()
	dsn := server.Schema(t)
	calm := openAt(t, dsn, nil)
	p := pgtest.NewWire(t, server.Addr())
	return openAt(t, p.Through(dsn), func(o *postgres.Options) { o.Patience = 2 * time.Second }), calm, p
}

func TestLostCommits(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	t.Run("a commit point whose answer was lost is never run, and is uncertain", func(t *testing.T) {
		s, calm, p := faulty(t, server)
		call := start(t, s, "one")
		p.Lose(pgtest.LoseAnswer, 1)
		_, err := s.Begin(t.Context(), call)
		if !errors.Is(err, postgres.ErrUnknown) {
			t.Fatalf("begin: %v", err)
		}
		if got := row(t, calm, "one"); got.State != action.Uncertain {
			t.Errorf("the row is %s", got.State)
		}
		if p.Lost() != 1 {
			t.Error("the wire lost nothing")
		}
	})
	t.Run("one that never arrived is asked for again, and runs once", func(t *testing.T) {
		s, calm, p := faulty(t, server)
		call := start(t, s, "one")
		p.Lose(pgtest.LoseCommit, 1)
		a, err := s.Begin(t.Context(), call)
		must(t, err)
		if got := row(t, calm, "one"); got.State != action.Executing || a.Fence != 1 {
			t.Errorf("the row is %s", got.State)
		}
		if n := count(t, calm, "one"); n != 1 || p.Lost() != 1 {
			t.Errorf("%d records, %d commits lost", n, p.Lost())
		}
	})
	t.Run("an end whose answer was lost is the end", func(t *testing.T) {
		for _, how := range []pgtest.Loss{pgtest.LoseAnswer, pgtest.LoseCommit} {
			s, calm, p := faulty(t, server)
			run := begin(t, s, "one")
			p.Lose(how, 1)
			got, err := s.Finish(t.Context(), success(run))
			must(t, err)
			if stored := row(t, calm, "one"); got.State != action.Succeeded || stored.State != action.Succeeded {
				t.Errorf("said %s, is %s", got.State, stored.State)
			}
			if n := count(t, calm, "one"); n != 2 || p.Lost() != 1 {
				t.Errorf("%d records, %d commits lost", n, p.Lost())
			}
		}
	})
	t.Run("nobody guesses while the database is away", func(t *testing.T) {
		s, calm, p := faulty(t, server)
		run := begin(t, s, "one")
		p.Lose(pgtest.LoseAll, 1)
		_, err := s.Finish(t.Context(), success(run))
		if !errors.Is(err, postgres.ErrUnknown) {
			t.Errorf("finish: %v", err)
		}
		if got := row(t, calm, "one"); got.State != action.Succeeded {
			t.Errorf("the row is %s", got.State)
		}
		p.Cut(false)
		if _, err := s.Finish(t.Context(), success(run)); !errors.Is(err, action.ErrState) {
			t.Errorf("finished again: %v", err)
		}
	})
	t.Run("a claimed call whose commit point is in doubt is not run and not consumed twice", func(t *testing.T) {
		s, calm, p := faulty(t, server)
		admin(t, s)
		held := claimed(t, s, "one", lease)
		p.Lose(pgtest.LoseAnswer, 1)
		if _, err := s.Begin(t.Context(), action.Start{Action: held, Lease: lease}); !errors.Is(err, postgres.ErrUnknown) {
			t.Fatalf("begin: %v", err)
		}
		if got := row(t, calm, "one"); got.State != action.Uncertain || got.Attempt != 1 {
			t.Errorf("the row is %s, attempt %d", got.State, got.Attempt)
		}
	})
	t.Run("a dropped connection is no refusal", func(t *testing.T) {
		s, _, p := faulty(t, server)
		begin(t, s, "one")
		p.Break()
		begin(t, s, "two")
		p.Break()
		if got := row(t, s, "two"); got.State != action.Executing {
			t.Errorf("the row is %s", got.State)
		}
	})
}

func count(t *testing.T, s *postgres.Store, id string) int {
	t.Helper()
	records, err := s.Records(t.Context(), audit.Filter{Action: id})
	must(t, err)
	return len(records)
}

// cancelCommit makes a commit that waits for its standby stop waiting, as an
// operator can; the server then says that all is well.
func cancelCommit(t *testing.T, server *pgtest.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	db, err := pgx.Connect(ctx, server.DSN())
	must(t, err)
	defer db.Close(ctx)
	for n := 0; n == 0; {
		must(t, db.QueryRow(ctx, `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
			WHERE wait_event = 'SyncRep' AND query NOT LIKE 'DELETE FROM time_ahead%'`).Scan(&n)) // which a store does by itself
	}
}

func TestCommitThatDidNotWaitForTheStandby(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	run, call := begin(t, s, "running"), start(t, s, "new")
	server.Set(t, "synchronous_standby_names='nobody'")
	waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = 'nobody'")

	errs := make(chan error, 2)
	go func() { _, err := s.Begin(t.Context(), call); errs <- err }()
	cancelCommit(t, server) // of the commit point
	go func() {             // whoever looks it up waits for the standby in turn
		time.Sleep(500 * time.Millisecond)
		server.Set(t, "synchronous_standby_names=''")
	}()
	if err := <-errs; !errors.Is(err, postgres.ErrUnknown) {
		t.Errorf("the commit point lied and was run: %v", err)
	}
	if got := row(t, s, "new"); got.State != action.Uncertain {
		t.Errorf("the row is %s", got.State)
	}

	server.Set(t, "synchronous_standby_names='nobody'")
	waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = 'nobody'")
	go func() { _, err := s.Finish(t.Context(), success(run)); errs <- err }()
	cancelCommit(t, server)
	select {
	case err := <-errs:
		t.Errorf("an end was acknowledged that no standby has: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	server.Set(t, "synchronous_standby_names=''")
	must(t, <-errs)
}

func waitFor(t *testing.T, dsn, question string) {
	t.Helper()
	for number(t, dsn, question) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

func TestGatewaysShareOneDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	var stores [3]*postgres.Store
	var opened sync.WaitGroup
	for i := range stores { // all at once: one makes the tables
		opened.Add(1)
		go func() {
			defer opened.Done()
			stores[i] = openAt(t, dsn, nil)
		}()
	}
	opened.Wait()
	admin(t, stores[0])
	t.Run("one claim wins, and only its holder begins", func(t *testing.T) {
		for n := range 10 {
			id := fmt.Sprintf("claim%d", n)
			held := claimed(t, stores[0], id, time.Nanosecond) // its lease is over at once
			var wg sync.WaitGroup
			rows, errs := make([]action.Action, 3), make([]error, 3)
			for i, s := range stores {
				wg.Add(1)
				go func() {
					defer wg.Done()
					rows[i], errs[i] = s.Claim(t.Context(), id, lease)
				}()
			}
			wg.Wait()
			won := 0
			for i, err := range errs {
				if err == nil {
					won++
					_, err := stores[i].Begin(t.Context(), action.Start{Action: rows[i], Lease: lease})
					must(t, err)
				}
			}
			if _, err := stores[0].Begin(t.Context(), action.Start{Action: held, Lease: lease}); won != 1 || !errors.Is(err, action.ErrFence) {
				t.Fatalf("%d claims won; the old holder got %v", won, err)
			}
		}
	})
	t.Run("one call wins a key", func(t *testing.T) {
		for n := range 10 {
			var wg sync.WaitGroup
			errs := make([]error, 24)
			for i := range errs {
				call := start(t, stores[0], fmt.Sprintf("key%d-%d", n, i))
				call.Action.Key = fmt.Sprintf("k%d", n)
				wg.Add(1)
				go func() {
					defer wg.Done()
					_, errs[i] = stores[i%3].Begin(t.Context(), call)
				}()
			}
			wg.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else if !errors.Is(err, action.ErrKeyTaken) {
					t.Error(err)
				}
			}
			if won != 1 {
				t.Fatalf("%d calls began under one key", won)
			}
		}
	})
	t.Run("what a living gateway runs is no orphan, what one left behind is", func(t *testing.T) {
		left := openAt(t, dsn, nil)
		mine, its := begin(t, stores[1], "mine"), begin(t, left, "its")
		must(t, left.Close())
		moved, err := stores[0].Expire(t.Context(), true)
		must(t, err)
		if len(moved) != 1 || moved[0].ID != its.ID || moved[0].State != action.Uncertain {
			t.Errorf("moved %+v", moved)
		}
		if got := row(t, stores[2], mine.ID); got.State != action.Executing || got.CallerGone {
			t.Errorf("%s, caller gone %t", got.State, got.CallerGone)
		}
		if got := row(t, stores[2], its.ID); !got.CallerGone {
			t.Error("its caller waits still")
		}
	})
	t.Run("what one was told about the time holds for all", func(t *testing.T) {
		ahead, err := stores[0].Now(t.Context())
		must(t, err)
		ahead = ahead.Add(time.Hour)
		fast := openAt(t, dsn, func(o *postgres.Options) { o.Now = func() time.Time { return ahead } })
		begin(t, fast, "late")
		now, err := stores[1].Now(t.Context())
		must(t, err)
		if now.Before(ahead) {
			t.Errorf("it is %s, and was %s", now, ahead)
		}
	})
}
