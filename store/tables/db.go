package tables

import (
	"context"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// DB is a store as far as this package needs it.
type DB interface {
	// Read runs fn beside whatever else is going on, perhaps more than once.
	Read(ctx context.Context, fn func(Reader) error) error
	// Write runs fn in a transaction, perhaps more than once, and commits
	// unless it fails. Where wait is false the disk is not awaited.
	Write(ctx context.Context, wait bool, fn func(Tx) error) error
	// Change is Write, awaited, for what moves one action. The row comes beside
	// a refusal, never beside a failure.
	Change(ctx context.Context, fn func(Rows) (action.Action, error)) (action.Action, error)
	// Now is the time as the store sees it.
	Now(ctx context.Context) (time.Time, error)
}

// Reader asks the database.
type Reader interface {
	// Query calls row for each row of the answer.
	Query(row func(Row) error, sql string, args ...any) error
}

// Tx is an open transaction.
type Tx interface {
	Reader
	// Exec runs a statement and says how many rows it changed.
	Exec(sql string, args ...any) (int64, error)
	// Hold keeps the rows of a SELECT as they are, for whatever is asked from
	// then to the end of the transaction. Its error may come with the next
	// statement. Where only one transaction writes there is nothing to do.
	Hold(sql string, args ...any) error
	// Share is Hold for rows that others may share, but not change.
	Share(sql string, args ...any) error
	// Alone waits for whoever looks at a table under a lock or changes it, and keeps them away to
	// the end of the transaction. What is remembered of the table is void.
	Alone(table string) error
	// Now is one time for the whole transaction.
	Now() time.Time
	// Record writes one entry of the audit log. If it cannot be written the
	// transaction fails, at the latest when it commits.
	Record(r audit.Record, f verbs.Facts, s verbs.Secrets) error

	// Action is a row of a tenant, or action.ErrNotFound.
	Action(tenant, id string) (action.Action, error)
	// Person is an account as far as votes care, shared, or
	// action.ErrIneligible where there is none.
	Person(id string) (action.Person, error)
	// Inviters are the accounts by whose invitation one was made.
	Inviters(id string) ([]action.Person, error)
	// PolicyVersion is the version of the rules for a tool that is in force;
	// "" where no policy was ever set.
	PolicyVersion(tenant, tool string) (string, error)
}

// Rows is an open transaction that moves an action.
type Rows interface {
	Tx
	// Row is an action by its id, held, or action.ErrNotFound.
	Row(id string) (action.Action, error)
	// Carry moves a row and writes the record of it.
	Carry(row action.Action, m verbs.Move) (action.Action, error)
	// Tally counts the votes on a row with the accounts as they are now.
	Tally(row action.Action) (approval.Standing, error)
	// KeepVote writes a vote on a row.
	KeepVote(row action.Action, v action.Vote) error
	// KeepCover writes that a standing grant covers a row, for an amount.
	KeepCover(row action.Action, grant string, amount int64) error
}

// Row gives the columns of one row from left to right. NULL is the zero value.
type Row interface {
	Text() string
	Int() int64
	Bool() bool
	Blob() []byte
	Time() time.Time
	Digest() canon.Digest
}

// What Write does about the disk.
const (
	synced  = true
	written = false
)

// number asks for one integer.
func number(c Reader, sql string, args ...any) (n int64, err error) {
	found := false
	err = c.Query(func(cur Row) error { n, found = cur.Int(), true; return nil }, sql, args...)
	if err == nil && !found {
		err = errors.New("the database gave no number")
	}
	return n, err
}

// first is the first row found, or the error that there is none.
func first[T any](found []T, err, none error) (T, error) {
	var zero T
	switch {
	case err != nil:
		return zero, err
	case len(found) == 0:
		return zero, none
	}
	return found[0], nil
}

// one reads a single row outside of a transaction.
func one[T any](ctx context.Context, db DB, none error, ask func(Reader) ([]T, error)) (T, error) {
	found, err := many(ctx, db, ask)
	return first(found, err, none)
}

// many reads rows outside of a transaction.
func many[T any](ctx context.Context, db DB, ask func(Reader) ([]T, error)) (out []T, err error) {
	err = db.Read(ctx, func(c Reader) error {
		out, err = ask(c)
		return err
	})
	return out, err
}
