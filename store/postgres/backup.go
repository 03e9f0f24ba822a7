package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Backup checks the store behind a connection string and writes a copy of it,
// as it is at one moment, to a new file, while gateways go on. The copy is
// complete and synced before its name appears. It fails with ErrNoStore, with
// fs.ErrExist where the file exists, or as Check does; then nothing is left.
// A store of an earlier version is copied all the same, so that there is a way
// back from its migration: its rows are not checked, as the report says. Keys
// are not in it: without them the copy cannot be read.
func Backup(ctx context.Context, to string, opt Options) (r Report, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return Report{}, fmt.Errorf("back up store: %w", err)
	}
	if _, err := os.Lstat(to); err == nil {
		return Report{}, fmt.Errorf("back up store: %s: %w", to, fs.ErrExist)
	}
	draft := to + ".partial"
	err = examined(ctx, opt, func(_ *examination, c *conn) error { return copyOut(c, draft) }, &r)
	if errors.Is(err, verbs.ErrEarlier) {
		err = nil
	}
	if err == nil {
		err = errors.Join(os.Link(draft, to), syncDir(filepath.Dir(to))) // never over a file that is there
	}
	if gone := os.Remove(draft); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if err == nil {
		r.Bytes, err = sizeOf(to)
	}
	if err != nil {
		return r, fmt.Errorf("back up store: %w", err)
	}
	return r, nil
}

// copyOut writes everything of one moment to a file.
func copyOut(c *conn, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	w, err := newFrameWriter(f)
	if err != nil {
		return err
	}
	for _, part := range []func(*conn, *frameWriter) error{copyVersions, copyTables, copySequences} {
		if err := part(c, w); err != nil {
			return err
		}
	}
	return errors.Join(w.end(), f.Sync())
}

func copyVersions(c *conn, w *frameWriter) error {
	made, err := madeMigrations(c)
	for i := range made {
		if err == nil {
			err = w.put(frameMigration, made[i][:])
		}
	}
	return err
}

func copyTables(c *conn, w *frameWriter) error {
	all, err := listTables(c)
	if err != nil {
		return err
	}
	for _, t := range all {
		if err := w.names(frameTable, append([]string{t.name}, t.columns...)...); err != nil {
			return err
		}
		if _, err := c.db.PgConn().CopyTo(c.ctx, w, "COPY "+t.sql()+" TO STDOUT (FORMAT binary)"); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	return nil
}

// sql names a table with its columns.
func (t table) sql() string {
	columns := make([]string, len(t.columns))
	for i, c := range t.columns {
		columns[i] = pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.name}.Sanitize() + " (" + strings.Join(columns, ", ") + ")"
}

// copySequences comes last: sequences are of no moment, and only grow.
func copySequences(c *conn, w *frameWriter) error {
	return c.query(func(cur *cursor) error {
		name, last := cur.text(), cur.int()
		return w.names(frameSequence, name, fmt.Sprint(last))
	}, `SELECT sequencename::text, last_value FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL
		ORDER BY sequencename`)
}

// load reads a backup into the current schema, which is empty, inside the
// open transaction. It has read all of it once before, so nothing of a
// damaged one is used.
func load(c *conn, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	made, err := whole(f)
	if err != nil {
		return err
	}
	steps, err := knownSteps(made)
	if err != nil {
		return err
	}
	if err := build(c, steps); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	b, err := newFrameReader(f)
	if err != nil {
		return err
	}
	for range made {
		if _, _, err := b.take(frameMigration); err != nil {
			return err
		}
	}
	if err := fillTables(c, b); err != nil {
		return err
	}
	return setSequences(c, b)
}

func knownSteps(made [][]byte) ([]migration, error) {
	digests := make([]canon.Digest, len(made))
	for i, d := range made {
		if len(d) != len(canon.Digest{}) {
			return nil, fmt.Errorf("%w: a migration of it has no digest", ErrNoBackup)
		}
		digests[i] = canon.Digest(d)
	}
	all, err := known(digests)
	if err == nil && len(made) == 0 {
		err = fmt.Errorf("%w: it names no tables", ErrNoBackup)
	}
	if err != nil {
		return nil, err
	}
	return all[:len(made)], nil
}

// fillTables fills the tables, without the triggers that watch over changes
// but with all keys and checks.
func fillTables(c *conn, b *frameReader) error {
	all, err := listTables(c)
	if err != nil {
		return err
	}
	for _, t := range all {
		if err := watched(c, t, false); err != nil {
			return err
		}
		if _, err := c.db.Exec(c.ctx, "DELETE FROM "+pgx.Identifier{t.name}.Sanitize()); err != nil { // what the migrations put there
			return err
		}
	}
	for _, t := range all {
		if err := fillTable(c, t, b); err != nil {
			return err
		}
	}
	if _, err := c.db.Exec(c.ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	for _, t := range all {
		if err := watched(c, t, true); err != nil {
			return err
		}
	}
	return nil
}

func fillTable(c *conn, t table, b *frameReader) error {
	f, there, err := b.take(frameTable)
	if err != nil {
		return err
	}
	if want := append([]string{t.name}, t.columns...); !there || strings.Join(f.names(), " ") != strings.Join(want, " ") {
		return fmt.Errorf("%w: its tables are not those of its version", ErrNoBackup)
	}
	if _, err := c.db.PgConn().CopyFrom(c.ctx, &rows{from: b}, "COPY "+t.sql()+" FROM STDIN (FORMAT binary)"); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoBackup, t.name, err)
	}
	return nil
}

func watched(c *conn, t table, on bool) error {
	word := "DISABLE"
	if on {
		word = "ENABLE"
	}
	_, err := c.db.Exec(c.ctx, "ALTER TABLE "+pgx.Identifier{t.name}.Sanitize()+" "+word+" TRIGGER USER")
	return err
}

// setSequences lets every number go on behind those that were given.
func setSequences(c *conn, b *frameReader) error {
	for {
		f, more, err := b.take(frameSequence)
		if err != nil || !more {
			return err
		}
		words := f.names()
		if len(words) != 2 {
			return fmt.Errorf("%w: a sequence of it has no number", ErrNoBackup)
		}
		if _, err := c.exec("SELECT setval(s.oid::regclass, $2::text::bigint) FROM pg_class s WHERE s.relname = $1 AND s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace",
			words[0], words[1]); err != nil {
			return fmt.Errorf("%w: sequence %s: %w", ErrNoBackup, words[0], err)
		}
	}
}

// syncDir makes new names durable. Windows has no such call; its file system
// journals names.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
