package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// allow records a read or a handoff that may go on. There is no row; the
// record survives the death of the process, its sync is not awaited.
func (s *Store) allow(ctx context.Context, a action.Action) (action.Action, error) {
	if err := errors.Join(verbs.Whole(a), ctx.Err()); err != nil {
		return action.Action{}, err
	}
	e := verbs.AllowedEntry(&a)
	if at, ok, err := s.allowSoon(&a, &e); ok || err != nil {
		a.CreatedAt, a.UpdatedAt = at, at
		return a, err
	}
	return s.allowLater(ctx, a, e)
}

// allowLater writes the record in a transaction.
func (s *Store) allowLater(ctx context.Context, a action.Action, e verbs.Entry) (action.Action, error) {
	return s.change(ctx, syncNormal, func(t *tx) (action.Action, error) {
		if row, err := t.stopped(&a); err != nil {
			return row, err
		}
		a.CreatedAt, a.UpdatedAt = t.now, t.now
		e.At = t.now
		_, err := t.write(&e)
		return a, err
	})
}

// allowSoon writes the record to the journal. ok is false where it must go
// through the database: while a stop is being set or lifted, so that the log
// never shows a read after the stop that covers it; while the database has
// shown that it cannot write; where too much waits; and where the record may
// be too long once it has its number.
func (s *Store) allowSoon(a *action.Action, e *verbs.Entry) (at time.Time, ok bool, err error) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return time.Time{}, false, ErrClosed
	}
	m, j := &s.memory, &s.journal
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.opt.VFS != "" || !m.known || j.off || j.sick || len(j.waiting) >= maxWaiting {
		return time.Time{}, false, nil
	}
	for _, stop := range m.stops {
		if stop.Covers(a.Tenant, a.Agent, a.Tool) {
			return time.Time{}, false, action.ErrStopped
		}
	}
	e.At = s.tick()
	leaf, err := e.Leaf()
	if err != nil || len(leaf) > maxJournaled {
		return time.Time{}, false, nil
	}
	if err := j.append(s.path, e, leaf); err != nil {
		j.off = true
		return time.Time{}, false, fmt.Errorf("write store: %w", err)
	}
	if n := len(j.waiting); n == foldEarly {
		s.nudge()
	} else if !j.armed {
		j.armed = true
		time.AfterFunc(foldAfter, s.foldLater)
	}
	return e.At, true, nil
}

// tick is the time; it never goes back in this process. memory.mu is held.
func (s *Store) tick() time.Time {
	m := &s.memory
	m.floor = max(m.floor, s.clockNow())
	return time.Unix(0, m.floor).UTC()
}

// clockNow is the operating system's time in whole milliseconds, as the
// database counts it.
func (s *Store) clockNow() int64 {
	if s.opt.Now != nil {
		return s.opt.Now().UnixNano()
	}
	return time.Now().UnixMilli() * int64(time.Millisecond)
}

// foldLater has the journal taken in.
func (s *Store) foldLater() {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if !s.closed {
		s.nudge()
	}
}

// nudge has the writing goroutine come. closing is held.
func (s *Store) nudge() {
	if s.line.join(&job{ctx: context.Background(), level: syncNormal, done: make(chan struct{})}) {
		s.line.tell()
	}
}

// settleReads returns when every record that is in the journal is in the log,
// so that whoever reads it sees what was acknowledged.
func (s *Store) settleReads(ctx context.Context) error {
	s.memory.mu.Lock()
	none := len(s.journal.waiting) == 0 && !s.folding
	s.memory.mu.Unlock()
	if none {
		return nil
	}
	return s.write(ctx, syncNormal, nil)
}

// cut takes what waits and the time of the next transaction: no record that
// waits is younger, and none that comes later is older.
func (s *Store) cut(batch []*job) (now time.Time, waiting []verbs.Entry, open [2]int) {
	m := &s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(batch, func(j *job) bool { return j.stops }) {
		m.known = false
	}
	waiting, open = s.journal.take()
	s.folding = len(waiting) > 0
	return s.tick(), waiting, open
}

// fold takes records of the journal into the log, in a transaction of their
// own. On an error they wait on.
func (s *Store) fold(now time.Time, waiting []verbs.Entry, open [2]int) error {
	if len(waiting) == 0 {
		return nil
	}
	err := s.insertAll(now, waiting)
	m, j := &s.memory, &s.journal
	m.mu.Lock()
	defer m.mu.Unlock()
	s.folding = false
	if err != nil {
		j.waiting, j.sick = append(waiting, j.waiting...), true
		return err
	}
	return j.taken(open)
}

func (s *Store) insertAll(now time.Time, list []verbs.Entry) error {
	if err := s.start(); err != nil {
		return err
	}
	t, err := s.opening(now)
	for i := 0; err == nil && i < len(list); i++ {
		_, err = t.write(&list[i])
	}
	if err == nil {
		err = t.close()
	}
	if err != nil {
		return s.undoneBy(err)
	}
	return nil
}

// inherit takes in what an earlier process left in the journal. A record that
// came into the log before that process died is not taken in twice.
func (s *Store) inherit() error {
	if s.opt.VFS != "" {
		return nil
	}
	var left []frame
	for i := range s.journal.files {
		found, err := readFrames(journalPath(s.path, i))
		if err != nil {
			return err
		}
		left = append(left, found...)
	}
	slices.SortStableFunc(left, func(a, b frame) int { return cmp.Compare(a.number, b.number) })
	if err := s.takeIn(left); err != nil {
		return err
	}
	return errors.Join(removeIfThere(journalPath(s.path, 0)), removeIfThere(journalPath(s.path, 1)))
}

func (s *Store) takeIn(left []frame) error {
	if len(left) == 0 {
		return nil
	}
	// Not that of the first frame: a file of an earlier process, whose frames
	// have the same numbers, may be back after a power cut.
	oldest := slices.MinFunc(left, func(a, b frame) int { return a.entry.At.Compare(b.entry.At) })
	known, last, err := s.recordsSince(oldest.entry.At)
	if err != nil {
		return err
	}
	var list []verbs.Entry
	for _, f := range left {
		if known[f.entry.ID] {
			continue
		}
		if f.entry.At.Before(last) { // the log's own time never goes back
			f.entry.At = last
		}
		last = f.entry.At
		list = append(list, f.entry)
	}
	if len(list) == 0 {
		return nil
	}
	s.memory.floor = max(s.memory.floor, last.UnixNano())
	return s.insertAll(time.Unix(0, s.memory.floor).UTC(), list)
}

// recordsSince names the records of the log from a time on, and the time of
// its last one. Times in the log never go back, so the walk ends there.
func (s *Store) recordsSince(from time.Time) (ids map[string]bool, last time.Time, err error) {
	ids = map[string]bool{}
	all := search{way: newest, behind: math.MaxInt64, most: math.MaxInt}
	err = s.writer.find(all, func(k kept) error {
		r, err := k.skim()
		if err != nil {
			return nil // whoever made it unreadable shall not keep the store shut
		}
		if last.IsZero() {
			last = r.At
		}
		if r.At.Before(from) {
			return errEnough
		}
		ids[r.ID] = true
		return nil
	})
	return ids, last, err
}

// closeJournal ends the journal. The writing goroutine has ended.
func (s *Store) closeJournal() error {
	now, waiting, open := s.cut(nil)
	return errors.Join(s.fold(now, waiting, open), s.journal.close(s.path))
}
