package hub

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// As is the session for a request of a caller whose token may say something
// else now than when the session began.
func (s *Session) As(c Caller) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = c
	return &Session{seat: s.seat, caller: c}
}

// Renew says what the token of a session stands for now. A client that sees
// other tools from now on is told.
func (s *Session) Renew(c Caller) {
	s.mu.Lock()
	same := reflect.DeepEqual(s.newest.Servers, c.Servers) && reflect.DeepEqual(s.newest.Tools, c.Tools)
	s.newest = c
	s.mu.Unlock()
	if same {
		return
	}
	s.told("notifications/tools/list_changed")
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Session) latest() *Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.newest
	return &c
}

// visit is the session for one request, under the roof that there is.
func (s *Session) visit() *Session {
	return &Session{seat: s.seat, caller: s.caller, roof: s.hub.roof.Load()}
}

// connect returns a connection to a server of the request's roof, which stays
// open until the request ends.
func (s *Session) connect(ctx context.Context, name string, want era) (*link, error) {
	x := s.roof.servers[name]
	if x == nil {
		return nil, errNoServer
	}
	if !s.holding(x) {
		s.moved = true
		return nil, errEnded
	}
	if x.PerSession && s.era == legacy {
		if x = s.apart(x); x == nil || !s.holding(x) {
			return nil, errEnded
		}
	}
	return x.connect(ctx, want)
}

// holding keeps a server open until the request ends; false if it is let go
// already.
func (s *Session) holding(x *server) bool {
	if slices.Contains(s.held, x) {
		return true
	}
	if !x.hold() {
		return false
	}
	if s.held == nil {
		s.held = s.first[:0]
	}
	s.held = append(s.held, x)
	return true
}

var errNoServer = errors.New("there is no such server")

// let ends the hold on all servers.
func (s *Session) let() {
	for _, x := range s.held {
		x.release()
	}
	s.held = nil
}

// again reports whether a request must begin anew: a server that it needed was
// let go before anything was sent.
func (s *Session) again() bool {
	next := s.hub.roof.Load()
	if !s.moved || next == s.roof {
		return false
	}
	s.let()
	s.roof, s.moved = next, false
	return true
}
