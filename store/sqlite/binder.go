package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// binder binds the parameters of a statement from left to right, as exec does,
// but without a box for each: those of a new row are many.
type binder struct {
	conn *conn
	stmt *stmt
	next int
	err  error // the first one
}

// binding begins with a statement that has so many parameters.
func (c *conn) binding(sql string, parameters int) (binder, error) {
	s, err := c.statement(sql, parameters)
	return binder{conn: c, stmt: s}, err
}

// took goes on to the next parameter.
func (b *binder) took(err error) {
	b.next++
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("bind parameter %d: %w", b.next, err)
	}
}

// place is the next parameter as SQLite counts them. What was bound there is
// no text that is known.
func (b *binder) place() int {
	b.stmt.known[b.next] = false
	return b.next + 1
}

func (b *binder) text(v string)         { b.took(b.stmt.bindText(b.next, v)) }
func (b *binder) int(v int64)           { b.took(b.stmt.BindInt64(b.place(), v)) }
func (b *binder) bool(v bool)           { b.took(b.stmt.BindBool(b.place(), v)) }
func (b *binder) blob(v []byte)         { b.took(b.stmt.BindBlob(b.place(), v)) }
func (b *binder) time(v time.Time)      { b.took(bindTime(b.stmt.Stmt, b.place(), v)) }
func (b *binder) digest(v canon.Digest) { b.took(bindDigest(b.stmt.Stmt, b.place(), v)) }

// exec runs the statement once every parameter is bound.
func (b *binder) exec() error {
	if b.err == nil && b.next != len(b.stmt.known) {
		b.err = errors.New("a parameter of the statement is not bound")
	}
	if b.err != nil {
		return b.err
	}
	return b.stmt.Exec()
}
