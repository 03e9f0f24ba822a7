package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ncruces/go-sqlite3"
)

// ErrNoStore is returned where there is no store to read.
var ErrNoStore = errors.New("there is no store there")

// backupStep is how many pages are copied between two looks at the context.
const backupStep = 2048

// Backup writes a copy of the store at path to a new file, as it is at one
// moment, while another process may go on writing. The copy is checked, synced
// and complete before its name appears. It fails with ErrNoStore, with
// fs.ErrExist where the file exists, or with ErrFaults; then nothing is left.
// A store of an earlier version is copied all the same, so that there is a way
// back from its migration: its rows are not checked, as the report says. Keys
// are not in it: without them the copy cannot be read.
func Backup(ctx context.Context, path, to string, opt Options) (r Report, err error) {
	s, c, err := peek(path, opt)
	if err != nil {
		return Report{}, fmt.Errorf("back up store: %w", err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if to, err = filepath.Abs(to); err != nil {
		return Report{}, fmt.Errorf("back up store: %w", err)
	}
	if _, err := os.Lstat(to); err == nil {
		return Report{}, fmt.Errorf("back up store: %s: %w", to, fs.ErrExist)
	}
	draft := to + ".partial"
	if err = s.copyTo(ctx, c, draft); err == nil {
		r, err = Check(ctx, draft, opt)
	}
	if errors.Is(err, ErrEarlier) {
		err = nil
	}
	if err == nil {
		err = errors.Join(os.Link(draft, to), syncDir(filepath.Dir(to))) // never over a file that is there
	}
	if err = errors.Join(err, removeIfThere(draft)); err != nil {
		return r, fmt.Errorf("back up store: %w", err)
	}
	return r, nil
}

// peek opens a store to read it, beside whoever owns it. The caller closes
// the connection.
func peek(path string, opt Options) (*Store, *conn, error) {
	if opt.Sealer == nil {
		return nil, nil, ErrNoSealer
	}
	real, err := realPath(path)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(real); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w (%s)", ErrNoStore, path)
	}
	s := &Store{opt: opt, path: real}
	c, err := s.reader()
	return s, c, err
}

// copyTo copies the database page by page. The open transaction keeps the
// copy at one moment, however long it takes.
func (s *Store) copyTo(ctx context.Context, c *conn, to string) error {
	if err := errors.Join(removeIfThere(to), private(to)); err != nil {
		return err
	}
	if err := c.db.Exec("BEGIN; SELECT count(*) FROM schema_version"); err != nil {
		return err
	}
	err := copyPages(ctx, c.db, to)
	if err = errors.Join(err, c.db.Exec("COMMIT")); err != nil {
		return err
	}
	return single(to)
}

func copyPages(ctx context.Context, db *sqlite3.Conn, to string) (err error) {
	b, err := db.BackupInit("main", fileURI(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err = b.Step(backupStep); err != nil {
			return err
		}
	}
	return nil
}

// single makes a database one file that needs no other, and syncs it.
func single(path string) error {
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	err = db.Exec("PRAGMA journal_mode = DELETE")
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return syncFile(path)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
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

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
