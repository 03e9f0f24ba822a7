package postgres

import "time"

// clockSQL is the database's clock in nanoseconds (it counts microseconds)
// and the latest time that was ever seen.
const (
	clockSQL     = "SELECT " + clockColumns + " FROM time_floor"
	clockColumns = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000, " + floorSQL
	floorSQL     = "greatest(time_floor.at, (SELECT max(at) FROM time_ahead))"

	// A transaction asks for its number too, before it does anything that
	// must be looked for if the answer to its commit is lost; and whether the
	// server still keeps what it acknowledges.
	beginSQL     = "SELECT " + beginColumns + " FROM time_floor"
	beginColumns = clockColumns + ", pg_current_xact_id()::text::bigint, current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'"
)

// The stored floor is raised where it lies further behind than a grain: with
// every change it would make them wait for each other. It never lies further
// behind a change, or a record, than bound.
const (
	grain = 100 * time.Millisecond
	bound = 2 * grain
)

// Who raises the floor holds its row until their change has ended, which may
// take long; to wait for them with locks of one's own could go round in a
// circle. Up to bound they raise it for everybody. From there on a time that
// finds the row held is added beside it.
const (
	raiseSQL = `UPDATE time_floor SET at = $1 WHERE one = (
			SELECT one FROM time_floor WHERE at < $1 FOR UPDATE SKIP LOCKED)`
	raiseOrAddSQL = `WITH free AS (SELECT one FROM time_floor WHERE at < $1::bigint FOR UPDATE SKIP LOCKED),
			raised AS (UPDATE time_floor SET at = $1 WHERE one = (SELECT one FROM free) RETURNING one)
		INSERT INTO time_ahead (at) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM raised)`
)

// setTime takes the latest of clock, floor and what this process was told
// before. Where the floor lies too far behind it is raised with the next
// statements.
func (t *tx) setTime(clock, floor int64) {
	if !t.time.IsZero() { // one for the whole transaction
		return
	}
	t.time = t.store.later(clock, floor)
	switch behind := t.time.UnixNano() - floor; {
	case behind > int64(bound):
		t.ahead = append(t.ahead, do(raiseOrAddSQL, t.time))
	case behind > int64(grain):
		t.ahead = append(t.ahead, do(raiseSQL, t.time))
	}
}

// recalled is how many of the last records are looked at for the latest time.
// One with a later place and an earlier time was written by a change of the
// same moment.
const recalled = 1000

// recall has the time go on from the last record, however little the floor
// lies behind it.
func (s *Store) recall(c *conn) error {
	at, err := c.number("SELECT coalesce(max(at), 0) FROM (SELECT at FROM event ORDER BY place DESC LIMIT $1) AS e", recalled)
	if err == nil {
		s.notBefore(at)
	}
	return err
}

// tidyFloor deletes times that the floor has passed. They change nothing, but
// each change would look at them.
func (s *Store) tidyFloor(c *conn) error {
	_, err := c.exec("DELETE FROM time_ahead WHERE at <= (SELECT at FROM time_floor)")
	return err
}

// later is the latest of a clock, a floor and what this process was told
// before.
func (s *Store) later(clock, floor int64) time.Time {
	if s.opt.Now != nil {
		clock = s.opt.Now().UnixNano()
	}
	return s.notBefore(max(clock, floor))
}

// notBefore is the latest of a time and what this process was told before.
func (s *Store) notBefore(now int64) time.Time {
	for {
		seen := s.seen.Load()
		if now <= seen {
			return time.Unix(0, seen).UTC()
		}
		if s.seen.CompareAndSwap(seen, now) {
			return time.Unix(0, now).UTC()
		}
	}
}

// told is the latest time that this process knows of, for what needs no
// better.
func (s *Store) told() time.Time {
	if s.opt.Now != nil {
		return s.opt.Now()
	}
	return time.Unix(0, max(1, s.seen.Load())).UTC()
}
