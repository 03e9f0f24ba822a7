package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// maxBatch is how many verbs share one commit at most.
const maxBatch = 128

// The levels of PRAGMA synchronous that are used (sqlite.org/pragma.html).
const (
	syncNormal = 1 // written, its sync not awaited
	syncFull   = 2 // on the disk before the answer
)

// clockSQL is the database's clock in nanoseconds; it counts milliseconds.
const clockSQL = "CAST(round(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000000"

// job is one verb on its way through the writing goroutine.
type job struct {
	ctx     context.Context
	level   int
	run     func(*tx) error
	outcome error
	done    chan struct{}
}

// tx is the open transaction as a verb sees it.
type tx struct {
	*conn
	store *Store
	now   time.Time // one time for the whole transaction
}

// write runs fn in a transaction of the writing goroutine and returns when it
// is committed or undone. Once started it is not interrupted: its outcome is
// always known.
func (s *Store) write(ctx context.Context, level int, fn func(*tx) error) error {
	j := &job{ctx: ctx, level: level, run: fn, done: make(chan struct{})}
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return ErrClosed
	}
	s.jobs <- j
	s.closing.RUnlock()
	<-j.done
	if j.outcome != nil && !verbs.Refusal(j.outcome) {
		return fmt.Errorf("write store: %w", j.outcome)
	}
	return j.outcome
}

// change is write for the verbs that move one action. The row comes beside a
// refusal, never beside a failure.
func (s *Store) change(ctx context.Context, level int, fn func(*tx) (action.Action, error)) (action.Action, error) {
	var out action.Action
	err := s.write(ctx, level, func(t *tx) error {
		var err error
		out, err = fn(t)
		return err
	})
	if err != nil && !verbs.Refusal(err) {
		return action.Action{}, err
	}
	return out, err
}

func (s *Store) writeLoop() {
	defer close(s.done)
	for first := range s.jobs {
		batch := s.drain([]*job{first})
		if err := s.commit(batch); err != nil {
			s.commitEach(batch, err)
		}
		for _, j := range batch {
			close(j.done)
		}
	}
}

// drain takes what else has queued up meanwhile.
func (s *Store) drain(batch []*job) []*job {
	for len(batch) < maxBatch {
		select {
		case j, ok := <-s.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// commitEach runs the verbs of a failed batch one by one, so that one that is
// too large does not take the others down with it.
func (s *Store) commitEach(batch []*job, failed error) {
	if len(batch) == 1 {
		batch[0].outcome = failed
		return
	}
	for _, j := range batch {
		j.outcome = nil
		if err := s.commit([]*job{j}); err != nil {
			j.outcome = err
		}
	}
}

// commit runs a batch in one transaction. An error means that nothing of it
// was kept; the outcomes are then void.
func (s *Store) commit(batch []*job) error {
	level := syncNormal
	for _, j := range batch {
		level = max(level, j.level)
	}
	if err := s.setSync(level); err != nil {
		return err
	}
	if _, err := s.writer.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := s.runAll(batch)
	if err == nil && len(batch) == 1 && batch[0].outcome != nil {
		_, err = s.writer.exec("ROLLBACK") // refused: nothing to keep, nothing to sync
		return err
	}
	if err == nil {
		_, err = s.writer.exec("COMMIT")
	}
	if err != nil && !s.writer.db.GetAutocommit() {
		_, undo := s.writer.exec("ROLLBACK")
		err = errors.Join(err, undo)
	}
	return err
}

// setSync chooses whether the commit waits for the disk. A later commit that
// waits also covers those before it: they are earlier in the same WAL.
func (s *Store) setSync(level int) error {
	if level == s.level {
		return nil
	}
	sql := "PRAGMA synchronous = NORMAL"
	if level == syncFull {
		sql = "PRAGMA synchronous = FULL"
	}
	s.level = 0 // unknown until asked
	if err := s.writer.db.Exec(sql); err != nil {
		return err
	}
	got, err := s.writer.pragma("synchronous")
	if err != nil {
		return err
	}
	if got != strconv.Itoa(level) {
		return ErrDurability
	}
	s.level = level
	return nil
}

func (s *Store) runAll(batch []*job) error {
	now, err := s.clock()
	if err != nil {
		return err
	}
	t := &tx{conn: s.writer, store: s, now: now}
	for _, j := range batch {
		if j.outcome = j.ctx.Err(); j.outcome != nil {
			continue
		}
		run := t.savepoint
		if len(batch) == 1 {
			run = t.alone
		}
		if err := run(j); err != nil {
			return err
		}
	}
	return nil
}

// errUndone is returned where SQLite has given the transaction up.
var errUndone = errors.New("the database undid the transaction")

// alone runs one verb that has the transaction for itself.
func (t *tx) alone(j *job) error {
	j.outcome = j.run(t)
	if t.db.GetAutocommit() {
		return errors.Join(errUndone, j.outcome)
	}
	return nil
}

// savepoint runs one verb so that its failure undoes that verb only. The
// error returned is one that ends the whole transaction.
func (t *tx) savepoint(j *job) error {
	if _, err := t.exec("SAVEPOINT verb"); err != nil {
		return err
	}
	j.outcome = j.run(t)
	if t.db.GetAutocommit() {
		return errors.Join(errUndone, j.outcome)
	}
	if j.outcome != nil {
		if _, err := t.exec("ROLLBACK TO verb"); err != nil {
			return errors.Join(j.outcome, err)
		}
	}
	_, err := t.exec("RELEASE verb")
	return err
}

// clock reads the time once for a transaction and raises the floor under it,
// so that a clock that steps back cannot revive what has expired.
func (s *Store) clock() (time.Time, error) {
	floor, err := s.writer.number("SELECT at FROM time_floor")
	if err != nil {
		return time.Time{}, err
	}
	now, err := s.rawClock(s.writer)
	if err != nil {
		return time.Time{}, err
	}
	if now <= floor {
		return time.Unix(0, floor).UTC(), nil
	}
	if _, err := s.writer.exec("UPDATE time_floor SET at = ?", now); err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, now).UTC(), nil
}

func (s *Store) rawClock(c *conn) (int64, error) {
	if s.opt.Now != nil {
		return s.opt.Now().UnixNano(), nil
	}
	return c.number("SELECT " + clockSQL)
}
