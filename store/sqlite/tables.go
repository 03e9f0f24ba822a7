package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// The verbs that every store has alike.
type (
	book           = tables.Book
	standingGrants = tables.Grants
	policyBook     = tables.Policies
	followers      = tables.Followers
	people         = tables.People
	limits         = tables.Limits
)

// arrival counts the rows of a table as they come.
const arrival = "rowid"

// database is this store as package tables sees it.
type database struct{ *Store }

func (d database) Read(ctx context.Context, fn func(tables.Reader) error) error {
	return d.read(ctx, func(c *conn) error { return fn(c) })
}

func (d database) Write(ctx context.Context, wait bool, fn func(tables.Tx) error) error {
	level := syncNormal
	if wait {
		level = syncFull
	}
	return d.write(ctx, level, func(t *tx) error { return fn(t) })
}

func (d database) Change(ctx context.Context, fn func(tables.Rows) (action.Action, error)) (action.Action, error) {
	return d.change(ctx, syncFull, func(t *tx) (action.Action, error) { return fn(t) })
}

// numbered writes the parameters of a statement as SQLite numbers them: $1 would
// be a name here (sqlite.org/lang_expr.html#varparam).
func numbered(sql string) string { return strings.ReplaceAll(sql, "$", "?") }

func (c *conn) Query(row func(tables.Row) error, sql string, args ...any) error {
	return c.query(func(cur *cursor) error { return row(cur) }, numbered(sql), args...)
}

func (t *tx) Exec(sql string, args ...any) (int64, error) {
	return t.exec(numbered(sql), args...)
}

// Hold and Share have nothing to do: only one transaction writes.
func (t *tx) Hold(string, ...any) error  { return nil }
func (t *tx) Share(string, ...any) error { return nil }

// Alone has nothing to wait for either.
func (t *tx) Alone(string) error {
	t.store.policies = nil
	return nil
}

func (t *tx) Now() time.Time { return t.now }

func (t *tx) Record(r audit.Record, f verbs.Facts, s verbs.Secrets) error { return t.record(r, f, s) }

func (t *tx) Action(tenant, id string) (action.Action, error) {
	return t.store.loadWhere(t.conn, "WHERE a.tenant = ? AND a.id = ?", tenant, id)
}

func (t *tx) Person(id string) (action.Person, error) { return person(t.conn, id, t.now) }

func (t *tx) Inviters(id string) ([]action.Person, error) { return inviters(t.conn, id) }

func (t *tx) PolicyVersion(tenant, tool string) (string, error) { return t.policyVersion(tenant, tool) }

func (t *tx) Row(id string) (action.Action, error) { return t.store.load(t.conn, id) }

func (t *tx) Carry(row action.Action, m verbs.Move) (action.Action, error) { return t.carry(row, m) }

func (c *cursor) Text() string         { return c.text() }
func (c *cursor) Int() int64           { return c.int() }
func (c *cursor) Bool() bool           { return c.bool() }
func (c *cursor) Blob() []byte         { return c.blob() }
func (c *cursor) Time() time.Time      { return c.time() }
func (c *cursor) Digest() canon.Digest { return c.digest() }
