package hub

import (
	"fmt"
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// initialize greets a client of the legacy era.
func (s *Session) initialize(r *request) *wire.Message {
	raw, _, err := r.msg.Member("/params/protocolVersion")
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, "the request cannot be read in one way")
	}
	version, _ := wire.Text(raw)
	if !slices.Contains(legacyVersions, version) {
		version = legacyVersions[0]
	}
	s.mu.Lock()
	again := s.version != ""
	if !again {
		s.version = version
	}
	s.mu.Unlock()
	if again {
		return s.failure(r.msg.ID(), wire.CodeInvalidRequest, "the session is initialized")
	}
	s.declare(r.msg)
	m, err := s.greeting(r, version)
	if err != nil {
		s.hub.cfg.Log.Error("a greeting could not be built", "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, textDown)
	}
	return m
}

// greeting is the one server's own where it speaks the era, else the hub's.
func (s *Session) greeting(r *request, version string) (*wire.Message, error) {
	at := canon.StringValue(version).Canonical()
	if !s.roof.prefixed() {
		if l, err := s.connect(r.ctx, s.roof.only(), legacy); err == nil && l.era == legacy {
			m, err := wire.NewResult(r.msg.ID(), l.hello)
			if err == nil {
				m, err = m.WithMember("/result/protocolVersion", at)
			}
			if err == nil {
				m, err = trimmed(m)
			}
			return m, err
		}
	}
	return wire.NewResult(r.msg.ID(), fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":%s,"serverInfo":%s}`,
		at, s.offers(r), s.hub.clientInfo()))
}

// trimmed takes the capabilities out of a greeting that do not pass.
func trimmed(m *wire.Message) (*wire.Message, error) {
	tasks, has, err := m.Member(canon.JoinPointer("/result/capabilities/extensions", gate.TasksExtension))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"tasks", "experimental", "extensions"} {
		if m, err = m.Without("/result/capabilities/" + name); err != nil {
			return nil, err
		}
	}
	if !has {
		return m, nil
	}
	return m.WithMember("/result/capabilities/extensions", fmt.Appendf(nil, "{%q:%s}", gate.TasksExtension, tasks))
}

// offers is what the servers of the session can do together.
func (s *Session) offers(r *request) []byte {
	have := map[string]bool{"tools": true}
	for _, name := range s.servers() {
		l, err := s.connect(r.ctx, name, s.era)
		if err != nil {
			continue
		}
		for _, kind := range []string{"resources", "prompts", "completions", "logging"} {
			caps, _, err := wire.MemberOf(l.hello, "capabilities")
			if err != nil || caps == nil {
				continue
			}
			_, found, err := wire.MemberOf(caps, kind)
			have[kind] = have[kind] || found && err == nil
		}
		have["tasks"] = have["tasks"] || s.era == modern && l.era == modern && extends(l.hello)
	}
	out := []byte(`{"tools":{"listChanged":true}`)
	for _, x := range []struct{ kind, says string }{
		{"resources", `{"listChanged":true,"subscribe":true}`}, {"prompts", `{"listChanged":true}`},
		{"completions", `{}`}, {"logging", `{}`},
	} {
		if have[x.kind] {
			out = fmt.Appendf(out, `,%q:%s`, x.kind, x.says)
		}
	}
	if have["tasks"] {
		out = fmt.Appendf(out, `,"extensions":{%q:{}}`, gate.TasksExtension)
	}
	return append(out, '}')
}

// extends reports whether a greeting declares the tasks extension.
func extends(hello []byte) bool {
	at := hello
	for _, name := range []string{"capabilities", "extensions", gate.TasksExtension} {
		next, found, err := wire.MemberOf(at, name)
		if err != nil || !found {
			return false
		}
		at = next
	}
	return true
}

// discover greets a client of the modern era.
func (s *Session) discover(r *request) *wire.Message {
	if !s.roof.prefixed() {
		if l, err := s.connect(r.ctx, s.roof.only(), modern); err == nil && l.era == modern {
			return s.discovered(r, l)
		}
	}
	m, err := wire.NewResult(r.msg.ID(), fmt.Appendf(nil,
		`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":%s}}`,
		modernVersion, s.offers(r), s.hub.clientInfo()))
	if err != nil {
		s.hub.cfg.Log.Error("a greeting could not be built", "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, textDown)
	}
	return m
}

func (s *Session) discovered(r *request, l *link) *wire.Message {
	m := s.through(r, l, r.msg)
	if m.Kind() != wire.KindResult {
		return m
	}
	m, err := m.WithMember("/result/supportedVersions", fmt.Appendf(nil, "[%q]", modernVersion))
	if err == nil {
		m, err = trimmed(m)
	}
	if err != nil {
		l.server.log.Warn("a greeting was refused", "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, "the server's greeting cannot be read in one way")
	}
	return m
}
