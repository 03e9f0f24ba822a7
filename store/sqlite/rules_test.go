package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
)

// made is a database in memory with the first migrations.
func made(t *testing.T, steps int) *sqlite3.Conn {
	t.Helper()
	db, err := sqlite3.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) < steps {
		t.Fatalf("%d migrations: %v", len(files), err)
	}
	if steps == 0 {
		steps = len(files)
	}
	for _, name := range files[:steps] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sql(t, db, "BEGIN; "+string(text)+"; COMMIT")
	}
	return db
}

// TestCheaperChecksRefuseTheSame compares the rules of a table before they
// were said so that they cost less with those of now, row by row.
func TestCheaperChecksRefuseTheSame(t *testing.T) {
	t.Parallel()
	before, now := made(t, 13), made(t, 0)
	var schema [2]string
	for i, db := range []*sqlite3.Conn{before, now} {
		sql(t, db, "DROP TRIGGER action_start")
		s, _, err := db.Prepare("SELECT group_concat(sql, ';') FROM sqlite_schema WHERE name IN ('action', 'attempt', 'reservation', 'budget')")
		if err != nil || !s.Step() {
			t.Fatal(err, s.Err())
		}
		schema[i] = s.ColumnText(0)
		s.Close()
	}
	if strings.Count(schema[0], ", 'failed'") == 0 || strings.Contains(schema[1], ", 'failed'") || strings.Contains(schema[1], "'hour',") {
		t.Fatal("the step did not change the rules that it means")
	}
	first, second := insertShape(t, before), insertShape(t, now)
	rows, tried, good := grid(), 0, 0
	for i := 0; i < len(rows); i += shortened {
		row := rows[i]
		tried++
		was, is := first(row), second(row)
		if was != is {
			t.Fatalf("%v: accepted %t before, %t now", row, was, is)
		}
		if is {
			good++
		}
	}
	if good == 0 || good == tried {
		t.Fatal("the rows do not tell the rules apart")
	}
	t.Logf("%d rows, %d of them good", tried, good)
}

// insertShape tries to insert a row and says whether the rules let it in.
func insertShape(t *testing.T, db *sqlite3.Conn) func(row []string) bool {
	t.Helper()
	const text = `INSERT INTO action (id, kind, tenant, principal, agent, owner, task, grant_id, tool, created_at, updated_at, targets,
		evidence, changes, key, supersedes, caller_gone, model, call_id, code, reason, public_reason, result_mode, policy_version, rules,
		process, mutation, high_impact, state, fence, lease_until, attempt, deadline, effect, end_evidence)
		VALUES (hex(randomblob(9)), 'call', 't', 'p', '', '', '', '', '', 0, 0, '', '', '', '', '', 0, '', '', '', '', '', '', '', '', '',
		?, ?, ?, ?, nullif(?, '0'), ?, nullif(?, '0'), ?, ?)`
	s, _, err := db.Prepare(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func(row []string) bool {
		for i, value := range row {
			if err := s.BindText(i+1, value); err != nil {
				t.Fatal(err)
			}
		}
		return s.Exec() == nil
	}
}

// grid are rows of every shape that the rules tell apart.
func grid() (out [][]string) {
	states := []string{"wrong"}
	for _, s := range action.States() {
		states = append(states, string(s))
	}
	for _, state := range states {
		for bits := range 1 << 6 {
			bit := func(i int) string { return [2]string{"0", "1"}[bits>>i&1] }
			for _, effect := range []string{"deny", "allow", "require_approval", "wrong"} {
				for _, evidence := range []string{"", "proved", "reported", "wrong"} {
					out = append(out, []string{bit(0), bit(1), state, bit(2), bit(3), bit(4), bit(5), effect, evidence})
				}
			}
		}
	}
	return out
}

// TestVerbsMakeNoTablesOfTheirOwn: a list of three or more in a rule would
// have SQLite fill one with every statement, which costs more than the rest
// of it.
func TestVerbsMakeNoTablesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	opened := s.Statements()
	begin(t, s, "act_1")
	if _, err := s.Finish(t.Context(), action.Ending{ID: "act_1", Fence: 1, State: action.Succeeded,
		Result: action.Result{Output: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	seen := 0
	for _, text := range s.Statements() {
		if slices.Contains(opened, text) || strings.HasPrefix(text, "UPDATE reservation") || strings.HasPrefix(text, "UPDATE time_floor") {
			continue // at the start, of an action with limits, ten times a second
		}
		seen++
		if n := tables(t, db, text); n > 0 {
			t.Errorf("%d tables made by %s", n, text)
		}
	}
	if seen < 8 {
		t.Errorf("%d statements", seen)
	}
}

// tables counts the tables that a statement makes for itself.
func tables(t *testing.T, db *sqlite3.Conn, text string) (n int) {
	t.Helper()
	s, _, err := db.Prepare("EXPLAIN " + text)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for s.Step() {
		if op := s.ColumnText(1); op == "OpenEphemeral" || op == "OpenAutoindex" || op == "SorterOpen" {
			n++
		}
	}
	return n
}
