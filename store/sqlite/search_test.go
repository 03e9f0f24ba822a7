package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
)

// filled writes rows of other calls, one a second from a time on, as copies of
// one row.
func filled(t *testing.T, db *sqlite3.Conn, prefix, of string, rows int, from time.Time) {
	t.Helper()
	info, _, err := db.Prepare("SELECT name FROM pragma_table_info('action') WHERE name NOT IN ('seq', 'id', 'created_at', 'updated_at', 'fingerprint')")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for info.Step() {
		names = append(names, info.ColumnText(0))
	}
	if err := info.Close(); err != nil {
		t.Fatal(err)
	}
	columns := strings.Join(names, ", ")
	sql(t, db, fmt.Sprintf(`INSERT INTO action (id, created_at, updated_at, fingerprint, %s)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)
		SELECT '%s' || i, %d + i * 1000000000, %d + i * 1000000000, randomblob(32), %s FROM n CROSS JOIN action WHERE id = '%s'`,
		columns, rows, prefix, from.UnixNano(), from.UnixNano(), columns, of))
}

// TestYesterdaysApprovalIsFoundAmongManyRows counts the work of the database,
// which a busy machine does not change: looking for what somebody approved on
// a day costs the same among few rows and among many.
func TestYesterdaysApprovalIsFoundAmongManyRows(t *testing.T) {
	t.Parallel()
	most := 50_000 / shortened
	if n, err := strconv.Atoi(os.Getenv("VERBATIM_SEARCH_ROWS")); err == nil {
		most = n
	}
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	look := func(rows int) map[string]int {
		now := day.Add(-365 * 24 * time.Hour)
		path := filepath.Join(t.TempDir(), "store.db")
		s := openAt(t, path, func() time.Time { return now })
		admin(t, s)
		begin(t, s, "act_0")
		db := raw(t, path)
		filled(t, db, "before", "act_0", rows, now)
		now = day.Add(9 * time.Hour)
		row := pending(t, s, "act_wanted")
		if _, err := s.Vote(t.Context(), action.Vote{ActionID: row.ID, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, Nonce: "n", Method: "password", LoginAt: now}); err != nil {
			t.Fatal(err)
		}
		now = day.Add(30 * time.Hour)
		filled(t, db, "after", "act_0", rows, now)
		out := map[string]int{}
		for name, f := range map[string]action.Filter{
			"by who decided":          {Voter: "acc_ann"},
			"by day":                  {From: day, Until: day.AddDate(0, 0, 1)},
			"by day and who decided":  {From: day, Until: day.AddDate(0, 0, 1), Voter: "acc_ann"},
			"by day, state and voter": {From: day, Until: day.AddDate(0, 0, 1), Voter: "acc_ann", States: []action.State{action.Approved}},
		} {
			f.Tenant = "acme"
			found, steps, err := s.Steps(f)
			if err != nil || found != 1 {
				t.Fatalf("%s among %d rows: %d found, %v", name, 2*rows, found, err)
			}
			out[name] = steps
		}
		return out
	}
	few, many := look(100), look(most)
	for name, steps := range many {
		t.Logf("%s: %d steps among 200 rows, %d among %d", name, few[name], steps, 2*most)
		if steps > 3*few[name]+200 {
			t.Errorf("%s: %d steps among 200 rows, %d among %d", name, few[name], steps, 2*most)
		}
	}
}
