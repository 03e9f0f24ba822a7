package hub

import (
	"context"
	"slices"
	"sync"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// wishes are what a client of the modern era wants to hear of (MCP
// 2026-07-28, SubscriptionFilter).
type wishes struct {
	kinds []string // members of the filter that are true
	uris  []string // that a rule names
}

var listKinds = map[string]string{"toolsListChanged": "notifications/tools/list_changed",
	"promptsListChanged": "notifications/prompts/list_changed", "resourcesListChanged": "notifications/resources/list_changed"}

func (s *Session) wishes(m *wire.Message) (wishes, error) {
	var w wishes
	for _, kind := range []string{"promptsListChanged", "resourcesListChanged", "toolsListChanged"} {
		raw, found, err := m.Member("/params/notifications/" + kind)
		if err != nil {
			return wishes{}, err
		}
		if found && string(raw) == "true" {
			w.kinds = append(w.kinds, kind)
		}
	}
	list, err := m.Elements("/params/notifications/resourceSubscriptions")
	if err != nil {
		return wishes{}, err
	}
	for _, raw := range list {
		uri, ok := wire.Text(raw)
		if _, allowed := s.roof.resource(&s.caller, uri); ok && allowed && len(w.uris) < maxFollowed {
			w.uris = append(w.uris, uri)
		}
	}
	return w, nil
}

// filter is the raw form of what is granted.
func (w wishes) filter(uris []string) []byte {
	var members []canon.Member
	for _, kind := range w.kinds {
		members = append(members, canon.Member{Name: kind, Value: canon.BoolValue(true)})
	}
	if len(uris) > 0 {
		values := make([]canon.Value, len(uris))
		for i, uri := range uris {
			values[i] = canon.StringValue(uri)
		}
		members = append(members, canon.Member{Name: "resourceSubscriptions", Value: canon.ArrayValue(values...)})
	}
	return canon.ObjectValue(members...).Canonical()
}

// listen holds a client's stream until the client, the session or the gateway
// ends.
func (s *Session) listen(r *request) *wire.Message {
	w, err := s.wishes(r.msg)
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, "the request cannot be read in one way")
	}
	ack, err := wire.NewNotification("notifications/subscriptions/acknowledged",
		canon.ObjectValue(canon.Member{Name: "_meta", Value: canon.ObjectValue()}).Canonical())
	if err == nil {
		ack, err = ack.WithMember("/params/notifications", w.filter(w.uris))
	}
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInternal, textGone)
	}
	tell := s.marked(r)
	tell(ack)
	s.attend(r, w, tell)
	return s.listened(r)
}

// attend holds the streams of the servers that there are until the request
// ends: a server without news is no reason to end it. When servers come or go,
// the client is told, and so are the streams.
func (s *Session) attend(r *request, w wishes, tell func(*wire.Message)) {
	var all sync.WaitGroup
	defer all.Wait()
	f, who := s.roof, &s.caller
	s.let() // it needs no server for itself, and may last for days
	heard := map[*server]context.CancelFunc{}
	rebound := gate.Changes(s.hub.cfg.Binder)
	for first := true; ; first = false {
		there := visible(f, who)
		changed := false
		for x, cancel := range heard {
			if !slices.Contains(there, x) {
				cancel()
				delete(heard, x)
				changed = true
			}
		}
		for _, x := range there {
			if heard[x] == nil {
				ctx, cancel := context.WithCancel(r.ctx)
				heard[x], changed = cancel, true
				under := f
				all.Go(func() { defer cancel(); s.hearken(ctx, x, under, w, r, tell) })
			}
		}
		if changed && !first {
			tellChanged(w.kinds, tell)
		}
		select {
		case <-r.ctx.Done():
			return
		case <-f.gone:
			f = s.hub.roof.Load()
		case <-s.wake:
			who = s.latest()
			tellChanged(only(w.kinds, "toolsListChanged"), tell)
		case <-rebound:
			rebound = gate.Changes(s.hub.cfg.Binder)
			tellChanged(only(w.kinds, "toolsListChanged"), tell)
		}
	}
}

// only is a kind by itself, if it is among those that are wished for.
func only(kinds []string, kind string) []string {
	if contains(kinds, kind) {
		return []string{kind}
	}
	return nil
}

