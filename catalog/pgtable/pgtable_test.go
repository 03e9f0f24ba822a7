package pgtable_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/pgtable"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/resolve"
)

const people = `CREATE TABLE people (name text, id text, n bigint, u uuid, c char(4), gone timestamptz, local timestamp);
INSERT INTO people VALUES
 ('Otto', 'P1', 9007199254740993, '6F9619FF-8B86-D011-B42D-00CF4FC964FF', 'a', NULL, NULL),
 ('Maria', 'P2', 7, '00000000-0000-0000-0000-000000000001', 'b', '2030-01-02 04:04:05.5+01', '2030-01-02 03:04:05'),
 ('Zoë', 'P3', -1, '00000000-0000-0000-0000-000000000002', 'c', 'infinity', NULL);`

func as(text string) func() (string, error) { return func() (string, error) { return text, nil } }

func ask(t *testing.T, dsn, query string) ([]resolve.Row, error) {
	t.Helper()
	s, err := pgtable.New(as(dsn), query)
	if err != nil {
		return nil, err
	}
	rows, version, err := s.Rows(t.Context())
	if version != "" {
		t.Errorf("a version: %q", version)
	}
	return rows, err
}

// TestTableInPostgreSQL starts one server for all of its rules.
func TestTableInPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	server.Exec(t, people)
	t.Run("a query gives the rows", func(t *testing.T) { givesRows(t, server) })
	t.Run("a table follows the database", func(t *testing.T) { follows(t, server) })
	t.Run("what is more than a read is refused", func(t *testing.T) { refuses(t, server) })
	t.Run("rows without end are not read", func(t *testing.T) { ends(t, server) })
	t.Run("the question ends with its context", func(t *testing.T) { cancelled(t, server) })
	t.Run("two statements see one moment", func(t *testing.T) { oneMoment(t, server) })
}

