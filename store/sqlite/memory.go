package sqlite

import (
	"errors"
	"slices"
	"sync"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// memory is what this process knows without asking the database: what is
// frozen, and which rows may be in flight. It owns the file, so nobody else
// makes it untrue; where somebody has written all the same, it is read again
// before the next verb.
type memory struct {
	mu    sync.Mutex
	floor int64         // the latest time that this process has seen, in ns
	known bool          // stops is what the database holds
	stops []action.Stop // replaced, never changed

	flights map[canon.Digest][]flight // by fingerprint, oldest first: rows in flight, noted before their commit
	runs    map[string]*run           // by id: what this process has begun
}

// stopsOf returns what stands for a tenant, in the order of Stops. known is
// false while the table is being changed: then only the database can say.
func (m *memory) stopsOf(tenant string) (out []action.Stop, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.stops {
		if s.Tenant == "" || s.Tenant == tenant {
			out = append(out, s)
		}
	}
	return out, m.known
}

// flight is a row in flight. Each mark says what the row may be; only the
// database says what it is.
type flight struct {
	id       string
	doubtful bool // uncertain, or sent again after it was
	joinable bool // for a call without a key to take up
}

// mayBe returns the ids of the rows in flight with a fingerprint that bear a
// mark, oldest first.
func (m *memory) mayBe(fingerprint canon.Digest, marked func(flight) bool) (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.flights[fingerprint] {
		if marked(f) {
			ids = append(ids, f.id)
		}
	}
	return ids
}

func doubtful(f flight) bool { return f.doubtful }
func joinable(f flight) bool { return f.joinable }

// depart notes a row in flight.
func (m *memory) depart(fingerprint canon.Digest, f flight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flights[fingerprint] = append(m.flights[fingerprint], f)
}

// mark adds to what a row in flight may be.
func (m *memory) mark(fingerprint canon.Digest, marks flight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.flights[fingerprint] {
		if f := &m.flights[fingerprint][i]; f.id == marks.id {
			f.doubtful, f.joinable = f.doubtful || marks.doubtful, f.joinable || marks.joinable
		}
	}
}

// land notes that a row is no longer in flight.
func (m *memory) land(fingerprint canon.Digest, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.DeleteFunc(m.flights[fingerprint], func(f flight) bool { return f.id == id })
	if m.flights[fingerprint] = all; len(all) == 0 {
		delete(m.flights, fingerprint)
	}
}

// inFlight: the states of rows that a call with the same fingerprint may meet.
func inFlight(s action.State) bool {
	switch s {
	case action.PendingApproval, action.Approved, action.Claimed, action.Executing, action.Uncertain:
		return true
	default:
		return false
	}
}

// flown names a row that a verb brings, or takes out of flight.
type flown struct {
	fingerprint canon.Digest
	id          string
}

// opened notes that a verb brings a row. It counts at once: a call that looks
// meanwhile asks the database and waits for nothing.
func (t *tx) opened(a *action.Action) {
	if inFlight(a.State) {
		t.store.memory.depart(a.Fingerprint, marks(a))
		t.job.opened = append(t.job.opened, flown{a.Fingerprint, a.ID})
	}
}

// marks is what a row may be, seen from its state alone.
func marks(a *action.Action) flight {
	return flight{id: a.ID, doubtful: a.State == action.Uncertain,
		joinable: a.CallerGone || a.State == action.Approved || a.State == action.Claimed}
}

// moved notes where a verb takes a row. What it may be from then on counts at
// once, that it is out of flight once that is committed.
func (t *tx) moved(from, to action.Action) {
	t.store.memory.takeRun(from.ID) // it is no longer as it began
	switch {
	case inFlight(to.State):
		t.store.memory.mark(from.Fingerprint, marks(&to))
	case inFlight(from.State):
		t.job.ended = append(t.job.ended, flown{from.Fingerprint, from.ID})
	}
}

// landed settles what the verbs of a batch have noted, by their outcomes.
func (s *Store) landed(batch []*job) {
	for _, j := range batch {
		if j.begun != nil && j.outcome == nil {
			s.memory.keepRun(j.begun)
		}
		gone := j.ended
		if j.outcome != nil { // nothing of it was kept
			gone = j.opened
		}
		for _, f := range gone {
			s.memory.land(f.fingerprint, f.id)
		}
		j.opened, j.ended, j.begun = nil, nil, nil
	}
}

// remember reads what memory holds from the database, at the start.
func (s *Store) remember() error {
	_, floor, err := s.writer.latest()
	if err != nil {
		return err
	}
	s.memory.floor = floor
	if s.kept, err = s.writer.number("SELECT at FROM time_floor"); err != nil {
		return err
	}
	if err = s.learnLists(); err != nil {
		return err
	}
	s.memory.runs = map[string]*run{}
	return errors.Join(s.learnFlights(), s.learnStops())
}

// learnFlights reads which rows are in flight; each may be anything.
func (s *Store) learnFlights() error {
	flights := map[canon.Digest][]flight{}
	err := s.writer.query(func(cur *cursor) error {
		fingerprint := cur.digest()
		flights[fingerprint] = append(flights[fingerprint], flight{id: cur.text(), doubtful: true, joinable: true})
		return nil
	}, "SELECT fingerprint, id FROM action WHERE "+flying+" ORDER BY seq")
	if err != nil {
		return err
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.flights = flights
	return nil
}

// learnOthers reads what somebody else may have written, who was not to write:
// nobody else does while the lock holds that says who owns the file.
func (s *Store) learnOthers() error {
	if s.policies != nil {
		s.policies = map[tool]string{}
	}
	if err := s.learnFlights(); err != nil {
		return err
	}
	s.memory.mu.Lock()
	known := s.memory.known
	s.memory.mu.Unlock()
	if !known {
		return nil // a verb of this batch turns the switch: the database is asked
	}
	return s.learnStops()
}

// learnStops reads the freeze switch again after it was turned.
func (s *Store) learnStops() error {
	stops, err := stopsOf(s.writer, "ORDER BY tenant, agent, tool")
	if err != nil {
		return err
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.stops, s.memory.known = stops, true
	return nil
}
