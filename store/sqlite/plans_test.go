package sqlite_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// statements are what stores have prepared while the suite ran.
type statements struct {
	mu    sync.Mutex
	texts map[string]bool
}

func (all *statements) add(s *sqlite.Store) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, sql := range s.Statements() {
		all.texts[sql] = true
	}
}

// check asks how the database would go through its tables for each statement:
// none may read all rows of a tenant, or of everybody, to find a few.
func (all *statements) check(t *testing.T) {
	_, path := newStore(t)
	db := raw(t, path)
	for sql := range all.texts {
		s, _, err := db.Prepare("EXPLAIN QUERY PLAN " + sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		for s.Step() {
			if step := s.ColumnText(3); long(sql, step) {
				t.Errorf("%s\n%s", step, sql)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d statements", len(all.texts))
}

// small are the tables whose rows do not grow with the calls, and names that
// stand for few rows inside a statement. The rows that name a new action are
// only looked for where a reference was left open.
var small = []string{"CONSTANT ROW", "account", "account_group", "checkpoint", "delegation", "event_listed", "follower", "g", "h", "head", "idempotency", "invitation", "log", "login", "n", "named", "retention", "s", "schema_version",
	"seal_check", "stop", "swift_from", "time_floor"}

func long(sql, step string) bool {
	fields := strings.Fields(step)
	newest := !strings.Contains(sql, "WHERE") && strings.Contains(sql, " LIMIT ?") || // the first page of everything
		strings.HasSuffix(sql, "WHERE a.state IN (?, ?) ORDER BY a.seq DESC LIMIT ?") // and of everybody's that have ended so
	switch {
	case strings.HasPrefix(step, "SCAN CONSTANT ROW"), strings.HasSuffix(step, "-ROW VALUES CLAUSE"), strings.HasPrefix(step, "SCAN (subquery"):
		return false
	case strings.HasPrefix(step, "SCAN action USING INDEX action_flying"), step == "SCAN running": // the rows in flight and no others
		return false
	case fields[0] == "SCAN":
		return !newest && !slices.Contains(small, fields[1])
	case strings.Contains(step, " i ") && strings.Contains(sql, "action_id = ?"):
		return true // the records of one action, among all of its tenant
	default:
		return strings.Contains(step, "action_tenant") && strings.Contains(sql, "state") && !strings.Contains(sql, "ORDER BY a.seq DESC")
	}
}
