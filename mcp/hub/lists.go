package hub

import (
	"bytes"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// list is one kind of list: where it stands in a result, and how one server's
// is edited for a session.
type list struct {
	pointer string
	edit    func(s *Session, l *link, answer *wire.Message) (*wire.Message, error)
}

var (
	toolList     = list{"/result/tools", (*Session).showTools}
	resourceList = list{"/result/resources", func(s *Session, l *link, a *wire.Message) (*wire.Message, error) {
		return s.keepURIs(l, a, "/result/resources", "uri")
	}}
	templateList = list{"/result/resourceTemplates", func(s *Session, l *link, a *wire.Message) (*wire.Message, error) {
		return s.keepURIs(l, a, "/result/resourceTemplates", "uriTemplate")
	}}
	promptList = list{"/result/prompts", (*Session).showPrompts}
)

func (s *Session) tools(r *request) *wire.Message     { return s.listed(r, toolList) }
func (s *Session) resources(r *request) *wire.Message { return s.listed(r, resourceList) }
func (s *Session) templates(r *request) *wire.Message { return s.listed(r, templateList) }
func (s *Session) prompts(r *request) *wire.Message   { return s.listed(r, promptList) }

// listed answers with the list of the one server, page by page, or with those
// of all servers in one.
func (s *Session) listed(r *request, kind list) *wire.Message {
	if !s.roof.prefixed() {
		return s.onePage(r, kind)
	}
	if _, found, err := r.msg.Member("/params/cursor"); found || err != nil {
		return s.failure(r.msg.ID(), wire.CodeInvalidParams, "this list has one page")
	}
	var items [][]byte
	for _, name := range s.servers() {
		more, err := s.all(r, name, kind)
		if err != nil {
			s.roof.servers[name].log.Warn("the server is left out of a list", "method", r.msg.Method(), "error", err)
			continue
		}
		items = append(items, more...)
	}
	return s.joined(r, kind, items)
}

func (s *Session) onePage(r *request, kind list) *wire.Message {
	r, cancel := r.within(s.roof.servers[s.roof.only()].Greeting)
	defer cancel()
	l, err := s.connect(r.ctx, s.roof.only(), s.era)
	if err != nil {
		return s.failure(r.msg.ID(), wire.CodeInternal, textDown)
	}
	answer := s.through(r, l, r.msg)
	if answer.Kind() != wire.KindResult {
		return answer
	}
	shown, err := kind.edit(s, l, answer)
	if err == nil && s.era == modern {
		shown, err = private(shown)
	}
	if err != nil {
		l.server.log.Warn("a list was refused", "method", r.msg.Method(), "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, "the server's list cannot be read in one way")
	}
	return shown
}

// private: what is shown depends on who asks.
func private(m *wire.Message) (*wire.Message, error) {
	return m.WithMember("/result/cacheScope", []byte(`"private"`))
}

// maxPages bounds a server that never ends its list.
const maxPages = 200

// all returns the items of every page of one server, edited for the session.
func (s *Session) all(r *request, name string, kind list) ([][]byte, error) {
	r, cancel := r.within(s.roof.servers[name].Greeting)
	defer cancel()
	l, err := s.connect(r.ctx, name, s.era)
	if err != nil {
		return nil, err
	}
	var items [][]byte
	cursor := ""
	for range maxPages {
		m, err := r.msg.WithoutOwnMeta()
		if err == nil && cursor != "" {
			m, err = m.WithMember("/params/cursor", canon.StringValue(cursor).Canonical())
		}
		if err != nil {
			return nil, err
		}
		answer, err := (&bent{l, s.era}).Ask(r.ctx, m, gate.Trip{})
		if err != nil {
			return nil, err
		}
		if answer.Kind() != wire.KindResult { // it has no such list
			return nil, nil
		}
		if answer, err = kind.edit(s, l, answer); err != nil {
			return nil, err
		}
		page, err := answer.Elements(kind.pointer)
		if err != nil {
			return nil, err
		}
		items = append(items, page...)
		raw, found, err := answer.Member("/result/nextCursor")
		if err != nil || !found {
			return items, err
		}
		if cursor, found = wire.Text(raw); !found || cursor == "" {
			return items, nil
		}
	}
	return nil, errEndless
}

func (s *Session) joined(r *request, kind list, items [][]byte) *wire.Message {
	var b bytes.Buffer
	b.WriteString(`{"` + kind.pointer[len("/result/"):] + `":[`)
	b.Write(bytes.Join(items, []byte(",")))
	b.WriteString(`]`)
	if s.era == modern {
		b.WriteString(`,"resultType":"complete","ttlMs":0,"cacheScope":"private"`)
	}
	b.WriteString(`}`)
	m, err := wire.NewResult(r.msg.ID(), b.Bytes())
	if err != nil {
		s.hub.cfg.Log.Error("a list could not be built", "error", err)
		return s.failure(r.msg.ID(), wire.CodeInternal, "the list could not be built")
	}
	return m
}

// showTools leaves out what is closed or not for this session, and names the
// rest as the client sees it.
func (s *Session) showTools(l *link, answer *wire.Message) (*wire.Message, error) {
	closed, err := l.load(s.end, s.roof, "")
	if err != nil {
		return nil, err
	}
	shown, err := l.roster.Show(answer)
	if err != nil {
		return nil, err
	}
	server := l.server.Name
	return shown.FilterTools(func(t wire.Tool) (string, bool) {
		_, shut := closed[t.Name]
		return s.roof.shown(server, t.Name), !shut && s.caller.may(server+"."+t.Name)
	})
}

func (s *Session) keepURIs(l *link, answer *wire.Message, pointer, member string) (*wire.Message, error) {
	return answer.WithElements(pointer, func(raw []byte) bool {
		uri, ok := textOf(raw, member)
		if !ok {
			return false
		}
		if member == "uriTemplate" {
			uri = gate.Expanded(uri)
		}
		owner, ok := s.roof.resource(&s.caller, uri)
		return ok && owner == l.server.Name
	})
}

// showPrompts leaves out what no rule names and gives the rest their names.
func (s *Session) showPrompts(l *link, answer *wire.Message) (*wire.Message, error) {
	server := l.server
	kept, err := answer.WithElements("/result/prompts", func(raw []byte) bool {
		name, ok := textOf(raw, "name")
		return ok && anyMatches(server.Prompts, name)
	})
	if err != nil || !s.roof.prefixed() {
		return kept, err
	}
	return renamed(kept, func(name string) string { return s.roof.shown(server.Name, name) })
}
