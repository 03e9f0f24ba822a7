package postgres_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// holdFloor locks the row of the floor, as a change that hangs does, until it
// is told to let go.
func holdFloor(t *testing.T, dsn string) (letGo func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db, err := pgx.Connect(ctx, dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close(ctx) })
	_, err = db.Exec(ctx, "BEGIN")
	must(t, err)
	_, err = db.Exec(ctx, "SELECT 1 FROM time_floor FOR UPDATE")
	must(t, err)
	return func() {
		t.Helper()
		_, err := db.Exec(ctx, "ROLLBACK")
		must(t, err)
	}
}

// TestTimeOfARecordHoldsWhoeverHoldsTheFloor: nobody waits for a change that
// hangs with the row of the floor, and the next process goes on from the last
// record all the same.
func TestTimeOfARecordHoldsWhoeverHoldsTheFloor(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	timed := func(o *postgres.Options) { o.Now = func() time.Time { return time.Unix(0, clock.Load()).UTC() } }
	s := openAt(t, dsn, timed)
	begin(t, s, "act_1")
	letGo := holdFloor(t, dsn)
	clock.Add(int64(time.Minute))
	begin(t, s, "act_2")
	clock.Add(int64(time.Minute))
	last := begin(t, s, "act_3")
	clock.Add(-int64(time.Hour))

	whole := func(when string) {
		t.Helper()
		if r, err := postgres.Check(t.Context(), optionsAt(t, dsn)); err != nil {
			t.Errorf("%s: %v, %q", when, err, r.Faults)
		}
		if _, err := postgres.Backup(t.Context(), filepath.Join(t.TempDir(), "copy"), optionsAt(t, dsn)); err != nil {
			t.Errorf("a backup %s: %v", when, err)
		}
	}
	whole("while the row is held")
	next := openAt(t, dsn, timed)
	if at, err := next.Now(t.Context()); err != nil || at.Before(last.UpdatedAt) {
		t.Errorf("the next process says %s, %v; the last record %s", at, err, last.UpdatedAt)
	}
	if row := begin(t, next, "act_4"); row.CreatedAt.Before(last.UpdatedAt) {
		t.Errorf("a row of the next process is of %s, before %s", row.CreatedAt, last.UpdatedAt)
	}
	letGo()
	whole("when it was let go")

	clock.Add(int64(2 * time.Hour))
	late := begin(t, next, "act_5")
	must(t, next.TidyFloor(t.Context()))
	if n := number(t, dsn, "SELECT count(*) FROM time_ahead"); n != 0 {
		t.Errorf("%d times are kept that the floor has passed", n)
	}
	whole("when it was tidied up")
	clock.Add(-int64(5 * time.Hour))
	if at, err := openAt(t, dsn, timed).Now(t.Context()); err != nil || at.Before(late.CreatedAt) {
		t.Errorf("a third process says %s, %v; the last record %s", at, err, late.CreatedAt)
	}
}

// TestTimeOfTheLastRecordHolds: the next process goes on from the last record,
// also where the floor lies behind it by less than what moves it.
func TestTimeOfTheLastRecordHolds(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	timed := func(o *postgres.Options) { o.Now = func() time.Time { return time.Unix(0, clock.Load()).UTC() } }
	s := openAt(t, dsn, timed)
	begin(t, s, "act_1")
	clock.Add(int64(50 * time.Millisecond))
	last := begin(t, s, "act_2")
	clock.Add(-int64(time.Hour))
	next := openAt(t, dsn, timed)
	if row := begin(t, next, "act_3"); row.CreatedAt.Before(last.UpdatedAt) {
		t.Errorf("a row of the next process is of %s, before %s", row.CreatedAt, last.UpdatedAt)
	}
}

// TestTidyingKeepsTimesThatTheFloorHasNotPassed: while the row is held they
// are all that is known of the time.
func TestTidyingKeepsTimesThatTheFloorHasNotPassed(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	s := openAt(t, dsn, func(o *postgres.Options) { o.Now = func() time.Time { return time.Unix(0, clock.Load()).UTC() } })
	begin(t, s, "act_1")
	letGo := holdFloor(t, dsn)
	defer letGo()
	clock.Add(int64(time.Minute))
	begin(t, s, "act_2")
	must(t, s.TidyFloor(t.Context()))
	if n := number(t, dsn, "SELECT count(*) FROM time_ahead"); n == 0 {
		t.Error("the time of a record is forgotten")
	}
	for _, text := range []string{"DELETE FROM time_ahead", "UPDATE time_ahead SET at = 1", "TRUNCATE time_ahead"} {
		if got := sqlState(sql(t.Context(), dsn, text)); got != "23001" { // restrict violation
			t.Errorf("%s: %s, want 23001", text, got)
		}
	}
}
