package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// era is one of the two forms of MCP.
type era uint8

// The eras. Legacy has sessions; modern says everything in each request.
const (
	legacy era = iota
	modern
)

func (e era) other() era { return modern - e }

// The revisions that are spoken, newest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const modernVersion = wire.FirstStateless

// server is one server with at most one connection for each era.
type server struct {
	Server
	hub *Hub
	log *slog.Logger
	// Of an instance that one session has for itself: whose it is, and what the
	// others share. Nil else.
	session *Session
	shared  *server

	gateway chan struct{} // a semaphore of one: who connects

	mu      sync.Mutex
	links   [2]*link
	spare   *link        // that answered a greeting of the other era with an error
	refused [2]time.Time // when the server last said that it does not speak an era
	pause   time.Duration
	retryAt time.Time
	ended   bool
	holds   int           // requests under way that need it
	free    chan struct{} // not nil: it is let go; closed when nothing holds it

	runs sync.WaitGroup // that outlive their requests
}

// link is one greeted connection.
type link struct {
	Transport
	server *server
	era    era
	hello  []byte // the server's greeting: the raw result
	roster *gate.Roster
	tokens tokens

	mu      sync.Mutex
	listing int               // of which the rest is
	prefix  bool              // names carried the server's
	closed  map[string]string // tools that are not offered, and why
	shapes  map[string][]wire.Mirror
}

func newServer(h *Hub, s Server) *server {
	if s.Greeting <= 0 {
		s.Greeting = greetTime
	}
	return &server{Server: s, hub: h, log: h.cfg.Log.With("server", s.Name), gateway: make(chan struct{}, 1)}
}

var (
	errDown     = errors.New("the server is down; it is tried again in a moment")
	errOtherEra = errors.New("the server does not speak this era of MCP")
	errEnded    = errors.New("the gateway is ending")
)

// The times of a connection.
const (
	greetTime  = 30 * time.Second
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
	// refusedFor is how long a server is believed that it does not speak an era.
	refusedFor = 10 * time.Minute
)

// connect returns a connection, in the era of the client if the server
// speaks that.
func (s *server) connect(ctx context.Context, want era) (*link, error) {
	if l := s.ready(want); l != nil {
		return l, nil
	}
	select {
	case s.gateway <- struct{}{}:
		defer func() { <-s.gateway }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l := s.ready(want); l != nil { // somebody else was faster
		return l, nil
	}
	if err := s.mayTry(); err != nil {
		return nil, err
	}
	l, err := s.open(want)
	if !s.settle(l, err) {
		l.Close()
		return nil, errEnded
	}
	return l, err
}

// ready returns the connection that serves an era, if there is one already.
func (s *server) ready(want era) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range []era{want, want.other()} {
		if l := s.links[e]; l != nil && !over(l) {
			return l
		}
		if time.Since(s.refused[e]) > refusedFor {
			return nil
		}
	}
	return nil
}

func over(t Transport) bool {
	select {
	case <-t.Gone():
		return true
	default:
		return false
	}
}

func (s *server) mayTry() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return errEnded
	case time.Now().Before(s.retryAt):
		return errDown
	}
	return nil
}

// open tries the era of the client, and then the other one.
func (s *server) open(want era) (*link, error) {
	err := errOtherEra
	for _, e := range []era{want, want.other()} {
		s.mu.Lock()
		skip := time.Since(s.refused[e]) <= refusedFor
		s.mu.Unlock()
		if skip {
			continue
		}
		var l *link
		if l, err = s.greet(e); err == nil {
			return l, nil
		}
		if !errors.Is(err, errOtherEra) {
			return nil, err
		}
		s.mu.Lock()
		s.refused[e] = time.Now()
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.refused = [2]time.Time{} // it speaks something, or it is no server
	s.mu.Unlock()
	return nil, err
}

// settle keeps a new connection, or notes the failure. It reports false if the
// server was let go meanwhile, and the connection is of no use.
func (s *server) settle(l *link, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.pause = min(max(2*s.pause, firstPause), s.hub.cfg.MaxPause)
		s.retryAt = time.Now().Add(s.pause)
		s.log.Warn("the server could not be reached", "error", err, "again", s.pause)
		return true
	}
	if s.ended {
		return false
	}
	s.pause, s.retryAt = 0, time.Time{}
	s.links[l.era] = l
	if s.session == nil && s.hub.enter() { // what is uncertain is found out over the shared one
		go func() { defer s.hub.runs.Done(); l.tend() }()
	}
	go s.watch(l, time.Now())
	return true
}

// watch looks after a connection until it ends: what it leaves is cleared
// away, and one that does not last is not made again at once.
func (s *server) watch(l *link, since time.Time) {
	<-l.Gone()
	l.Close()
	s.mu.Lock()
	if s.links[l.era] == l {
		s.links[l.era] = nil
	}
	ended := s.ended
	if !ended && time.Since(since) < s.hub.cfg.MaxPause {
		s.pause = min(max(2*s.pause, firstPause), s.hub.cfg.MaxPause)
		s.retryAt = time.Now().Add(s.pause)
	}
	s.mu.Unlock()
	if !ended {
		s.log.Warn("the server has gone")
	}
}

func (s *server) close() {
	s.mu.Lock()
	s.ended = true
	open := []Transport{}
	for _, l := range s.links {
		if l != nil {
			open = append(open, l)
		}
	}
	if s.spare != nil {
		open = append(open, s.spare)
	}
	s.mu.Unlock()
	for _, t := range open {
		t.Close()
	}
}

// dialled returns a new connection, or the one that was greeted in vain.
func (s *server) dialled(ctx context.Context) (*link, error) {
	s.mu.Lock()
	spare := s.spare
	s.spare = nil
	s.mu.Unlock()
	if spare != nil && !over(spare) {
		return spare, nil
	}
	t, err := s.Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	l := &link{Transport: t, server: s, tokens: tokens{live: map[string]ticket{}}}
	l.roster = gate.NewRoster(s.Name, s.hub.cfg.Binder, l.page)
	l.roster.Patience = s.Greeting
	go t.Listen(l.other)
	return l, nil
}

// Up is one server as it is now.
type Up struct {
	Server string
	Up     bool // there is a greeted connection
}

// Up says of each server whether it is connected, by name.
func (h *Hub) Up() []Up {
	var out []Up
	r := h.roof.Load()
	for _, name := range r.names {
		out = append(out, Up{name, r.servers[name].up()})
	}
	return out
}

func (s *server) up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		if l != nil && !over(l) {
			return true
		}
	}
	return false
}
