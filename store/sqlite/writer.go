package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// The levels of PRAGMA synchronous that are used (sqlite.org/pragma.html).
const (
	syncNormal = 1 // written, its sync not awaited
	syncFull   = 2 // on the disk before the answer
)

// clockSQL is the database's clock in nanoseconds; it counts milliseconds.
const clockSQL = "CAST(round(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000000"

// job is one verb on its way through the writing connection.
type job struct {
	ctx     context.Context
	level   int
	run     func(*tx) error // nil: only to take the journal in
	stops   bool            // it turns the freeze switch
	outcome error
	done    chan struct{}

	opened, ended []flown // rows that it brings, and takes out of flight
	begun         *run    // the row that it begins
}

// tx is the open transaction as a verb sees it.
type tx struct {
	*conn
	store *Store
	now   time.Time // one time for the whole transaction
	first int64     // number of the last record before it
	last  int64     // number of the last record
	pack  *pack     // records that are not in the database yet
	many  bool      // it may have many records
	job   *job      // the verb that runs
	seq   int64     // of the row that was inserted last
}

// write runs fn in a transaction, beside others that wait, and returns when
// it is committed or undone. Once started it is not interrupted: its outcome
// is always known.
func (s *Store) write(ctx context.Context, level int, fn func(*tx) error) error {
	return s.do(&job{ctx: ctx, level: level, run: fn, done: make(chan struct{})})
}

func (s *Store) do(j *job) error {
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return ErrClosed
	}
	first := s.line.join(j)
	s.closing.RUnlock()
	if first {
		s.lead()
	} else {
		<-j.done
	}
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

// lead writes what waits, on the goroutine of the caller that came first. A
// panic ends the process, as it would on the writing goroutine: no server
// that recovers from it may go on with half a transaction.
func (s *Store) lead() {
	defer func() {
		if p := recover(); p != nil {
			text := fmt.Sprintf("%v\n%s", p, debug.Stack())
			go func() { panic(text) }()
			select {}
		}
	}()
	s.writeBatch(s.line.take())
	s.line.leave(s.due())
}

func (s *Store) writeLoop() {
	defer close(s.done)
	for range s.line.told {
		s.checkpoint()
		for batch := s.line.take(); batch != nil; batch = s.line.take() {
			s.writeBatch(batch)
			s.checkpoint()
		}
	}
}

func (s *Store) writeBatch(batch []*job) {
	if err := s.commit(batch); err != nil {
		s.commitEach(batch, err)
	}
	s.landed(batch)
	if s.policies == nil {
		s.policies = map[tool]string{}
	}
	s.relearn()
	if s.view.barred.Load() > 0 {
		s.dropView()
	}
	for _, j := range batch {
		close(j.done)
	}
}

// relearn looks at the freeze switch again after a verb that turns it. What
// cannot be read is not known: then the database is asked each time, until it can be.
func (s *Store) relearn() {
	s.memory.mu.Lock()
	known := s.memory.known
	s.memory.mu.Unlock()
	if !known {
		s.dropView()
		_ = s.learnStops()
	}
}

// commitEach runs the verbs of a failed batch one by one, so that one that is
// too large does not take the others down with it.
func (s *Store) commitEach(batch []*job, failed error) {
	if len(batch) == 1 {
		batch[0].outcome = failed
		return
	}
	s.undo(batch)
	for _, j := range batch {
		j.outcome = nil
		if err := s.commit([]*job{j}); err != nil {
			j.outcome = err
		}
	}
}

// undo takes back what verbs have noted whose transaction was not kept.
func (s *Store) undo(batch []*job) {
	for _, j := range batch {
		j.outcome = errUndone
	}
	s.landed(batch)
}

// commit takes the journal in and runs a batch in one transaction. An error
// means that nothing of the batch was kept; the outcomes are then void.
func (s *Store) commit(batch []*job) error {
	err := errWaited
	for try := 0; try < maxWaits && errors.Is(err, errWaited); try++ {
		err = s.commitNow(batch)
	}
	s.noteHealth(batch, err)
	return err
}

