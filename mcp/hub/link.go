package hub

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// notThere reports whether nothing answers at all.
func notThere(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.Is(err, execute.ErrNotRun) && (errors.As(err, &op) || errors.As(err, &dns))
}

// other takes what a server sends beside all requests.
func (l *link) other(m *wire.Message) {
	switch m.Method() {
	case "notifications/progress":
		l.tokens.deliver(m)
	case "notifications/tools/list_changed":
		l.changed()
		l.news(m)
	case "notifications/resources/list_changed", "notifications/prompts/list_changed", "notifications/resources/updated":
		l.news(m)
	default:
		if x := l.server.session; x != nil && (fromServer[m.Method()] == m.Kind() || m.Method() == "notifications/cancelled") {
			x.aside(l, m)
			return
		}
		l.unheard(m)
	}
}

// unheard is what becomes of what no client can be told.
func (l *link) unheard(m *wire.Message) {
	if m.Kind() == wire.KindRequest {
		l.reply(m)
		return
	}
	l.server.log.Debug("a message of the server was dropped", "method", m.Method())
}

// news tells those who may hear of the server.
func (l *link) news(m *wire.Message) {
	if x := l.server.session; x != nil {
		x.hear(l.server.Name, m)
		return
	}
	l.server.hub.broadcast(l.server.Name, m)
}

// reply answers what a server asks of nobody in particular.
func (l *link) reply(m *wire.Message) {
	a, err := wire.NewResult(m.ID(), []byte("{}"))
	if m.Method() != "ping" {
		a, err = wire.NewError(m.ID(), wire.CodeMethodNotFound, "this method does not pass the gateway", nil)
	}
	if err != nil {
		l.server.log.Error("an answer could not be built", "error", err)
		return
	}
	l.Reply(a)
}

func (l *link) changed() {
	l.roster.Stale()
}

// load makes sure that the tools are known, looking again for one that is
// not, and returns those that are not offered. name may be "".
func (l *link) load(ctx context.Context, f *roof, name string) (map[string]string, error) {
	err := l.roster.Load(ctx)
	if err == nil && name != "" {
		err = l.roster.LoadFor(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	tools, listing := l.roster.Tools()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed == nil || l.listing != listing || l.prefix != f.prefixed() {
		l.closed, l.shapes = f.closed(l.server.Name, tools), map[string][]wire.Mirror{}
		l.listing, l.prefix = listing, f.prefixed()
		l.shape(tools)
		for name, why := range l.closed {
			l.server.log.Warn("a tool is not offered", "tool", strconv.Quote(name), "reason", why)
		}
	}
	return l.closed, nil
}

// shape finds the arguments that are repeated in headers.
func (l *link) shape(tools []wire.Tool) {
	for _, t := range tools {
		mirrors, err := wire.Mirrors(t.InputSchema)
		if err != nil {
			l.closed[t.Name] = "its schema asks for headers that MCP does not allow"
			continue
		}
		if len(mirrors) > 0 {
			l.shapes[t.Name] = mirrors
		}
	}
}

// mirrors returns what is repeated in headers of a call of a tool.
func (l *link) mirrors(tool string) []wire.Mirror {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shapes[tool]
}

// tokens are the progress tokens of requests under way. Clients choose theirs
// alone, so that two may choose one; the server sees ours.
type tokens struct {
	mu   sync.Mutex
	next int64
	live map[string]ticket
}

type ticket struct {
	raw    []byte // the client's token
	beside func(*wire.Message)
}

// add returns the token that the server sees.
func (t *tokens) add(raw []byte, beside func(*wire.Message)) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	mine := strconv.FormatInt(t.next, 10)
	t.live[mine] = ticket{raw, beside}
	return mine
}

func (t *tokens) remove(mine string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, mine)
}

// deliver gives progress to the request that it belongs to, under the token
// of its client. Progress that nobody asked for goes nowhere.
func (t *tokens) deliver(m *wire.Message) {
	raw, found, err := m.Member("/params/progressToken")
	if err != nil || !found {
		return
	}
	t.mu.Lock()
	to, ok := t.live[string(raw)]
	t.mu.Unlock()
	if !ok || to.beside == nil {
		return
	}
	if out, err := m.WithMember("/params/progressToken", to.raw); err == nil {
		to.beside(out)
	}
}

var _ gate.Line = (*bent)(nil)
