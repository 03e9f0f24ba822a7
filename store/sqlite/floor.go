package sqlite

import (
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// grain is how far the stored time floor may lie behind the last record,
// whose own time is as good: raising it with every change would cost each of
// them a page.
const grain = 100 * time.Millisecond

// latestSQL is the number of the last record, and the latest time that was
// ever stored.
const latestSQL = `SELECT coalesce(e.first + e.count - 1, 0), max(time_floor.at, coalesce(e.at, 0)) FROM time_floor
	LEFT JOIN event_pack e ON e.first = (SELECT max(first) FROM event_pack)`

func (c *conn) latest() (last, floor int64, err error) {
	_, err = c.one(func(cur *cursor) error { last, floor = cur.int(), cur.int(); return nil }, latestSQL)
	return last, floor, err
}

// written is the database as the last commit of this process left it. Only who
// holds the writing connection uses it.
type written struct {
	known   bool
	version uint32
	last    int64 // number of the last record
}

// version changes with each commit of anybody (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html,
// SQLITE_FCNTL_DATA_VERSION). It is that of the open transaction, or of the last one.
func (c *conn) version() (uint32, error) {
	v, err := c.db.FileControl("main", sqlite3.FCNTL_DATA_VERSION)
	if err != nil {
		return 0, fmt.Errorf("ask for changes: %w", err)
	}
	n, ok := v.(uint32)
	if !ok {
		return 0, fmt.Errorf("ask for changes: the answer is a %T", v)
	}
	return n, nil
}

// opening starts a transaction that has begun: with the number of the last
// record, and a time that no clock that steps back can take below what was
// seen before, in the next process either. Where another process has stored a
// later time, as when this one was stopped and lost its lock, that is the
// time.
//
// Nothing of that needs to be asked for where the database says that nobody
// has written since this process did: now is no earlier than what it has seen.
func (s *Store) opening(now time.Time) (*tx, error) {
	t := &tx{conn: s.writer, store: s, now: now, pack: &s.pack}
	t.pack.empty()
	t.pack.names.empty()
	was := s.written
	s.written = written{}
	if err := s.keepView(); err != nil {
		return t, err
	}
	version, err := t.version()
	if err != nil {
		return t, err
	}
	if was.known && was.version == version {
		t.last, t.first = was.last, was.last
		return t, nil
	}
	last, floor, err := t.latest()
	t.last, t.first = last, last
	if err == nil {
		err = s.learnLists()
	}
	if err == nil && version != s.remembered {
		if err = s.learnOthers(); err == nil {
			s.remembered = version
		}
	}
	if err != nil || floor <= now.UnixNano() {
		return t, err
	}
	t.now = time.Unix(0, floor).UTC()
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.floor = max(s.memory.floor, floor)
	return t, nil
}

// learnLists asks how far the lists of records go, after others may have
// written them.
func (s *Store) learnLists() error {
	listed, err := s.writer.number("SELECT seq FROM event_listed")
	if err == nil && listed != s.missing.listed {
		s.missing.from(listed)
	}
	return err
}

// close commits the transaction with its records in the lists, now and then,
// and with its time: in its records, and in the
// floor where it has none or the floor lies far behind.
func (t *tx) close() error {
	if err := t.putPack(); err != nil {
		return err
	}
	s, now := t.store, t.now.UnixNano()
	raise := now > s.kept && (t.last == t.first || now-s.kept >= int64(grain))
	if raise {
		if _, err := t.exec("UPDATE time_floor SET at = ? WHERE at < ?", now, now); err != nil {
			return fmt.Errorf("keep the time: %w", err)
		}
	}
	list := t.last-s.missing.listed >= int64(s.opt.step)
	if list {
		if err := t.enlist(); err != nil {
			return err
		}
		if err := t.slow(); err != nil {
			return err
		}
	}
	if _, err := t.exec("COMMIT"); err != nil {
		return err
	}
	version, err := t.version()
	s.written = written{err == nil, version, t.last}
	if err == nil {
		s.remembered = version
	}
	if list {
		s.missing.from(t.last)
	} else {
		s.missing.learn(t)
	}
	if raise {
		s.kept = now
	}
	return nil
}