// commitNow is commit at the time as it is. It fails with errWaited where that
// is over before anything has run.
func (s *Store) commitNow(batch []*job) error {
	now, waiting, open := s.cut(batch)
	s.waited = false
	if err := s.fold(now, waiting, open); err != nil {
		return err
	}
	batch = slices.DeleteFunc(slices.Clone(batch), func(j *job) bool { return j.run == nil })
	err := s.commitAt(now, batch, (*tx).plainly)
	if errors.Is(err, errSpoilt) {
		s.undo(batch)
		err = s.commitAt(now, batch, (*tx).savepoint)
	}
	return err
}

// noteHealth: a database that could not write must show that it can before
// the journal is trusted to get into it.
func (s *Store) noteHealth(batch []*job, err error) {
	sick := err != nil || slices.ContainsFunc(batch, func(j *job) bool {
		return j.outcome != nil && !verbs.Refusal(j.outcome) && j.ctx.Err() == nil
	})
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.journal.sick = sick
}

// sharing is from how many verbs on their records share what they have alike: few
// would save less than it takes.
const sharing = 4

// commitAt runs a batch, each verb by run.
func (s *Store) commitAt(now time.Time, batch []*job, run func(*tx, *job) error) error {
	if len(batch) == 0 {
		return nil
	}
	level := syncNormal
	for _, j := range batch {
		level = max(level, j.level)
	}
	if err := s.setSync(level); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	if s.waited {
		return s.undoneBy(errWaited)
	}
	t, err := s.opening(now)
	t.many = len(batch) >= sharing
	if err == nil {
		err = t.runAll(batch, run)
	}
	if err == nil && len(batch) == 1 && batch[0].outcome != nil {
		_, err = s.writer.exec("ROLLBACK") // refused: nothing to keep, nothing to sync
		return err
	}
	if err == nil {
		err = t.close()
	}
	if err != nil {
		return s.undoneBy(err)
	}
	return nil
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
	s.gathering.hold = false
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
	s.gathering.hold = level == syncFull
	s.level = level
	return nil
}

func (t *tx) runAll(batch []*job, run func(*tx, *job) error) error {
	for _, j := range batch {
		if j.outcome = j.ctx.Err(); j.outcome != nil {
			continue
		}
		t.job = j
		err := run(t, j)
		if err != nil && (len(batch) > 1 || !errors.Is(err, errSpoilt)) { // alone, all of it is undone
			return err
		}
		if t.db.GetAutocommit() {
			return errors.Join(errUndone, j.outcome)
		}
	}
	return nil
}

var (
	// errUndone is returned where SQLite has given the transaction up.
	errUndone = errors.New("the database undid the transaction")
	// errSpoilt is returned where a verb of several has written something and
	// then failed.
	errSpoilt = errors.New("a verb left what it wrote")
)

// plainly runs one verb without a savepoint. Most that are refused are so
// before they have written anything; where one has, the batch is run again.
func (t *tx) plainly(j *job) error {
	before, last := t.db.TotalChanges(), t.last
	if j.outcome = j.run(t); j.outcome != nil && (t.db.TotalChanges() != before || t.last != last) {
		return errSpoilt
	}
	return nil
}

// savepoint runs one verb so that its failure undoes that verb only. The
// error returned is one that ends the whole transaction.
func (t *tx) savepoint(j *job) error {
	if err := t.putPack(); err != nil {
		return err
	}
	if _, err := t.exec("SAVEPOINT verb"); err != nil {
		return err
	}
	last, of, in := t.last, len(t.pack.names.of), len(t.pack.names.in)
	j.outcome = j.run(t)
	if t.db.GetAutocommit() {
		return nil // which runAll sees
	}
	if j.outcome != nil {
		t.last = last
		t.pack.empty()
		t.pack.names.of, t.pack.names.in = t.pack.names.of[:of], t.pack.names.in[:in]
		if _, err := t.exec("ROLLBACK TO verb"); err != nil {
			return errors.Join(j.outcome, err)
		}
	}
	_, err := t.exec("RELEASE verb")
	return err
}
