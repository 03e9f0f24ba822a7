package sqlite

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// LogReader reads the log and the rows of a store beside whoever owns it, or
// of a backup. One goroutine uses it.
type LogReader struct {
	store *Store // unopened; it knows how rows are sealed
	conn  *conn
}

var _ audit.Log = (*LogReader)(nil)

// OpenLog opens the log of the store at path to read it. It fails with
// ErrNoStore, or ErrMigration where the schema is not this program's.
func OpenLog(path string, opt Options) (*LogReader, error) {
	s, c, err := peek(path, opt)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &LogReader{store: s, conn: c}
	all, err := migrations()
	if err == nil {
		var made []canon.Digest
		if made, err = madeMigrations(c); err == nil && len(made) != len(all) {
			err = fmt.Errorf("%w: version %d, this program knows %d", unknown(len(made), len(all)), len(made), len(all))
		}
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("open log: %w", err)
	}
	return l, nil
}

// Close lets go of the file.
func (l *LogReader) Close() error { return l.conn.close() }

// Origin is the name of the log; "" if it has none yet.
func (l *LogReader) Origin(context.Context) (origin string, err error) {
	_, err = l.conn.one(func(cur *cursor) error { origin = cur.text(); return nil }, selectOrigin)
	return origin, err
}

// LatestCheckpoint is the newest signed checkpoint of this log.
func (l *LogReader) LatestCheckpoint(context.Context) ([]byte, error) {
	return l.conn.latestCheckpoint()
}

// Head is the tree as it is stored.
func (l *LogReader) Head(context.Context) (audit.Head, error) { return l.conn.head() }

// Hashes reads stored hashes of the tree.
func (l *LogReader) Hashes(_ context.Context, positions []int64) ([]canon.Digest, error) {
	return l.conn.hashes(positions)
}

// Actions lists rows, newest first.
func (l *LogReader) Actions(ctx context.Context, f action.Filter) ([]action.Action, error) {
	defer l.conn.interrupt(ctx)()
	return l.store.filtered(l.conn, f)
}

// Records lists records, newest first.
func (l *LogReader) Records(ctx context.Context, f audit.Filter) ([]audit.Record, error) {
	defer l.conn.interrupt(ctx)()
	return l.conn.records(f)
}

// Entries reads records, oldest first.
func (l *LogReader) Entries(_ context.Context, s audit.Selection) ([]audit.Entry, error) {
	return l.conn.entries(s)
}
