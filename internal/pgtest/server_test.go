package pgtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

func number(t *testing.T, dsn, sql string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	var n int64
	if err := c.QueryRow(ctx, sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// follows waits until a standby says what its primary was told.
func follows(t *testing.T, b *pgtest.Server, sql string, want int64) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); number(t, b.DSN(), sql) != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the standby does not follow: %s", sql)
		}
	}
}

func TestServerKeepsWhatItAcknowledgedThroughACrash(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	s.Exec(t, "CREATE TABLE x (n BIGINT); INSERT INTO x VALUES (7)")
	s.Crash(t)
	s.Restart(t)
	if n := number(t, s.DSN(), "SELECT n FROM x"); n != 7 {
		t.Errorf("%d", n)
	}
}

func TestSchemasDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, "max_connections=20")
	one, two := s.Schema(t), s.Schema(t)
	if n := number(t, one, "SELECT setting::bigint FROM pg_settings WHERE name = 'max_connections'"); n != 20 {
		t.Errorf("max_connections is %d", n)
	}
	s.Exec(t, "CREATE TABLE s1.x (n BIGINT)")
	if n := number(t, one, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"); n != 1 {
		t.Errorf("%d tables", n)
	}
	if n := number(t, two, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"); n != 0 {
		t.Errorf("%d tables", n)
	}
}

func TestStandbyFollowsAndTakesOver(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	b := s.Standby(t, "b")
	s.Set(t, "synchronous_standby_names='b'")
	s.Exec(t, "CREATE TABLE x (n BIGINT)")
	s.Exec(t, "INSERT INTO x VALUES (7)")
	// Processes of the server read the setting a moment later: the first commits may not wait for the standby.
	follows(t, b, "SELECT count(*) FROM pg_tables WHERE tablename = 'x'", 1)
	follows(t, b, "SELECT coalesce(sum(n), 0)::bigint FROM x", 7)
	s.Crash(t)
	b.Promote(t)
	b.Exec(t, "INSERT INTO x VALUES (8)")
	if n := number(t, b.DSN(), "SELECT sum(n)::bigint FROM x"); n != 15 {
		t.Errorf("%d", n)
	}
}
