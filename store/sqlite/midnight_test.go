package sqlite_test

import (
	"bytes"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestPayloadIsSealedForTheDayOfItsRow also where a day begins between the
// sealing and the transaction: here each look at the clock is half a day later.
func TestPayloadIsSealedForTheDayOfItsRow(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer, Now: func() time.Time {
		return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(looks.Add(1)) * 12 * time.Hour)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		a := allowed(t, s, id)
		a.Decision.Effect, a.Decision.Code = "deny", "policy_denied"
		if _, err := s.Decide(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.Actions(t.Context(), action.Filter{Tenant: "acme"})
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	days := map[string]uint16{}
	db := raw(t, path)
	q, _, err := db.Prepare("SELECT id, args, raw FROM action")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for q.Step() {
		for i := 1; i <= 2; i++ { // what is short stands in the row
			b := q.ColumnBlob(i, nil)
			if b[0] != 2 || b[9] != byte(action.ClassMutation) {
				t.Fatalf("%s: % x", q.ColumnText(0), b[:12])
			}
			day := uint16(b[10])<<8 | uint16(b[11])
			if had, known := days[q.ColumnText(0)]; known && had != day {
				t.Errorf("%s has fields of two days", q.ColumnText(0))
			}
			days[q.ColumnText(0)] = day
		}
	}
	for _, row := range rows {
		if days[row.ID] != keys.DayOf(row.CreatedAt) {
			t.Errorf("%s came on day %d and is sealed for day %d", row.ID, keys.DayOf(row.CreatedAt), days[row.ID])
		}
	}
}
