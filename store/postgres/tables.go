package postgres

import (
	"context"
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
const arrival = "seq"

// database is this store as package tables sees it.
type database struct{ *Store }

func (d database) Read(ctx context.Context, fn func(tables.Reader) error) error {
	return d.read(ctx, func(c *conn) error { return fn(c) })
}

func (d database) Write(ctx context.Context, wait bool, fn func(tables.Tx) error) error {
	return d.write(ctx, wait, func(t *tx) error { return fn(t) })
}

func (d database) Change(ctx context.Context, fn func(tables.Rows) (action.Action, error)) (action.Action, error) {
	return d.change(ctx, syncFull, func(t *tx) (action.Action, error) { return fn(t) })
}

func (c *conn) Query(row func(tables.Row) error, sql string, args ...any) error {
	return c.query(func(cur *cursor) error { return row(cur) }, sql, args...)
}

func (t *tx) Exec(sql string, args ...any) (int64, error) { return t.exec(sql, args...) }

// Hold and Share travel with the next statement, which sees what they have
// waited for.
func (t *tx) Hold(sql string, args ...any) error {
	t.last(do(sql+" FOR UPDATE", args...))
	return nil
}

func (t *tx) Share(sql string, args ...any) error {
	t.last(do(sql+lockVoters, args...))
	return nil
}

func (t *tx) Alone(table string) error {
	_, err := t.exec("LOCK TABLE " + table + " IN EXCLUSIVE MODE")
	return err
}

func (t *tx) Now() time.Time { return t.now() }

func (t *tx) Record(r audit.Record, f verbs.Facts, s verbs.Secrets) error { return t.record(r, f, s) }

func (t *tx) Action(tenant, id string) (action.Action, error) {
	return t.store.loadWhere(t.conn, "WHERE a.tenant = $1 AND a.id = $2", tenant, id)
}

func (t *tx) Person(id string) (action.Person, error) { return person(t.conn, id, t.now(), lockVoters) }

func (t *tx) Inviters(id string) ([]action.Person, error) { return inviters(t.conn, id) }

func (t *tx) PolicyVersion(tenant, tool string) (version string, err error) {
	err = t.run(versionStep(tenant, tool, &version))
	return version, err
}

func (t *tx) Row(id string) (action.Action, error) { return t.lock(id) }

func (t *tx) Carry(row action.Action, m verbs.Move) (action.Action, error) { return t.carry(row, m) }

func (c *cursor) Text() string         { return c.text() }
func (c *cursor) Int() int64           { return c.int() }
func (c *cursor) Bool() bool           { return c.bool() }
func (c *cursor) Blob() []byte         { return c.blob() }
func (c *cursor) Time() time.Time      { return c.time() }
func (c *cursor) Digest() canon.Digest { return c.digest() }
