package hub

import (
	"context"
	"errors"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// The ways in which a call that did not come over MCP gets no outcome. Nothing
// was sent in any of them.
var (
	ErrEnded       = errors.New("the gateway is ending")
	ErrUnreachable = errors.New("the server cannot be reached")
)

// Call takes a call that names its tool as the catalog does (server.tool)
// through the Gate to its server. A tool that does not exist for the caller is
// unknown_tool. It fails with ErrEnded, ErrUnreachable, gate.ErrListing, or as
// [verbatim.Gate.Call] does.
func (h *Hub) Call(ctx context.Context, c Caller, call verbatim.Call) (o verbatim.Outcome, err error) {
	call.Trace = c.Trace
	err = h.propose(ctx, c, call.Tool, func(ctx context.Context) error {
		o, err = h.nowhere().Call(ctx, c.Session, call)
		return err
	}, func(ctx context.Context, d *gate.Desk, m *wire.Message) error {
		o, err = d.Propose(ctx, m, call)
		return err
	})
	return o, err
}

// Authorize takes such a call to the permit, for its caller to run at the
// server's own audience; see [verbatim.Gate.Authorize].
func (h *Hub) Authorize(ctx context.Context, c Caller, call verbatim.Call) (a verbatim.Authorization, err error) {
	call.Trace = c.Trace
	err = h.propose(ctx, c, call.Tool, func(ctx context.Context) error {
		a, err = h.nowhere().Authorize(ctx, c.Session, call)
		return err
	}, func(ctx context.Context, d *gate.Desk, m *wire.Message) error {
		a, err = d.Authorize(ctx, m, call)
		return err
	})
	return a, err
}

// Explain walks such a call up to the decision.
func (h *Hub) Explain(ctx context.Context, c Caller, call verbatim.Call) (e verbatim.Explanation, err error) {
	err = h.propose(ctx, c, call.Tool, func(ctx context.Context) error {
		e, err = h.nowhere().Explain(ctx, c.Session, call)
		return err
	}, func(ctx context.Context, d *gate.Desk, m *wire.Message) error {
		e, err = d.Explain(ctx, m, call)
		return err
	})
	return e, err
}

// Done is closed when the hub takes no more calls.
func (h *Hub) Done() <-chan struct{} { return h.end.Done() }

// Reaches reports whether a tool, by its catalog name, can exist for the caller.
func (c Caller) Reaches(tool string) bool {
	server, _, ok := strings.Cut(tool, ".")
	return ok && c.sees(server) && c.may(tool)
}

// nowhere is the gate without a tool, so that even a call of none is decided
// on and recorded.
func (h *Hub) nowhere() *verbatim.Gate { return h.cfg.Gate.Counting(verbatim.Toolset{}, &h.runs) }

// propose finds the server of a tool and hands its desk on; unknown is called
// where the caller has no such tool.
func (h *Hub) propose(ctx context.Context, c Caller, tool string, unknown func(context.Context) error, known func(context.Context, *gate.Desk, *wire.Message) error) error {
	if !h.enter() {
		return ErrEnded
	}
	defer h.runs.Done()
	until := &lasting{Context: ctx, end: h.end}
	defer until.stop()
	ctx = until
	name, upstream, _ := strings.Cut(tool, ".")
	if upstream == "" || !c.Reaches(tool) {
		return unknown(ctx)
	}
	roof, s := h.held(name)
	if s == nil {
		return unknown(ctx)
	}
	defer s.release()
	l, err := s.connect(ctx, modern)
	if err != nil {
		s.log.Warn("a server cannot be reached", "error", err)
		return ErrUnreachable
	}
	closed, err := l.load(ctx, roof, upstream)
	if err != nil {
		s.log.Warn("the server's tools could not be listed", "error", err)
		return gate.ErrListing
	}
	if _, shut := closed[upstream]; shut {
		return unknown(ctx)
	}
	m, err := h.requestOf(upstream)
	if err != nil { // a name that no message can carry
		return unknown(ctx)
	}
	d, err := gate.NewDesk(gate.Config{Gate: h.cfg.Gate, Session: c.Session, Server: name, Page: h.cfg.Page, Log: s.log,
		Allowed: c.may, Identity: s.Identity, Audience: s.Audience, States: h.states, Tasks: &h.tasks}, l.roster, &bent{l, modern}, &s.runs)
	if err != nil {
		return err
	}
	return known(ctx, d, m)
}

// held returns the server of a name, kept open until release, and the roof
// that it stands under; nil if there is none.
func (h *Hub) held(name string) (*roof, *server) {
	for {
		f := h.roof.Load()
		s := f.servers[name]
		if s == nil || s.hold() {
			return f, s
		}
	}
}

// request is a tools/call as a server gets it. That of a call differs in the
// name of the tool only, and is edited from this one rather than built anew.
func (h *Hub) request() (*wire.Message, error) {
	m, err := wire.NewRequest(wire.StringID("call"), "tools/call", []byte(`{"arguments":{},"name":"tool"}`))
	if err != nil {
		return nil, err
	}
	return m.Versioned(modernVersion, h.clientInfo(), []byte("{}"))
}

// maxRequests is how many tools a hub keeps the request of. More are made anew.
const maxRequests = 4096

// requestOf is the request for one tool of a server. It is made once: no caller
// changes it.
func (h *Hub) requestOf(tool string) (*wire.Message, error) {
	if m, found := h.requests.Load(tool); found {
		return m.(*wire.Message), nil
	}
	m, err := h.renamed(tool)
	if err == nil && h.kept.Load() < maxRequests {
		if _, there := h.requests.LoadOrStore(tool, m); !there {
			h.kept.Add(1)
		}
	}
	return m, err
}

func (h *Hub) renamed(tool string) (*wire.Message, error) {
	if err := canon.Check(canon.StringValue(tool)); err != nil {
		return nil, err
	}
	return h.proposed.WithName(tool)
}
