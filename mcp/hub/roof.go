package hub

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// roof is the set of servers that stand together. It never changes: Replace
// puts another one in its place, and a request sees one from its beginning to
// its end.
type roof struct {
	hub     *Hub
	servers map[string]*server
	names   []string      // sorted
	gone    chan struct{} // closed when another one is in its place
}

// over builds the roof of a list of servers. A server that an earlier roof has
// under the same name and version is taken over with its connections.
func (h *Hub) over(list []Server, earlier *roof) (*roof, error) {
	if len(list) == 0 {
		return nil, errors.New("no servers")
	}
	out := &roof{hub: h, servers: make(map[string]*server, len(list)), gone: make(chan struct{})}
	for _, s := range list {
		if err := out.admit(s); err != nil {
			return nil, err
		}
		if earlier != nil && s.Version != "" {
			if old := earlier.servers[s.Name]; old != nil && old.Version == s.Version {
				out.servers[s.Name] = old
				continue
			}
		}
		if s.Identity == (canon.Digest{}) {
			s.Identity = unnamed()
		}
		out.servers[s.Name] = newServer(h, s)
	}
	out.names = slices.Sorted(maps.Keys(out.servers))
	return out, nil
}

// admit checks the name of a server beside those that are there.
func (f *roof) admit(s Server) error {
	if !serverName.MatchString(s.Name) || s.Dial == nil {
		return fmt.Errorf("server %q: a name has 1 to 40 of a-z, 0-9 and -", s.Name)
	}
	mine := skeleton(s.Name) + skeleton(separator)
	for name := range f.servers {
		other := skeleton(name) + skeleton(separator)
		if strings.HasPrefix(mine, other) || strings.HasPrefix(other, mine) {
			return fmt.Errorf("servers %s and %s: the names look like one another", name, s.Name)
		}
	}
	return nil
}

// prefixed reports whether names carry the server's.
func (f *roof) prefixed() bool { return len(f.servers) > 1 }

// only is the one server whose names stand without a prefix.
func (f *roof) only() string { return f.names[0] }

// Replace puts other servers behind the hub. A server whose name and Version
// are the same stays as it is; requests that are under way finish with the
// servers that they began with, and these end when nothing needs them any
// more. On an error nothing is changed. Sessions are told that lists have
// changed.
func (h *Hub) Replace(list []Server) error {
	h.replacing.Lock()
	defer h.replacing.Unlock()
	old := h.roof.Load()
	next, err := h.over(list, old)
	if err != nil {
		return err
	}
	if !h.enter() {
		return ErrEnded
	}
	defer h.runs.Done()
	h.roof.Store(next)
	close(old.gone)
	moved := dropped(old, next)
	for _, s := range moved {
		h.cfg.Log.Info("a server is let go", "server", s.Name)
		h.retire(s)
	}
	h.part(moved)
	changed := append(moved, dropped(next, old)...)
	if old.prefixed() != next.prefixed() { // every name is another one now
		changed = slices.AppendSeq(changed, maps.Values(next.servers))
	}
	h.announce(changed)
	return nil
}

// dropped are the servers of one roof that are not under another.
func dropped(from, to *roof) (out []*server) {
	for _, name := range from.names {
		if s := from.servers[name]; to.servers[name] != s {
			out = append(out, s)
		}
	}
	return out
}

// part lets go of what sessions have of these servers for themselves.
func (h *Hub) part(moved []*server) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		s.disown(func(x *server) bool { return slices.Contains(moved, x) })
	}
}

// retire lets go of a server as soon as no request and no run needs it.
func (h *Hub) retire(s *server) {
	h.mu.Lock()
	h.retired[s] = true
	h.mu.Unlock()
	go func() {
		<-s.retire()
		s.runs.Wait()
		s.close()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.retired, s)
	}()
}

// announce tells sessions that see one of these servers that lists have
// changed. Streams of the modern era find out by themselves (attend).
func (h *Hub) announce(changed []*server) {
	if len(changed) == 0 {
		return
	}
	kinds := []string{"notifications/tools/list_changed"}
	if slices.ContainsFunc(changed, func(s *server) bool { return len(s.Resources) > 0 }) {
		kinds = append(kinds, "notifications/resources/list_changed")
	}
	if slices.ContainsFunc(changed, func(s *server) bool { return len(s.Prompts) > 0 }) {
		kinds = append(kinds, "notifications/prompts/list_changed")
	}
	h.mu.Lock()
	sessions := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		if !s.ear && slices.ContainsFunc(changed, func(x *server) bool { return s.latest().sees(x.Name) }) {
			for _, kind := range kinds {
				s.told(kind)
			}
		}
	}
}

// listsChanged tells every session when the catalog is replaced, until the hub
// ends: tools are shown differently from then on.
func (h *Hub) listsChanged() {
	change := gate.Changes(h.cfg.Binder)
	for {
		select {
		case <-h.end.Done():
			return
		case <-change:
		}
		change = gate.Changes(h.cfg.Binder)
		h.mu.Lock()
		sessions := slices.Collect(maps.Keys(h.sessions))
		h.mu.Unlock()
		for _, s := range sessions {
			if !s.ear {
				s.told("notifications/tools/list_changed")
			}
		}
	}
}

// told sends a session a notification of the gateway's own.
func (s *Session) told(kind string) {
	m, err := wire.NewNotification(kind, nil)
	if err != nil {
		panic("hub: the fixed notifications are valid: " + err.Error())
	}
	s.mu.Lock()
	to := s.outlet
	s.mu.Unlock()
	if to != nil {
		to(m)
	}
}

// hold keeps a server open for a request; false if it is let go already.
func (s *server) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free != nil {
		return false
	}
	s.holds++
	return true
}

// release ends a hold.
func (s *server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds--; s.holds == 0 && s.free != nil {
		close(s.free)
	}
}

// retire takes no more holds. The channel is closed when the last has ended.
func (s *server) retire() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil {
		s.free = make(chan struct{})
		if s.holds == 0 {
			close(s.free)
		}
	}
	return s.free
}

var _ gate.Line = (*link)(nil)
