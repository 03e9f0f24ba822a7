package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// A commit that many share lies, as one that waits for its standby does when
// somebody cancels it: none of those who share it is run.
func TestCrowdWhoseCommitDidNotWaitForTheStandby(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	calls := make([]action.Start, 12)
	for i := range calls {
		calls[i] = start(t, s, fmt.Sprint("call ", i))
	}
	server.Set(t, "synchronous_standby_names='nobody'")
	waitFor(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = 'nobody'")
	errs := make([]error, len(calls))
	var callers sync.WaitGroup
	for i, call := range calls {
		callers.Go(func() { _, errs[i] = s.Begin(t.Context(), call) })
	}
	cancelCommits(t, server, 3) // of the first two, who come alone, and of others
	server.Set(t, "synchronous_standby_names=''")
	callers.Wait()
	unknown := 0
	for i, err := range errs {
		want := action.Executing
		if errors.Is(err, postgres.ErrUnknown) {
			unknown++
			want, err = action.Uncertain, nil
		}
		must(t, err)
		if got := row(t, s, calls[i].Action.ID); got.State != want {
			t.Errorf("%s is %s, not %s", got.ID, got.State, want)
		}
	}
	if unknown < 4 {
		t.Errorf("three commits lied, and %d calls of 12 are in doubt", unknown)
	}
}

// cancelCommits makes some commits that wait for their standby stop waiting.
func cancelCommits(t *testing.T, server *pgtest.Server, wanted int) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), server.DSN())
	must(t, err)
	defer db.Close(t.Context())
	for done := 0; done < wanted; {
		time.Sleep(100 * time.Millisecond) // for more to come
		n := 0
		must(t, db.QueryRow(t.Context(), `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
			WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`).Scan(&n))
		done += n
	}
	for waiting := 1; waiting > 0; { // until they have stopped: those that are not cancelled wait for their look-up
		must(t, db.QueryRow(t.Context(), `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
			WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`).Scan(&waiting))
	}
}
