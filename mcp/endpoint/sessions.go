package endpoint

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// sessions are the clients of the legacy era.
type sessions struct {
	max int

	mu   sync.Mutex
	byID map[string]*session
}

// session is one of them.
type session struct {
	*hub.Session
	id  string
	key string // of the caller whose it is

	mu      sync.Mutex
	used    time.Time
	busy    int  // requests and streams under way
	streams bool // it has its one stream
}

// idleFor is how long a session without requests is kept.
const idleFor = time.Hour

func newSessions(limit int) *sessions { return &sessions{max: limit, byID: map[string]*session{}} }

// add keeps a session. If its caller has too many, the one that was used
// longest ago goes, unless it is busy; ok is false if all are.
func (s *sessions) add(key string, h *hub.Session) (added *session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	mine := 0
	var oldest *session
	for _, x := range s.byID {
		if x.key != key {
			continue
		}
		mine++
		if used, idle := x.idle(); idle && (oldest == nil || used.Before(oldest.used)) {
			oldest = x
		}
	}
	if mine >= s.max {
		if oldest == nil {
			return nil, false
		}
		s.drop(oldest)
	}
	added = &session{Session: h, id: rand.Text(), key: key, used: time.Now()}
	s.byID[added.id] = added
	return added, true
}

// sweep drops what nobody has used for long, or has ended.
func (s *sessions) sweep() {
	for _, x := range s.byID {
		used, idle := x.idle()
		select {
		case <-x.Done():
			s.drop(x)
		default:
			if idle && time.Since(used) > idleFor {
				s.drop(x)
			}
		}
	}
}

func (s *sessions) drop(x *session) {
	delete(s.byID, x.id)
	x.Close()
}

// find returns a caller's session. That of somebody else is none.
func (s *sessions) find(key, id string) (*session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.byID[id]
	if !ok || x.key != key {
		return nil, false
	}
	select {
	case <-x.Done():
		s.drop(x)
		return nil, false
	default:
		return x, true
	}
}

func (s *sessions) remove(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(x)
}

func (x *session) idle() (since time.Time, idle bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.used, x.busy == 0
}

// use notes that a request or stream is under way, until the function that it
// returns is called.
func (x *session) use() func() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.busy++
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.busy--
		x.used = time.Now()
	}
}

// hold takes the session's one stream; false if somebody has it.
func (x *session) hold() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.streams {
		return false
	}
	x.streams = true
	return true
}

func (x *session) release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.streams = false
}
