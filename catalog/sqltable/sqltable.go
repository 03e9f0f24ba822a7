// Package sqltable reads the rows of a resolver's table from a SQLite
// database.
//
// It takes the path of a database and one query that answers alias, id and, if
// rows expire, expires, and gives a resolve.Source. It fails where the
// database cannot be read, the query does more than read, or a row is none.
// It promises to open the database read-only, anew for each question, and to
// read within one statement, so that all rows are of one moment. It must
// never take a query, or a part of one, from arguments.
package sqltable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/resolve"
)

// MaxRows is the largest table.
const MaxRows = 200_000

// Timeout bounds one question.
const Timeout = 10 * time.Second

var (
	errQuery  = errors.New("a table's query is one SELECT of alias, id and, if rows expire, expires")
	errColumn = errors.New("alias and id are text or integers, expires is an RFC 3339 time or null")
	errRows   = fmt.Errorf("a table has up to %d rows and %d bytes", MaxRows, resolve.MaxTableBytes)
)

// Source is a table in a database. It is safe for concurrent use.
type Source struct{ path, query string }

var _ resolve.Source = (*Source)(nil)

// Open checks that the database can be read and that the query answers rows.
func Open(ctx context.Context, path, query string) (*Source, error) {
	s := &Source{path, query}
	if _, _, err := s.Rows(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Rows asks the query. The version is left to the digest of the rows: a
// database tells no version of what a query answers.
func (s *Source) Rows(ctx context.Context) (rows []resolve.Row, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	db, err := sqlite3.OpenFlags(s.path, sqlite3.OPEN_READONLY|sqlite3.OPEN_NOFOLLOW)
	if err != nil {
		return nil, "", fmt.Errorf("open the table's database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetInterrupt(ctx)
	stmt, tail, err := db.Prepare(s.query)
	if err != nil {
		return nil, "", fmt.Errorf("prepare the table's query: %w", err)
	}
	if stmt == nil {
		return nil, "", errQuery
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if n := stmt.ColumnCount(); !stmt.ReadOnly() || n < 2 || n > 3 || strings.TrimSpace(tail) != "" || stmt.BindCount() > 0 {
		return nil, "", errQuery
	}
	rows, err = read(stmt)
	return rows, "", err
}

func read(stmt *sqlite3.Stmt) ([]resolve.Row, error) {
	var rows []resolve.Row
	size := 0
	for stmt.Step() {
		row, err := rowOf(stmt)
		if err != nil {
			return nil, err
		}
		if size += len(row.Alias) + len(row.ID); len(rows) == MaxRows || size > resolve.MaxTableBytes {
			return nil, errRows
		}
		rows = append(rows, row)
	}
	if err := stmt.Err(); err != nil {
		return nil, fmt.Errorf("ask for the table's rows: %w", err)
	}
	return rows, nil
}

func rowOf(stmt *sqlite3.Stmt) (resolve.Row, error) {
	for i := range 2 { // a float has no one spelling, null names nothing
		if k := stmt.ColumnType(i); k != sqlite3.TEXT && k != sqlite3.INTEGER {
			return resolve.Row{}, errColumn
		}
	}
	row := resolve.Row{Alias: stmt.ColumnText(0), ID: stmt.ColumnText(1)}
	if stmt.ColumnCount() == 2 || stmt.ColumnType(2) == sqlite3.NULL {
		return row, nil
	}
	at, err := time.Parse(time.RFC3339, stmt.ColumnText(2))
	if err != nil || stmt.ColumnType(2) != sqlite3.TEXT {
		return resolve.Row{}, errColumn
	}
	row.Expires = at
	return row, nil
}