func givesRows(t *testing.T, server *pgtest.Server) {
	for name, c := range map[string]struct {
		query string
		want  []resolve.Row
	}{
		"text, expiring": {"SELECT name, id, gone FROM people ORDER BY id;", []resolve.Row{
			{Alias: "Otto", ID: "P1"},
			{Alias: "Maria", ID: "P2", Expires: time.Date(2030, 1, 2, 3, 4, 5, 5e8, time.UTC)},
			{Alias: "Zoë", ID: "P3"}}},
		"integers and uuid": {"SELECT n, u FROM people WHERE id = 'P1'", []resolve.Row{
			{Alias: "9007199254740993", ID: "6f9619ff-8b86-d011-b42d-00cf4fc964ff"}}},
		"over for good": {"SELECT 'a', 'b', '-infinity'::timestamptz", []resolve.Row{{Alias: "a", ID: "b", Expires: time.Unix(0, 0).UTC()}}},
		"with":          {"WITH x AS (SELECT 'a' AS k, 5::int2 AS v) SELECT k, v FROM x", []resolve.Row{{Alias: "a", ID: "5"}}},
		"no row":        {"SELECT name, id FROM people WHERE false", nil},
	} {
		rows, err := ask(t, server.DSN(), c.query)
		if diff := cmp.Diff(c.want, rows); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func follows(t *testing.T, server *pgtest.Server) {
	server.Exec(t, "CREATE TABLE v (n text, id text); INSERT INTO v VALUES ('Acme', 'V1')")
	source, err := pgtable.New(as(server.DSN()), "SELECT n, id FROM v")
	if err != nil {
		t.Fatal(err)
	}
	table, err := resolve.NewSourceTable(source, 0, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answer := func() (string, string, error) {
		a, err := table.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue("Acme")})
		return a.Values["value"].Text(), a.Version, err
	}
	id, first, err := answer()
	if err != nil || id != "V1" {
		t.Errorf("%q, %v", id, err)
	}
	server.Exec(t, "UPDATE v SET id = 'V2'")
	id, second, err := answer()
	if err != nil || id != "V2" || first == second {
		t.Errorf("after the update: %q, %q then %q, %v", id, first, second, err)
	}
	server.Exec(t, "INSERT INTO v VALUES ('Acme', 'V3')")
	if id, _, err := answer(); err == nil {
		t.Errorf("a name of two: %q", id)
	}
	server.Exec(t, "DROP TABLE v")
	if id, _, err := answer(); err == nil {
		t.Errorf("without the table: %q", id)
	}
}

func refuses(t *testing.T, server *pgtest.Server) {
	for name, c := range map[string]struct {
		query string
		want  error // nil: any
	}{
		"a comment":               {"-- nothing", pgtable.ErrQuery},
		"no SQL":                  {"SELECTED", nil},
		"one column":              {"SELECT name FROM people", pgtable.ErrQuery},
		"four columns":            {"SELECT name, id, gone, 1 FROM people", pgtable.ErrQuery},
		"two statements":          {"SELECT name, id FROM people; DELETE FROM people", nil},
		"the end of reading only": {"COMMIT", pgtable.ErrQuery},
		"a delete":                {"DELETE FROM people", pgtable.ErrQuery},
		"a delete as rows":        {"DELETE FROM people RETURNING name, id", nil},
		"a delete in a with":      {"WITH x AS (DELETE FROM people RETURNING name, id) SELECT name, id FROM x", nil},
		"writing again":           {"SELECT set_config('transaction_read_only', 'off', true), lo_create(0)::text", nil},
		"a parameter":             {"SELECT name, id FROM people WHERE name = $1", pgtable.ErrQuery},
		"a null id":               {"SELECT name, NULL::text FROM people", pgtable.ErrNull},
		"a float id":              {"SELECT name, 1.5::float8 FROM people", pgtable.ErrType},
		"a decimal id":            {"SELECT name, 1.50 FROM people", pgtable.ErrType},
		"a padded id":             {"SELECT name, c FROM people", pgtable.ErrType},
		"a blob id":               {"SELECT name, 'x'::bytea FROM people", pgtable.ErrType},
		"an expiry without zone":  {"SELECT name, id, local FROM people", pgtable.ErrType},
		"an expiry before Christ": {"SELECT name, id, '0044-03-15 BC'::timestamptz FROM people", pgtable.ErrTime},
	} {
		if rows, err := ask(t, server.DSN(), c.query); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	if rows, err := ask(t, server.DSN(), "SELECT name, id FROM people"); err != nil || len(rows) != 3 {
		t.Errorf("the rows were changed: %v, %v", rows, err)
	}
}

func ends(t *testing.T, server *pgtest.Server) {
	if _, err := ask(t, server.DSN(), "SELECT generate_series(1, 1000000000), 1"); !errors.Is(err, pgtable.ErrRows) {
		t.Error(err)
	}
	if _, err := ask(t, server.DSN(), "SELECT n, repeat('x', 1000000) FROM generate_series(1, 1000) AS n"); !errors.Is(err, pgtable.ErrRows) {
		t.Error(err)
	}
	if _, err := ask(t, server.DSN(), "SELECT 'a', repeat('x', 500000000)"); err == nil {
		t.Error("a value of half a gigabyte was read")
	}
}

func cancelled(t *testing.T, server *pgtest.Server) {
	s, err := pgtable.New(as(server.DSN()), "SELECT 'a', pg_sleep(600)::text")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := s.Rows(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// oneMoment has a query whose second part would see a row that is committed
// while the first part runs, if both did not read one snapshot.
func oneMoment(t *testing.T, server *pgtest.Server) {
	server.Exec(t, `CREATE TABLE m (id text);
CREATE FUNCTION counted() RETURNS text LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM pg_sleep(1); RETURN (SELECT count(*) FROM m)::text; END $$`)
	done := make(chan error, 1)
	go func() {
		rows, err := ask(t, server.DSN(), "SELECT (SELECT count(*) FROM m), counted()")
		if err == nil && (len(rows) != 1 || rows[0].Alias != rows[0].ID) {
			err = errors.New("the rows are of two moments")
		}
		done <- err
	}()
	for i := range 20 { // some of them fall into the second in which the query sleeps
		server.Exec(t, "INSERT INTO m VALUES ('x')")
		if i == 19 {
			break
		}
		time.Sleep(40 * time.Millisecond)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestConnectionThatAnybodyCouldAnswerIsRefused(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]error{
		"host=db.example user=u password=geheim":                                             pgtable.ErrPlain,
		"host=db.example user=u password=geheim sslmode=disable":                             pgtable.ErrPlain,
		"host=db.example user=u password=geheim sslmode=require":                             pgtable.ErrPlain,
		"postgres://u:geheim@10.0.0.7/d?sslmode=allow":                                       pgtable.ErrPlain,
		"postgres://u:geheim@localhost,db.example/d?sslmode=prefer":                          pgtable.ErrPlain,
		"postgres://u:geheim@127.0.0.1.example/d":                                            pgtable.ErrPlain,
		"postgres://u:geheim@[::1/d":                                                         pgtable.ErrDSN,
		"host=db.example password=geheim port=x":                                             pgtable.ErrDSN,
		"postgres://u:geheim@127.0.0.1:1/d?sslmode=disable&connect_timeout=1":                nil,
		"host=/nonexistent user=u password=geheim":                                           nil,
		"postgres://u:geheim@[::1]:1/d?sslmode=disable&connect_timeout=1":                    nil,
		"host=verbatim.invalid user=u password=geheim sslmode=verify-full connect_timeout=1": nil,
	} {
		_, err := ask(t, dsn, "SELECT 'a', 'b'")
		if err == nil || want != nil && !errors.Is(err, want) || want == nil && (errors.Is(err, pgtable.ErrPlain) || errors.Is(err, pgtable.ErrDSN)) {
			t.Errorf("%s: %v", dsn, err)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("the error holds the password: %v", err)
		}
	}
	broken := errors.New("no such file")
	s, err := pgtable.New(func() (string, error) { return "", broken }, "SELECT 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Rows(t.Context()); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := pgtable.New(nil, "SELECT 1, 2"); err == nil {
		t.Error("no connection string")
	}
	if _, err := pgtable.New(as("x"), ""); err == nil {
		t.Error("no query")
	}
}
