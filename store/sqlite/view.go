package sqlite

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// view keeps what the writing connection sees of the database from one
// transaction to the next. A WAL connection marks what it reads when it
// begins a transaction, and takes the mark away at the end: four locks of the
// operating system's, two thirds of all that a transaction takes. The view is
// a statement that has found its row and is not asked for more.
//
// It is good while nobody else has written. SQLite compares it with what is
// there once it has the lock of the one who writes, and refuses otherwise
// (sqlite.org/rescode.html#busy_snapshot); it is dropped then, and the
// transaction begins like any other. While it is kept nobody copies what came
// after it out of the WAL, nor writes that from the start: it is dropped
// wherever this is to be done.
type view struct {
	kept   *sqlite3.Stmt // belongs to whoever writes; nil where nothing is kept
	barred atomic.Int32  // how many want that nothing is kept
}

// viewSQL reads a table that nobody writes any more.
const viewSQL = "SELECT 1 FROM seal_check"

// What is late after it has waited for somebody else who writes would go by a
// time that is over: it begins again, a few times at most.
const (
	maxWait  = 250 * time.Millisecond
	maxWaits = 5
)

// errWaited is returned for a transaction that has waited too long to go by the
// time that it was to have.
var errWaited = errors.New("somebody else writes to the database all the time")

// start begins a transaction of the writing connection, and notes where that
// took long.
func (s *Store) start() error {
	const begin = "BEGIN IMMEDIATE"
	asked := time.Now()
	defer func() { s.waited = s.waited || time.Since(asked) > maxWait }()
	_, err := s.writer.exec(begin)
	if err != nil && s.view.kept != nil { // somebody else has written, or does: wait for it and look
		s.dropView()
		_, err = s.writer.exec(begin)
	}
	return err
}

// keepView keeps the view of the open transaction.
func (s *Store) keepView() error {
	if s.view.kept != nil || s.view.barred.Load() > 0 {
		return nil
	}
	look, err := s.writer.prepare(viewSQL, nil)
	if err != nil {
		return err
	}
	if !look.Step() {
		return look.Reset()
	}
	s.view.kept = look
	return nil
}

func (s *Store) dropView() {
	if s.view.kept != nil {
		_ = s.view.kept.Reset() // it says again how the last step ended
		s.view.kept = nil
	}
}

// undoneBy ends a transaction that failed. Pages that a view holds would
// keep SQLite from leaving the state of a failed write.
func (s *Store) undoneBy(err error) error {
	s.dropView()
	if s.writer.db.GetAutocommit() {
		return err
	}
	_, undo := s.writer.exec("ROLLBACK")
	return errors.Join(err, undo)
}
