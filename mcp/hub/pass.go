package hub

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

var errEndless = errors.New("the server's list does not end")

const (
	textNoRule       = "no rule of the gateway allows this"
	textManyFollowed = "the session follows as many resources as it may"
)

// textOf reads a member of a raw object as text.
func textOf(raw []byte, member string) (string, bool) {
	value, found, err := wire.MemberOf(raw, member)
	if err != nil || !found {
		return "", false
	}
	return wire.Text(value)
}

// renamed gives the prompts of a list other names.
func renamed(m *wire.Message, name func(string) string) (*wire.Message, error) {
	items, err := m.Elements("/result/prompts")
	if err != nil {
		return nil, err
	}
	for i, raw := range items {
		old, _ := textOf(raw, "name")
		at := fmt.Sprintf("/result/prompts/%d/name", i)
		if m, err = m.WithMember(at, canon.StringValue(name(old)).Canonical()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// read passes on the reading of a resource that a rule names.
func (s *Session) read(r *request) *wire.Message {
	server, ok := s.resourceOf(r.msg, "/params/uri")
	if !ok {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, textNoRule)
	}
	return s.forward(r, server, r.msg)
}

func (s *Session) resourceOf(m *wire.Message, pointer string) (string, bool) {
	raw, found, err := m.Member(pointer)
	if err != nil || !found {
		return "", false
	}
	uri, ok := wire.Text(raw)
	if !ok {
		return "", false
	}
	return s.roof.resource(&s.caller, uri)
}

// prompt passes on the request for a prompt that a rule names.
func (s *Session) prompt(r *request) *wire.Message {
	server, name, ok := s.promptOf(r.msg.Name())
	if !ok {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, textNoRule)
	}
	m, err := r.msg, error(nil)
	if name != m.Name() {
		if m, err = m.WithName(name); err != nil {
			return s.failure(r.msg.ID(), wire.CodeInvalidParams, textNoRule)
		}
	}
	return s.forward(r, server, m)
}

func (s *Session) promptOf(shown string) (server, name string, ok bool) {
	server, name, ok = s.roof.owner(shown)
	ok = ok && s.caller.sees(server) && anyMatches(s.roof.servers[server].Prompts, name)
	return server, name, ok
}

// complete passes on the completion of what a rule names.
func (s *Session) complete(r *request) *wire.Message {
	refused := s.failure(r.msg.ID(), wire.CodeInvalidParams, textNoRule)
	raw, found, err := r.msg.Member("/params/ref")
	if err != nil || !found {
		return refused
	}
	switch kind, _ := textOf(raw, "type"); kind {
	case "ref/prompt":
		shown, _ := textOf(raw, "name")
		server, name, ok := s.promptOf(shown)
		if !ok {
			return refused
		}
		m := r.msg
		if name != shown {
			if m, err = m.WithMember("/params/ref/name", canon.StringValue(name).Canonical()); err != nil {
				return refused
			}
		}
		return s.forward(r, server, m)
	case "ref/resource":
		template, _ := textOf(raw, "uri")
		server, ok := s.roof.resource(&s.caller, gate.Expanded(template))
		if !ok {
			return refused
		}
		return s.forward(r, server, r.msg)
	}
	return refused
}

// follow subscribes to the changes of a resource, or ends that. Servers see
// one client, so an end is not passed on: another session may still listen.
func (s *Session) follow(r *request) *wire.Message {
	server, ok := s.resourceOf(r.msg, "/params/uri")
	if !ok {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, textNoRule)
	}
	raw, _, _ := r.msg.Member("/params/uri") // read above
	uri, _ := wire.Text(raw)
	if r.msg.Method() == "resources/unsubscribe" {
		s.mu.Lock()
		delete(s.follows, uri)
		s.mu.Unlock()
		if s.roof.servers[server].PerSession { // nobody else listens there
			return s.forward(r, server, r.msg)
		}
		return s.empty(r)
	}
	if !s.hears(uri) {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, textManyFollowed)
	}
	answer := s.forward(r, server, r.msg)
	if answer.Kind() == wire.KindResult {
		s.mu.Lock()
		s.follows[uri] = true
		s.mu.Unlock()
	}
	return answer
}

// hears reports whether the session hears of a resource, or has room to.
func (s *Session) hears(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.follows[uri] || len(s.follows) < maxFollowed
}

// maxFollowed bounds the resources that one session follows.
const maxFollowed = 1000

func (s *Session) ping(r *request) *wire.Message { return s.empty(r) }

func (s *Session) empty(r *request) *wire.Message {
	m, err := wire.NewResult(r.msg.ID(), []byte("{}"))
	if err != nil {
		panic("hub: an empty result is valid: " + err.Error())
	}
	return m
}

// level passes the wish for log messages on to every server that logs.
func (s *Session) level(r *request) *wire.Message {
	if !s.roof.prefixed() {
		return s.forward(r, s.roof.only(), r.msg)
	}
	for _, name := range s.servers() {
		if a := s.forward(r, name, r.msg); a.Kind() != wire.KindResult {
			s.roof.servers[name].log.Debug("the server takes no log level")
		}
	}
	return s.empty(r)
}
