package sqltable_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/sqltable"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// database makes a database by a script; exec changes it afterwards.
func database(t *testing.T, script string) (path string, exec func(string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "people.db")
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec = func(sql string) {
		t.Helper()
		if err := db.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(script)
	return path, exec
}

const people = `CREATE TABLE people (name, id, gone); INSERT INTO people VALUES ('Otto', 'P1', NULL), ('Maria', 7, '2030-01-02T03:04:05Z');`

func TestQueryGivesTheRows(t *testing.T) {
	t.Parallel()
	path, exec := database(t, people)
	s, err := sqltable.Open(t.Context(), path, "SELECT name, id, gone FROM people ORDER BY name;\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []resolve.Row{{Alias: "Maria", ID: "7", Expires: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}, {Alias: "Otto", ID: "P1"}}
	if rows, version, err := s.Rows(t.Context()); err != nil || version != "" || cmp.Diff(want, rows) != "" {
		t.Errorf("%v %q %v", rows, version, err)
	}
	table, err := resolve.NewSourceTable(s, 0, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (string, error) {
		a, err := table.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue("Otto")})
		return a.Values["value"].Text(), err
	}
	if id, err := ask(); err != nil || id != "P1" {
		t.Errorf("%q, %v", id, err)
	}
	exec("UPDATE people SET id = 'P2' WHERE name = 'Otto'")
	if id, err := ask(); err != nil || id != "P2" {
		t.Errorf("after the update: %q, %v", id, err)
	}
	exec("DROP TABLE people")
	if id, err := ask(); err == nil {
		t.Errorf("without the table: %q", id)
	}
}

func TestQueryThatIsMoreThanARead(t *testing.T) {
	t.Parallel()
	path, _ := database(t, people)
	for name, query := range map[string]string{
		"nothing":          "",
		"a comment":        "-- nothing",
		"no SQL":           "SELECTED",
		"one column":       "SELECT name FROM people",
		"four columns":     "SELECT name, id, gone, 1 FROM people",
		"two statements":   "SELECT name, id FROM people; DELETE FROM people",
		"a delete":         "DELETE FROM people",
		"a delete as rows": "DELETE FROM people RETURNING name, id",
		"an insert":        "INSERT INTO people VALUES ('x', 'y', NULL) RETURNING name, id",
		"another database": "ATTACH 'other.db' AS other",
		"a parameter":      "SELECT name, id FROM people WHERE name = ?",
		"a null id":        "SELECT name, NULL FROM people",
		"a float id":       "SELECT name, 1.5 FROM people",
		"a blob id":        "SELECT name, x'00' FROM people",
		"a bad expiry":     "SELECT name, id, 'tomorrow' FROM people",
		"a number expiry":  "SELECT name, id, 7 FROM people",
		"too many rows":    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x, x FROM n",
	} {
		if _, err := sqltable.Open(t.Context(), path, query); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s, err := sqltable.Open(t.Context(), path, "SELECT name, id FROM people")
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err := s.Rows(t.Context()); err != nil || len(rows) != 2 {
		t.Errorf("the rows were changed: %v, %v", rows, err)
	}
}

func TestDatabaseThatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte("alias,id\nOtto,P1\nand so on, and so on, and so on"), 0o600); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(dir, "absent.db")
	for _, path := range []string{text, absent, dir} {
		if _, err := sqltable.Open(t.Context(), path, "SELECT 'a', 'b'"); err == nil && path != text {
			t.Errorf("%s: accepted", path)
		}
		if _, err := sqltable.Open(t.Context(), path, "SELECT name, id FROM people"); err == nil {
			t.Errorf("%s: accepted", path)
		}
	}
	if _, err := os.Stat(absent); !errors.Is(err, os.ErrNotExist) {
		t.Error("the database was made")
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path, _ := database(t, people)
	s, err := sqltable.Open(t.Context(), path, "SELECT name, id FROM people")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Rows(ctx); err == nil {
		t.Error("it answered")
	}
}
