package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestTheTimeOfTheLastRecordHolds: the next process goes on from the last
// record, however far the stored floor lies behind it.
func TestTheTimeOfTheLastRecordHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s, "act_1")
	clock.Add(int64(50 * time.Millisecond)) // less than what moves the floor
	row := begin(t, s, "act_2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Add(-int64(time.Hour))
	again := openAt(t, path, now)
	if at, err := again.Now(t.Context()); err != nil || at.Before(row.UpdatedAt) {
		t.Errorf("the next process says %s, %v; the last record %s", at, err, row.UpdatedAt)
	}
	if late := begin(t, again, "act_3"); late.CreatedAt.Before(row.UpdatedAt) {
		t.Errorf("a row of the next process is of %s, before %s", late.CreatedAt, row.UpdatedAt)
	}
}

// TestTheTimeOfAChangeWithoutARecordHolds: what writes no record keeps its
// time in the floor.
func TestTheTimeOfAChangeWithoutARecordHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s, "act_1")
	clock.Add(int64(time.Millisecond))
	if _, err := s.Expire(t.Context(), true); err != nil { // takes over what an earlier process left
		t.Fatal(err)
	}
	want := now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Add(-int64(time.Hour))
	if at, err := openAt(t, path, now).Now(t.Context()); err != nil || at.Before(want) {
		t.Errorf("the next process says %s, %v; the last change was at %s", at, err, want)
	}
}

// TestTheTimeOfAnotherProcessHolds: a process that was stopped and lost its
// lock goes on from what another has written meanwhile, its time and the
// numbers of its records.
func TestTheTimeOfAnotherProcessHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openAt(t, path, func() time.Time { return start })
	begin(t, s, "act_1")
	begin(t, s, "act_2")
	later := start.Add(time.Minute)
	other := raw(t, path)
	if err := other.Exec(fmt.Sprintf(`INSERT INTO event_pack (first, count, at, salts, leaves)
		SELECT first + count, count, %d, salts, leaves FROM event_pack ORDER BY first DESC LIMIT 1`, later.UnixNano())); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"act_3", "act_4"} {
		if row := begin(t, s, id); row.CreatedAt.Before(later) {
			t.Errorf("%s is of %s, before %s", id, row.CreatedAt, later)
		}
	}
}
