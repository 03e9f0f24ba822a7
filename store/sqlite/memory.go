package sqlite

import (
	"sync"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// memory is what this process knows without asking the database. It owns the
// file, so nobody else can make it untrue: what is frozen, and which
// fingerprints may be in flight.
type memory struct {
	mu    sync.Mutex
	floor int64         // the latest time that this process has seen, in ns
	known bool          // stops is what the database holds
	stops []action.Stop // replaced, never changed

	flights map[canon.Digest]int // by fingerprint: rows in flight, counted before their commit
	runs    map[string]*run      // by id: what this process has begun
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

// mayFly reports whether a row with a fingerprint may be in flight.
func (m *memory) mayFly(fingerprint canon.Digest) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.flights[fingerprint] > 0
}

func (m *memory) count(fingerprint canon.Digest, by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.flights[fingerprint] + by; n > 0 {
		m.flights[fingerprint] = n
	} else {
		delete(m.flights, fingerprint)
	}
}

// flying selects the rows in flight, by the index that has no others: SQLite
// takes it where a condition is its own (sqlite.org/partialindex.html §3).
const flying = "(state = 'executing' OR state = 'pending_approval' OR state = 'approved' OR state = 'claimed' OR state = 'uncertain')"

// inFlight: the states of rows that a call with the same fingerprint may meet.
func inFlight(s action.State) bool {
	switch s {
	case action.PendingApproval, action.Approved, action.Claimed, action.Executing, action.Uncertain:
		return true
	default:
		return false
	}
}

// opened notes that a verb brings a row. It counts at once: a call that looks
// meanwhile asks the database and waits for nothing.
func (t *tx) opened(a action.Action) {
	if inFlight(a.State) {
		t.store.memory.count(a.Fingerprint, 1)
		t.job.opened = append(t.job.opened, a.Fingerprint)
	}
}

// moved notes that a verb takes a row out of flight. It counts once that is
// committed.
func (t *tx) moved(from, to action.Action) {
	t.store.memory.takeRun(from.ID) // it is no longer as it began
	if inFlight(from.State) && !inFlight(to.State) {
		t.job.ended = append(t.job.ended, from.Fingerprint)
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
			s.memory.count(f, -1)
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
	if s.listed, err = s.writer.number("SELECT seq FROM event_listed"); err != nil {
		return err
	}
	s.memory.flights, s.memory.runs = map[canon.Digest]int{}, map[string]*run{}
	if err := s.writer.query(func(cur *cursor) error {
		s.memory.flights[cur.digest()]++
		return nil
	}, "SELECT fingerprint FROM action WHERE "+flying); err != nil {
		return err
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
