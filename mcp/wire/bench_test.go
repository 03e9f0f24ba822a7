package wire_test

import (
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// BenchmarkForwardCall is what a gateway does with a call: read it, give it
// an id of its own, put the snapshot in.
func BenchmarkForwardCall(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"get_weather","arguments":{"location":"New York","units":"metric","days":3,"vendor":{"id":"VENDOR-001","tier":"gold"}},"_meta":{"progressToken":"x","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		m, err := wire.Parse(frame, wire.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if m, err = m.WithID(wire.NumberID(99)); err != nil {
			b.Fatal(err)
		}
		if _, err = m.WithArguments([]byte(`{"days":3,"location":"New York"}`)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkForwardLargeResult(b *testing.B) {
	item := `{"type":"text","text":"some text of a normal length, here","n":123.5},`
	frame := []byte(`{"jsonrpc":"2.0","id":12,"result":{"content":[` + strings.TrimSuffix(strings.Repeat(item, 15000), ",") + `]}}`)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		m, err := wire.Parse(frame, wire.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err = m.WithID(wire.NumberID(99)); err != nil {
			b.Fatal(err)
		}
	}
}
