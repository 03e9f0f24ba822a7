package hub

import (
	"bytes"
	"context"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Offered is one tool as a model is told of it.
type Offered struct {
	Name        string // server.tool
	Description string // the server's own text; "" if it has none
	InputSchema []byte // an object of strict JSON: the catalog's proposal schema where there is one
}

// Tools lists the tools that exist for a caller, as tools/list shows them, by
// the names of the catalog. A server that cannot be reached, or whose list
// cannot be read in one way, is left out. It fails with ErrEnded.
func (h *Hub) Tools(ctx context.Context, c Caller) ([]Offered, error) {
	if !h.enter() {
		return nil, ErrEnded
	}
	defer h.runs.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.end, cancel)()
	out := []Offered{}
	for _, name := range h.roof.Load().names {
		if !c.sees(name) {
			continue
		}
		roof, s := h.held(name)
		if s == nil {
			continue // it was taken away just now
		}
		some, err := s.offered(ctx, roof, c)
		s.release()
		if err != nil {
			s.log.Warn("the server is left out of a list", "method", "tools/list", "error", err)
			continue
		}
		out = append(out, some...)
	}
	return out, nil
}

// offered are the tools of one server that a caller may know.
func (s *server) offered(ctx context.Context, f *roof, c Caller) ([]Offered, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Greeting)
	defer cancel()
	l, err := s.connect(ctx, modern)
	if err != nil {
		return nil, err
	}
	closed, err := l.load(ctx, f, "")
	if err != nil {
		return nil, gate.ErrListing
	}
	var raw [][]byte
	tools, _ := l.roster.Tools()
	for _, t := range tools {
		raw = append(raw, t.Raw)
	}
	listed, err := wire.NewResult(wire.NumberID(0), append(append([]byte(`{"tools":[`), bytes.Join(raw, []byte(","))...), "]}"...))
	if err == nil {
		listed, err = l.roster.Show(listed)
	}
	if err != nil {
		return nil, err
	}
	shown, err := wire.ToolDefinitions(listed.Result())
	if err != nil {
		return nil, err
	}
	var out []Offered
	for _, t := range shown.Tools {
		if _, shut := closed[t.Name]; shut || !c.may(s.Name+"."+t.Name) {
			continue
		}
		if _, err := canon.Decode(t.InputSchema, canon.Options{}); err != nil {
			return nil, err
		}
		description, _ := textOf(t.Raw, "description")
		out = append(out, Offered{Name: s.Name + "." + t.Name, Description: description, InputSchema: t.InputSchema})
	}
	return out, nil
}