// visible are the servers of a roof that exist for a caller.
func visible(f *roof, c *Caller) (out []*server) {
	for _, name := range f.names {
		if c.sees(name) {
			out = append(out, f.servers[name])
		}
	}
	return out
}

// tellChanged says that lists are others now.
func tellChanged(kinds []string, tell func(*wire.Message)) {
	for _, kind := range kinds {
		if m, err := wire.NewNotification(listKinds[kind], nil); err == nil {
			tell(m)
		}
	}
}

// marked gives notifications the id of the subscription that they belong to.
func (s *Session) marked(r *request) func(*wire.Message) {
	return func(m *wire.Message) {
		if r.beside == nil {
			return
		}
		if out, err := m.WithMeta(wire.MetaSubscriptionID, r.msg.ID().Raw()); err == nil {
			r.beside(out)
		}
	}
}

func (s *Session) listened(r *request) *wire.Message {
	m, err := wire.NewResult(r.msg.ID(), []byte(`{"resultType":"complete"}`))
	if err == nil {
		m, err = m.WithMeta(wire.MetaSubscriptionID, r.msg.ID().Raw())
	}
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInternal, textGone)
	}
	return m
}

// hearken holds one server's stream for a client. A server of the legacy era
// has none: what it tells of its lists comes through the hub.
func (s *Session) hearken(ctx context.Context, x *server, f *roof, w wishes, r *request, tell func(*wire.Message)) {
	l, err := x.connect(ctx, modern)
	if err != nil {
		return
	}
	var mine []string
	for _, uri := range w.uris {
		if owner, ok := f.resource(&s.caller, uri); ok && owner == x.Name {
			mine = append(mine, uri)
		}
	}
	if l.era == legacy {
		s.overhear(ctx, x.Name, w, nil, tell)
		return
	}
	if !l.server.Asks { // on a pipe nobody can tell whose news they are
		if len(mine) > 0 {
			go s.subscribed(ctx, l, wishes{uris: mine}, r)
		}
		s.overhear(ctx, x.Name, w, mine, tell)
		return
	}
	m, err := r.msg.WithoutOwnMeta()
	if err == nil {
		m, err = m.WithMember("/params/notifications", w.filter(mine))
	}
	if err != nil {
		return
	}
	beside := func(m *wire.Message) {
		if s.wanted(w, mine, m) {
			tell(m)
		}
	}
	if _, err := l.Ask(ctx, m, gate.Trip{Beside: beside}); err != nil && ctx.Err() == nil {
		l.server.log.Warn("a subscription of a client has ended", "error", err)
	}
}

// wanted: a server sends what a client has asked for, and nothing else.
func (s *Session) wanted(w wishes, uris []string, m *wire.Message) bool {
	for _, kind := range w.kinds {
		if m.Method() == listKinds[kind] {
			return true
		}
	}
	if m.Method() != "notifications/resources/updated" {
		return false
	}
	raw, _, err := m.Member("/params/uri")
	uri, ok := wire.Text(raw)
	return err == nil && ok && contains(uris, uri)
}

// subscribed holds a subscription at a server that tells of it beside it.
func (s *Session) subscribed(ctx context.Context, l *link, w wishes, r *request) {
	m, err := r.msg.WithoutOwnMeta()
	if err == nil {
		m, err = m.WithMember("/params/notifications", w.filter(w.uris))
	}
	if err == nil {
		_, err = l.Ask(ctx, m, gate.Trip{})
	}
	if err != nil && ctx.Err() == nil {
		l.server.log.Warn("a subscription of a client has ended", "error", err)
	}
}

// overhear listens to what the hub hears of a server until ctx ends.
func (s *Session) overhear(ctx context.Context, name string, w wishes, uris []string, tell func(*wire.Message)) {
	ear := s.hub.session(Caller{Session: s.caller.Session, Servers: []string{name}}, legacy)
	ear.ear = true
	for _, uri := range uris {
		ear.follows[uri] = true
	}
	ear.Outlet(func(m *wire.Message) {
		if s.wanted(w, uris, m) {
			tell(m)
		}
	})
	s.hub.mu.Lock()
	s.hub.sessions[ear] = true
	s.hub.mu.Unlock()
	<-ctx.Done()
	ear.Close()
}
