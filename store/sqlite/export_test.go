package sqlite

import (
	"context"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/seed-de4804fb/verbatim/action"
)

// VersionTable lets tests make stores of earlier versions.
const VersionTable = versionTable

// Statements are the texts of all statements that the connections at rest
// have prepared.
func (s *Store) Statements() (out []string) {
	add := func(c *conn) {
		if c == nil {
			return
		}
		for sql := range c.stmts {
			out = append(out, sql)
		}
	}
	_ = s.write(context.Background(), syncNormal, func(t *tx) error { add(t.conn); return nil })
	for range cap(s.readers) {
		c := <-s.readers
		add(c)
		s.readers <- c
	}
	return out
}

// Gathered is a WAL above a file, and the switch that says whether its writes
// are held back.
func Gathered(f vfs.File) (_ vfs.File, hold *bool) {
	g := &gathering{}
	return &gathered{File: f, system: g}, &g.hold
}

// Steps are the steps of SQLite's machine that a listing takes (sqlite.org/c3ref/c_stmtstatus_counter.html).
func (s *Store) Steps(f action.Filter) (rows, steps int, err error) {
	err = s.read(context.Background(), func(c *conn) error {
		count := func() (n int) {
			for _, stmt := range c.stmts {
				n += stmt.Status(sqlite3.STMTSTATUS_VM_STEP, true)
			}
			return n
		}
		count()
		found, err := s.filtered(c, f)
		rows, steps = len(found), count()
		return err
	})
	return rows, steps, err
}

// ListEvery has the lists of records written after so many.
func (o Options) ListEvery(n int) Options {
	o.step = n
	return o
}

// Enlist brings the lists of records up to date.
func (s *Store) Enlist() error {
	return s.write(context.Background(), syncFull, (*tx).enlist)
}
