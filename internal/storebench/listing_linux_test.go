//go:build bench

package storebench_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// The stores in which what waits is listed: with few decided rows, and many.
const (
	few     = 1_000
	many    = 1_000_000
	waiting = 20
	lists   = 1500
)

// listing measures the list of what waits for people.
func listing(t *testing.T, server *pgtest.Server) {
	t.Helper()
	dir := t.TempDir()
	for _, kind := range []struct {
		name string
		open func(rows int) verbatim.Store
	}{
		{"SQLite", func(rows int) verbatim.Store { return filledSQLite(t, filepath.Join(dir, fmt.Sprint(rows)), rows) }},
		{"PostgreSQL", func(rows int) verbatim.Store { return filledPostgres(t, server.Schema(t), rows) }},
	} {
		small, large := kind.open(few), kind.open(many)
		a, b := listed(t, small, large)
		fmt.Printf("  %s: p99 of listing %d pending rows beside %d decided ones %d us, beside %d %d us\n", kind.name, waiting, few,
			a.Microseconds(), many, b.Microseconds())
		bar("p99 of listing what waits on "+kind.name, float64(b)/float64(a), 5, true)
	}
}

// listed asks both stores in turn and returns the 99th of a hundred times.
func listed(t *testing.T, small, large verbatim.Store) (a, b time.Duration) {
	t.Helper()
	times := [2][]time.Duration{}
	for i := range lists {
		for j, s := range []verbatim.Store{small, large} {
			start := time.Now()
			rows, err := s.Actions(t.Context(), action.Filter{Tenant: tenant, States: []action.State{action.PendingApproval}, Limit: 100})
			took := time.Since(start)
			must(t, err)
			if len(rows) != waiting {
				t.Fatalf("%d rows wait, want %d", len(rows), waiting)
			}
			if i >= lists/10 { // the first warm up
				times[j] = append(times[j], took)
			}
		}
	}
	for _, list := range times {
		slices.Sort(list)
	}
	return times[0][len(times[0])*99/100], times[1][len(times[1])*99/100]
}

// seed makes one denied row to copy, and those that wait, half of them before
// the others come.
func seed(t *testing.T, s verbatim.Store, name string) {
	t.Helper()
	denied := allowed(t, s)
	denied.ID, denied.Decision.Effect, denied.Decision.Code = "denied "+name, "deny", "no_matching_rule"
	_, err := s.Decide(t.Context(), denied)
	must(t, err)
	for i := range waiting / 2 {
		a := allowed(t, s)
		now, err := s.Now(t.Context())
		must(t, err)
		a.ID, a.HighImpact, a.Decision.Effect = fmt.Sprintf("%s-%d", name, i), true, "require_approval"
		a.Terms = &action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}},
			PendingUntil: now.Add(24 * time.Hour), TTL: time.Hour, Nonce: a.ID, RequestedAt: now, ExpiresAt: now.Add(24 * time.Hour)}
		a.Terms.Digest = approval.Digest(a)
		_, err = s.Suspend(t.Context(), a)
		must(t, err)
	}
}

// copies is SQL that makes decided rows out of the one that is there. The
// numbers come from a source of n from 1 on.
func copies(columns []string, source string) string {
	values := slices.Clone(columns)
	for i, c := range columns {
		switch c {
		case "seq":
			values[i] = "a.seq + 1000 + n"
		case "id":
			values[i] = "a.id || '-' || n"
		}
	}
	return fmt.Sprintf("INSERT INTO action (%s) SELECT %s FROM action a, %s WHERE a.id = 'denied early'",
		strings.Join(columns, ", "), strings.Join(values, ", "), source)
}

const payloads = `INSERT INTO payload (action_seq, raw, requested, args, preview)
	SELECT b.seq, p.raw, p.requested, p.args, p.preview FROM action b, payload p
	WHERE b.id LIKE 'denied early-%' AND p.action_seq = (SELECT seq FROM action WHERE id = 'denied early')`

func filledSQLite(t *testing.T, path string, rows int) verbatim.Store {
	t.Helper()
	s := openSQLite(t, path)
	seed(t, s, "early")
	must(t, s.Close())
	db, err := sqlite3.Open("file:" + path)
	must(t, err)
	var columns []string
	stmt, _, err := db.Prepare("SELECT name FROM pragma_table_info('action')")
	must(t, err)
	for stmt.Step() {
		columns = append(columns, stmt.ColumnText(0))
	}
	must(t, stmt.Close())
	source := fmt.Sprintf("(WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < %d) SELECT n FROM k)", rows)
	must(t, db.Exec(copies(columns, source)))
	must(t, db.Exec(payloads))
	must(t, db.Close())
	s = openSQLite(t, path)
	seed(t, s, "late")
	return s
}

func filledPostgres(t *testing.T, dsn string, rows int) verbatim.Store {
	t.Helper()
	ctx := context.Background()
	s := openPostgres(t, dsn)
	seed(t, s, "early")
	db, err := pgx.Connect(ctx, dsn)
	must(t, err)
	defer db.Close(ctx)
	names, err := db.Query(ctx, "SELECT attname::text FROM pg_attribute WHERE attrelid = 'action'::regclass AND attnum > 0 AND NOT attisdropped")
	must(t, err)
	columns, err := pgx.CollectRows(names, pgx.RowTo[string])
	must(t, err)
	for _, sql := range []string{copies(columns, fmt.Sprintf("generate_series(1, %d) AS n", rows)),
		fmt.Sprintf("SELECT setval('action_seq', %d)", rows+10_000), payloads, "ANALYZE"} {
		_, err := db.Exec(ctx, sql)
		must(t, err)
	}
	seed(t, s, "late")
	return s
}
