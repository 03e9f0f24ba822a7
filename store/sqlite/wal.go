package sqlite

import (
	"errors"
	"time"

	sqlite3 "github.com/ncruces/go-sqlite3"
)

// SQLite writes its WAL from the start again only at a moment when nobody
// reads from it. Between readers that follow each other without a gap such a
// moment never comes by itself, and the WAL grows without end
// (sqlite.org/wal.html §6). So the writer makes one.
const (
	walStep = 2000 // pages between two checkpoints that wait for nobody
	walMost = 3000 // pages from which on it waits until readers have gone

	// How long writers wait for readers at most: where the WAL has been copied
	// and little is left to do, and where it has grown.
	walHaste    = 2 * time.Millisecond
	walPatience = 100 * time.Millisecond

	// walFile is the size to which the file is cut, in bytes, once it is written from the start.
	walFile = "12582912"
)

// wal is what the writing connection knows of its WAL. Only who holds that
// connection uses it.
type wal struct {
	pages int // in the WAL after the last commit
	next  int // pages at which it is looked at again
}

// watchWAL counts pages instead of SQLite's own checkpoints at each commit.
func (s *Store) watchWAL() error {
	s.wal.next = walStep
	s.writer.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		s.wal.pages = pages
		return nil
	})
	return s.writer.db.Exec("PRAGMA journal_size_limit = " + walFile)
}

// due reports whether enough has come together for a checkpoint.
func (w *wal) due() bool {
	if w.pages < walStep {
		w.next = walStep
	}
	return w.pages >= w.next
}

// due reports whether the writing goroutine has something to do for the WAL.
func (s *Store) due() bool { return s.copier.copied.Load() || s.wal.due() }

// checkpoint moves the WAL into the file when that is due: beside the commits
// at first, and what has been written since by the writer itself, when the
// callers of a batch have been answered, so that the WAL is written from the
// start. A failure loses nothing: what is committed is in the WAL, and the
// next commit tells of a sick disk.
func (s *Store) checkpoint() {
	copied := s.copier.copied.Swap(false)
	if !copied && !s.wal.due() {
		return
	}
	s.dropView()
	switch {
	case s.wal.pages >= walMost:
		s.restart(walPatience)
		s.wal.next = s.wal.pages + walStep
	case copied:
		s.restart(walHaste)
		s.wal.next = walMost
	default:
		s.copier.tell()
		s.wal.next = walMost
	}
}

// restart has the WAL written from the start.
func (s *Store) restart(patience time.Duration) {
	db := s.writer.db
	err := db.BusyTimeout(patience)
	if err == nil {
		_, _, err = db.WALCheckpoint("main", sqlite3.CHECKPOINT_RESTART)
	}
	if errors.Join(err, db.BusyTimeout(busyTimeout)) == nil {
		s.wal.pages = 0
	}
}
