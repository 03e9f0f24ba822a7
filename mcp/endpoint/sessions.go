package endpoint

import (
	"crypto/rand"
	"sync"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// sessions are the clients of the legacy era.
type sessions struct {
	max  int
	idle time.Duration // how long one is kept without requests

	mu    sync.Mutex
	byID  map[string]*session
	sweep *time.Timer // while there are any
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

// idleFor is how long a session without requests is kept, and sweepsIn how
// often within that somebody looks.
const (
	idleFor  = time.Hour
	sweepsIn = 60
)

func newSessions(limit int) *sessions {
	return &sessions{max: limit, idle: idleFor, byID: map[string]*session{}}
}

// add begins a session and keeps it. If its caller has too many, the one that
// was used longest ago goes, unless it is busy; ok is false if all are, and
// nothing has begun then.
func (s *sessions) add(who Identity, begin func(hub.Caller) *hub.Session) (added *session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropOld()
	mine := 0
	var oldest *session
	for _, x := range s.byID {
		if x.key != who.Key {
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
	added = &session{Session: begin(who.Caller), id: rand.Text(), key: who.Key, used: time.Now()}
	s.byID[added.id] = added
	if s.sweep == nil {
		s.sweep = time.AfterFunc(s.idle/sweepsIn, s.look)
	}
	return added, true
}

// look drops old sessions for as long as there are any: their servers' own
// processes end with them, whether or not somebody comes again.
func (s *sessions) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropOld()
	if len(s.byID) == 0 {
		s.sweep = nil
		return
	}
	s.sweep.Reset(s.idle / sweepsIn)
}

// dropOld drops what nobody has used for long, or has ended.
func (s *sessions) dropOld() {
	for _, x := range s.byID {
		used, idle := x.idle()
		select {
		case <-x.Done():
			s.drop(x)
		default:
			if idle && time.Since(used) > s.idle {
				s.drop(x)
			}
		}
	}
}

func (s *sessions) drop(x *session) {
	delete(s.byID, x.id)
	x.Close()
}

// find returns a caller's session. That of somebody else is none, and neither is
// one that the same token began while it stood for somebody else: a server of
// the session's own knows what it was told then.
func (s *sessions) find(who Identity, id string) (*session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.byID[id]
	if !ok || x.key != who.Key || !samePrincipal(x.Caller().Session, who.Caller.Session) {
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

func samePrincipal(a, b verbatim.Session) bool {
	return a.Tenant == b.Tenant && a.Principal == b.Principal
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
