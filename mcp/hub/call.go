package hub

import (
	"context"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const (
	textDown    = "the server cannot be reached; nothing was sent"
	textNoList  = "the server's tools could not be listed; nothing was sent"
	textUnknown = "there is no such tool"
	textGone    = "the server gave no answer"
)

// call takes a tool call to its server, through the Gate.
func (s *Session) call(r *request) *wire.Message {
	server, name, ok := s.roof.owner(r.msg.Name())
	if !ok || !s.caller.sees(server) {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, textUnknown)
	}
	l, err := s.connect(r.ctx, server, s.era)
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInternal, textDown)
	}
	closed, err := l.load(r.ctx, s.roof, name)
	if err != nil {
		l.server.log.Warn("the server's tools could not be listed", "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, textNoList)
	}
	m := r.msg
	if name != m.Name() {
		if m, err = m.WithName(name); err != nil {
			return s.failure(r.msg.ID(), wire.CodeInvalidParams, textUnknown)
		}
	}
	_, shut := closed[name]
	allowed := func(tool string) bool { return !shut && s.caller.may(tool) }
	d, err := gate.NewDesk(gate.Config{Gate: s.hub.cfg.Gate, Session: s.caller.Session, Server: server, Wait: s.hub.cfg.Wait,
		Page: s.hub.cfg.Page, Log: l.server.log, Allowed: allowed, Identity: l.server.Identity, Audience: l.server.Audience,
		States: s.hub.states, Tasks: &s.hub.tasks, Trace: s.caller.Trace, Transport: "tcp", Version: s.Version()}, l.roster, &bent{l, s.era}, &l.server.runs)
	if err != nil {
		l.server.log.Error("a session is of no use", "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, textDown)
	}
	return d.Call(r.ctx, m, s.carry(r, l))
}

// Mirrors returns the arguments of a tool that headers repeat, as clients of
// the modern era see it; nil if there is no such tool.
func (s *Session) Mirrors(ctx context.Context, shown string) []wire.Mirror {
	found := s.mirrors(ctx, shown)
	for s.again() {
		found = s.mirrors(ctx, shown)
	}
	return found
}

func (s *Session) mirrors(ctx context.Context, shown string) []wire.Mirror {
	server, name, ok := s.roof.owner(shown)
	if !ok || !s.caller.sees(server) {
		return nil
	}
	l, err := s.connect(ctx, server, s.era)
	if err != nil {
		return nil
	}
	if _, err := l.load(ctx, s.roof, name); err != nil {
		return nil
	}
	return l.mirrors(name)
}

// task passes on what a client asks about a task that it was given.
func (s *Session) task(r *request) *wire.Message {
	server, ok := s.hub.tasks.Server(s.caller.Session, r.msg)
	if !ok || !s.caller.sees(server) {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, "there is no such task")
	}
	return s.forward(r, server, r.msg)
}

// forward sends a request that is no tool call to one server.
func (s *Session) forward(r *request, server string, m *wire.Message) *wire.Message {
	l, err := s.connect(r.ctx, server, s.era)
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInternal, textDown)
	}
	return s.through(r, l, m)
}

func (s *Session) through(r *request, l *link, m *wire.Message) *wire.Message {
	who, server := s.caller.Session, l.server.Name
	out, err := m.WithoutOwnMeta()
	if err == nil {
		out, err = s.hub.states.Open(out, who, server)
	}
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, "the request cannot be read in one way")
	}
	answer, err := (&bent{l, s.era}).Ask(r.ctx, out, s.carry(r, l))
	if err == nil {
		answer, err = s.hub.states.Seal(answer, m, who, server)
	}
	if err == nil {
		answer, err = answer.WithID(r.msg.ID())
	}
	if err != nil {
		l.server.log.Warn("a request has no answer", "method", m.Method(), "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, textGone)
	}
	return answer
}
