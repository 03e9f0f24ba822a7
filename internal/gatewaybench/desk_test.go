//go:build bench && linux

package gatewaybench_test

import (
	"context"
	"sync"
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// echo is a line to a server that answers at once.
type echo struct{}

func (echo) Ask(_ context.Context, m *wire.Message, _ gate.Trip) (*wire.Message, error) {
	m, err := m.WithID(wire.NumberID(1 << 50))
	if err != nil {
		return nil, err
	}
	return wire.Parse(serverAnswer(m).Bytes(), wire.Limits{})
}

func (e echo) Run(ctx context.Context, m *wire.Message, t gate.Trip) (*wire.Message, error) {
	return e.Ask(ctx, m, t)
}

func (echo) Prompt(int) bool { return true }

// BenchmarkRead is an allowed read without any transport: what the gateway
// itself computes, with its store.
func BenchmarkRead(b *testing.B) {
	for _, era := range []string{legacy, modern} {
		b.Run(era, func(b *testing.B) { benchmarkRead(b, era) })
	}
}

func benchmarkRead(b *testing.B, era string) {
	b.Setenv(dirVar, b.TempDir())
	g, tools, err := newGate()
	if err != nil {
		b.Fatal(err)
	}
	line := echo{}
	roster := gate.NewRoster("s", tools, func(ctx context.Context, cursor string) (*wire.Message, error) {
		m, err := gate.ListTools(cursor)
		if err != nil {
			return nil, err
		}
		return line.Ask(ctx, m, gate.Trip{})
	})
	desk, err := gate.NewDesk(gate.Config{Gate: g, Session: session, Server: "s"}, roster, line, new(sync.WaitGroup))
	if err != nil {
		b.Fatal(err)
	}
	frame := []byte(callOf("look", era, "7"))
	b.ReportAllocs()
	for b.Loop() {
		m, err := wire.Parse(append([]byte(nil), frame...), wire.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if err := expected(string(desk.Call(b.Context(), m, gate.Trip{}).Bytes()), nil); err != nil {
			b.Fatal(err)
		}
	}
}
