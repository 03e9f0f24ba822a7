package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-de4804fb/verbatim/canon"
)

// conn is one connection while somebody uses it. One goroutine uses it at a
// time.
type conn struct {
	ctx   context.Context // of the statements
	db    *pgx.Conn
	ahead []step // to be sent before whatever is sent next
}

// step is one statement of several that are sent at once.
type step struct {
	sql  string
	args []any
	row  func(*cursor) error // nil where the statement returns no rows
	n    *int64              // where to put how many rows it changed; may be nil
	tag  *string             // where to put what the server says that it did; may be nil
	fail func(error) error   // what its failure means; may be nil
}

func do(sql string, args ...any) step { return step{sql: sql, args: args} }

func ask(row func(*cursor) error, sql string, args ...any) step {
	return step{sql: sql, args: args, row: row}
}

// run sends statements together and reads their answers in order. Each
// statement sees what those before it did.
func (c *conn) run(steps ...step) error {
	steps, c.ahead = append(c.ahead, steps...), nil
	if len(steps) == 0 {
		return nil
	}
	var batch pgx.Batch
	for _, s := range steps {
		args, err := bind(s.args)
		if err != nil {
			return err
		}
		batch.Queue(s.sql, args...)
	}
	results := c.db.SendBatch(c.ctx, &batch)
	for _, s := range steps {
		rows, err := results.Query()
		if err == nil {
			err = s.read(rows)
		}
		if err != nil {
			if s.fail != nil {
				err = s.fail(err)
			}
			return errors.Join(err, results.Close())
		}
	}
	return results.Close()
}

func (s step) read(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		if s.row == nil {
			continue
		}
		cur := cursor{rows: rows, raw: rows.RawValues()}
		if err := s.row(&cur); err != nil {
			return err
		}
		if cur.err != nil {
			return cur.err
		}
	}
	rows.Close()
	if s.n != nil {
		*s.n = rows.CommandTag().RowsAffected()
	}
	if s.tag != nil {
		*s.tag = rows.CommandTag().String()
	}
	return rows.Err()
}

// exec runs a statement and says how many rows it changed.
func (c *conn) exec(sql string, args ...any) (n int64, err error) {
	err = c.run(step{sql: sql, args: args, n: &n})
	return n, err
}

// query calls row for each row of the answer.
func (c *conn) query(row func(*cursor) error, sql string, args ...any) error {
	return c.run(ask(row, sql, args...))
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

// bind turns what the store knows into what a column holds: times into
// nanoseconds, digests into bytes, and the zero of either into NULL.
func bind(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			out[i] = escape(v)
		case []string:
			texts := make([]string, len(v))
			for j, s := range v {
				texts[j] = escape(s)
			}
			out[i] = texts
		case int64, bool, []byte, []int64, [][]byte, nil:
			out[i] = v
		case int:
			out[i] = int64(v)
		case column:
			b, err := v.pack()
			if err != nil {
				return nil, fmt.Errorf("bind parameter %d: %w", i+1, err)
			}
			out[i] = b
		case time.Time:
			if !v.IsZero() {
				out[i] = v.UnixNano()
			}
		case canon.Digest:
			if !v.IsZero() {
				out[i] = v[:]
			}
		default:
			return nil, fmt.Errorf("bind parameter %d: no column holds a %T", i+1, arg)
		}
	}
	return out, nil
}

// cursor reads the columns of one row from left to right.
type cursor struct {
	rows pgx.Rows
	raw  [][]byte
	next int
	err  error
}

func (c *cursor) col() []byte { c.next++; return c.raw[c.next-1] }

func (c *cursor) fail(what string) {
	c.err = errors.Join(c.err, fmt.Errorf("column %d holds no %s", c.next-1, what))
}

func (c *cursor) text() string {
	s, ok := unescape(string(c.col()))
	if !ok {
		c.fail("text of this program")
	}
	return s
}

// int reads a BIGINT; NULL is 0. The server sends it in binary.
func (c *cursor) int() int64 {
	b := c.col()
	if b == nil {
		return 0
	}
	if len(b) != 8 || c.rows.FieldDescriptions()[c.next-1].Format != pgx.BinaryFormatCode {
		c.fail("BIGINT")
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

func (c *cursor) bool() bool {
	b := c.col()
	if b != nil && (len(b) != 1 || c.rows.FieldDescriptions()[c.next-1].Format != pgx.BinaryFormatCode) {
		c.fail("BOOLEAN")
		return false
	}
	return b != nil && b[0] == 1
}

func (c *cursor) blob() []byte {
	b := c.col()
	if b == nil {
		return nil
	}
	return append([]byte{}, b...) // the row is overwritten by the next
}

func (c *cursor) time() time.Time {
	if c.raw[c.next] == nil {
		c.next++
		return time.Time{}
	}
	return time.Unix(0, c.int()).UTC()
}

func (c *cursor) digest() canon.Digest {
	b := c.col()
	if b == nil {
		return canon.Digest{}
	}
	if len(b) != len(canon.Digest{}) {
		c.fail("digest")
		return canon.Digest{}
	}
	return canon.Digest(b)
}

// code is the SQLSTATE of an error, or "".
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
