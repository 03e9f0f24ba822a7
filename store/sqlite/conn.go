package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/canon"
)

// conn is one connection with its prepared statements. One goroutine uses it
// at a time.
type conn struct {
	db    *sqlite3.Conn
	stmts map[string]*stmt
}

// stmt is a prepared statement with the texts that were bound to it last: most
// of them are the same from one use to the next, and stay bound
// (sqlite.org/c3ref/reset.html).
type stmt struct {
	*sqlite3.Stmt
	texts []string
	known []bool
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.db.Close())...)
}

// statement prepares a statement with so many parameters, once.
func (c *conn) statement(sql string, parameters int) (*stmt, error) {
	s := c.stmts[sql]
	if s == nil {
		db, _, err := c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
		if err != nil {
			return nil, fmt.Errorf("prepare statement: %w", err)
		}
		s = &stmt{Stmt: db, texts: make([]string, parameters), known: make([]bool, parameters)}
		c.stmts[sql] = s
	}
	return s, nil
}

func (c *conn) prepare(sql string, args []any) (*sqlite3.Stmt, error) {
	s, err := c.statement(sql, len(args))
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		if err := s.bind(i, arg); err != nil {
			return nil, fmt.Errorf("bind parameter %d: %w", i+1, err)
		}
	}
	return s.Stmt, nil
}

// maxBound is the longest text that is remembered as bound, in bytes.
const maxBound = 256

func (s *stmt) bind(i int, arg any) error {
	if text, is := arg.(string); is {
		return s.bindText(i, text)
	}
	s.known[i] = false
	return bind(s.Stmt, i+1, arg)
}

func (s *stmt) bindText(i int, text string) error {
	if s.known[i] && s.texts[i] == text {
		return nil
	}
	s.known[i] = false
	err := s.BindText(i+1, text)
	if err == nil && len(text) <= maxBound {
		s.known[i], s.texts[i] = true, text
	}
	return err
}

// exec runs a statement that returns no rows and says how many it changed.
func (c *conn) exec(sql string, args ...any) (int64, error) {
	s, err := c.prepare(sql, args)
	if err != nil {
		return 0, err
	}
	if err := s.Exec(); err != nil {
		return 0, err
	}
	return c.db.Changes(), nil
}

// query calls row for each row of the answer.
func (c *conn) query(row func(*cursor) error, sql string, args ...any) error {
	s, err := c.prepare(sql, args)
	if err != nil {
		return err
	}
	for s.Step() {
		cur := cursor{stmt: s}
		if err := row(&cur); err != nil {
			return errors.Join(err, s.Reset())
		}
		if cur.err != nil {
			return errors.Join(cur.err, s.Reset())
		}
	}
	err = s.Err()
	return errors.Join(err, s.Reset())
}

// one is query for at most one row; it reports whether there was one.
func (c *conn) one(row func(*cursor) error, sql string, args ...any) (bool, error) {
	found := false
	err := c.query(func(cur *cursor) error {
		found = true
		return row(cur)
	}, sql, args...)
	return found, err
}

// number asks for one integer.
func (c *conn) number(sql string, args ...any) (int64, error) {
	var n int64
	found, err := c.one(func(cur *cursor) error { n = cur.int(); return nil }, sql, args...)
	if err == nil && !found {
		err = errors.New("the database gave no number")
	}
	return n, err
}

// pragma asks for a setting as it is now. A statement kept would answer as it
// was when prepared.
func (c *conn) pragma(name string) (string, error) {
	s, _, err := c.db.Prepare("PRAGMA " + name)
	if err != nil {
		return "", err
	}
	value := ""
	if s.Step() {
		value = s.ColumnText(0)
	}
	return value, errors.Join(s.Err(), s.Close())
}

// interrupt lets ctx stop the statements of this connection until the
// returned function is called.
func (c *conn) interrupt(ctx context.Context) func() {
	old := c.db.SetInterrupt(ctx)
	return func() { c.db.SetInterrupt(old) }
}

func bind(s *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case string:
		return s.BindText(i, v)
	case int64:
		return s.BindInt64(i, v)
	case int:
		return s.BindInt64(i, int64(v))
	case bool:
		return s.BindBool(i, v)
	case []byte:
		return s.BindBlob(i, v)
	case time.Time:
		return bindTime(s, i, v)
	case canon.Digest:
		return bindDigest(s, i, v)
	case nil:
		return s.BindNull(i)
	default:
		return fmt.Errorf("no column holds a %T", arg)
	}
}

// bindTime writes nanoseconds; the zero time is NULL.
func bindTime(s *sqlite3.Stmt, i int, t time.Time) error {
	if t.IsZero() {
		return s.BindNull(i)
	}
	return s.BindInt64(i, t.UnixNano())
}

// bindDigest writes 32 bytes; the zero digest is NULL.
func bindDigest(s *sqlite3.Stmt, i int, d canon.Digest) error {
	if d.IsZero() {
		return s.BindNull(i)
	}
	return s.BindBlob(i, d[:])
}

// cursor reads the columns of one row from left to right.
type cursor struct {
	stmt *sqlite3.Stmt
	next int
	err  error
}

func (c *cursor) col() int { c.next++; return c.next - 1 }

func (c *cursor) text() string { return c.stmt.ColumnText(c.col()) }
func (c *cursor) int() int64   { return c.stmt.ColumnInt64(c.col()) }
func (c *cursor) bool() bool   { return c.stmt.ColumnInt64(c.col()) != 0 }

func (c *cursor) blob() []byte {
	i := c.col()
	if c.stmt.ColumnType(i) == sqlite3.NULL {
		return nil
	}
	return c.stmt.ColumnBlob(i, []byte{})
}

// raw is blob without a copy: it is gone with the row.
func (c *cursor) raw() []byte { return c.stmt.ColumnRawBlob(c.col()) }

func (c *cursor) time() time.Time {
	i := c.col()
	if c.stmt.ColumnType(i) == sqlite3.NULL {
		return time.Time{}
	}
	return time.Unix(0, c.stmt.ColumnInt64(i)).UTC()
}

func (c *cursor) digest() canon.Digest {
	b := c.blob()
	if b == nil {
		return canon.Digest{}
	}
	if len(b) != len(canon.Digest{}) {
		c.err = errors.Join(c.err, fmt.Errorf("column %d: %w", c.next-1, canon.ErrDigest))
		return canon.Digest{}
	}
	return canon.Digest(b)
}
