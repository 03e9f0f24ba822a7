package hub

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// bent is a link as clients of one era see it: it puts progress tokens of its
// own into requests, and translates where the server speaks the other era.
type bent struct {
	*link
	client era
}

// Ask sends a client's request; see [gate.Line].
func (b *bent) Ask(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	return b.travel(ctx, m, t, b.link.Ask)
}

// Run asks for the run of a tool; see [gate.Line].
func (b *bent) Run(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	return b.travel(ctx, m, t, b.link.Run)
}

type sender func(context.Context, *wire.Message, gate.Trip) (*wire.Message, error)

func (b *bent) travel(ctx context.Context, m *wire.Message, t gate.Trip, send sender) (*wire.Message, error) {
	out, drop, err := b.tokened(m, t)
	if err == nil {
		defer drop()
		out, err = b.outward(out)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	beside := t.Beside
	t.Beside = func(x *wire.Message) { b.sort(x, beside) }
	answer, err := send(ctx, out, t)
	if err != nil {
		return nil, err
	}
	answer, err = b.inward(m.Method(), answer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrLost, err)
	}
	return answer, nil
}

// tokened gives a request a progress token of ours, if its client gave one.
func (b *bent) tokened(m *wire.Message, t gate.Trip) (*wire.Message, func(), error) {
	raw, found, err := m.Meta(wire.MetaProgressToken)
	if err != nil || !found {
		return m, func() {}, err
	}
	mine := b.tokens.add(raw, t.Beside)
	m, err = m.WithMeta(wire.MetaProgressToken, []byte(mine))
	if err != nil {
		b.tokens.remove(mine)
		return nil, nil, err
	}
	return m, func() { b.tokens.remove(mine) }, nil
}

// sort hands on what the server sends in the course of a request.
func (b *bent) sort(m *wire.Message, beside func(*wire.Message)) {
	if m.Method() == "notifications/progress" {
		b.tokens.deliver(m)
		return
	}
	if beside != nil && fromServer[m.Method()] == m.Kind() {
		beside(m)
		return
	}
	b.other(m)
}

// outward translates a request into the era of the server.
func (b *bent) outward(m *wire.Message) (*wire.Message, error) {
	switch {
	case b.client == b.era:
		return m, nil
	case b.era == modern:
		return m.Versioned(modernVersion, b.server.hub.clientInfo(), []byte("{}"))
	default:
		return m.Unversioned()
	}
}

// inward translates an answer into the era of the client. What clients of the
// legacy era do not know they pass over.
func (b *bent) inward(method string, m *wire.Message) (*wire.Message, error) {
	if b.client == b.era || b.client == legacy || m.Kind() != wire.KindResult {
		return m, nil
	}
	m, err := withDefault(m, "/result/resultType", `"complete"`)
	if err != nil || !cacheable[method] {
		return m, err
	}
	if m, err = withDefault(m, "/result/ttlMs", "0"); err != nil {
		return nil, err
	}
	return withDefault(m, "/result/cacheScope", `"private"`)
}

// cacheable are the methods whose results say how long they hold (MCP
// 2026-07-28, CacheableResult).
var cacheable = map[string]bool{"tools/list": true, "prompts/list": true, "resources/list": true,
	"resources/templates/list": true, "resources/read": true, "server/discover": true}

func withDefault(m *wire.Message, pointer, value string) (*wire.Message, error) {
	if _, found, err := m.Member(pointer); err != nil || found {
		return m, err
	}
	return m.WithMember(pointer, []byte(value))
}
