package hub

import (
	"bytes"
	"maps"
	"slices"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// apart is the session's own instance of a server that has one for each
// session: what comes on its connections is the session's. nil if the session
// has ended.
func (s *Session) apart(x *server) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end.Err() != nil {
		return nil
	}
	mine := s.own[x.Name]
	if mine != nil && mine.shared == x {
		return mine
	}
	if mine != nil { // of what stood under the name before
		s.hub.retire(mine)
	}
	mine = newServer(s.hub, x.Server)
	mine.shared, mine.session = x, s.owner
	s.own[x.Name] = mine
	return mine
}

// owned are the session's own instances.
func (s *Session) owned() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.own))
}

// disown lets go of the session's own instances of servers, or of all.
func (s *Session) disown(which func(*server) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, x := range s.own {
		if which(x.shared) {
			delete(s.own, name)
			s.hub.retire(x)
		}
	}
}

// declare keeps what the client says that it can do for a server.
func (s *Session) declare(m *wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var declared []byte
	for _, method := range slices.Sorted(maps.Keys(needs)) {
		name := needs[method]
		raw, found, err := m.Member("/params/capabilities/" + name)
		if s.can[name] = found && err == nil; s.can[name] {
			declared = append(append(declared, `,"`+name+`":`...), raw...)
		}
	}
	s.declared = slices.Concat([]byte("{"), bytes.TrimPrefix(declared, []byte(",")), []byte("}"))
}

func (s *Session) declaration() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.declared == nil { // it has not been greeted
		return []byte("{}")
	}
	return s.declared
}

// aside takes to the client what a server sends it on the session's own
// connection, beside all requests: on the stream of the one request that is
// under way there, or on the session's. What finds neither is answered as if
// the client could not do it.
func (s *Session) aside(l *link, m *wire.Message) {
	if m.Method() == "notifications/cancelled" {
		s.withdrawn(l, m)
		return
	}
	if !s.latest().sees(l.server.Name) {
		l.unheard(m)
		return
	}
	s.beside(s.toward(l), l, m)
}

// toward is the stream on which the client reads what belongs to a connection;
// nil if there is none.
func (s *Session) toward(l *link) func(*wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var under []*trip
	for _, t := range s.live {
		if t.link == l && !t.silent && t.beside != nil {
			under = append(under, t)
		}
	}
	if len(under) == 1 || s.outlet == nil && len(under) > 0 {
		return under[0].beside
	}
	return s.outlet
}

// withdrawn tells the client that a server wants no answer any more.
func (s *Session) withdrawn(l *link, m *wire.Message) {
	id, ok := cancelledID(m)
	if !ok {
		return
	}
	s.mu.Lock()
	var known wire.ID
	for key, owed := range s.asked {
		if owed.link == l && owed.id.Key() == id.Key() {
			known = owed.known
			delete(s.asked, key)
		}
	}
	s.mu.Unlock()
	to := s.toward(l)
	if known.IsZero() || to == nil {
		return
	}
	if out, err := m.WithMember("/params/requestId", known.Raw()); err == nil {
		s.beside(to, l, out)
	}
}

// relay tells the session's own servers what its client tells.
func (s *Session) relay(m *wire.Message) {
	for _, x := range s.owned() {
		if l := x.current(legacy); l != nil {
			out, err := m.WithoutOwnMeta()
			if err == nil {
				err = l.Tell(out)
			}
			if err != nil {
				x.log.Warn("a notification did not reach the server", "error", err)
			}
		}
	}
}

// current is the connection of an era that there is, if any.
func (s *server) current(e era) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.links[e]; l != nil && !over(l) {
		return l
	}
	return nil
}
