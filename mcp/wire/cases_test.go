package wire_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// relay writes a frame, reads it and gives it a new id, as a gateway between
// two streams does.
func relay(t *testing.T, frame string, id wire.ID) *wire.Message {
	t.Helper()
	var pipe bytes.Buffer
	if err := wire.NewWriter(&pipe).Write(parse(t, frame)); err != nil {
		t.Fatal(err)
	}
	m, err := wire.NewReader(&pipe, wire.Limits{}).Read()
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.WithID(id); err != nil {
		t.Fatal(err)
	}
	return m
}

// E01, E02, V02: integers beyond 2^53 survive in both directions.
func TestE02LargeIntegersSurvive(t *testing.T) {
	t.Parallel()
	result := `{"structuredContent":{"id":9007199254740993,"x":12345678901234567890.10},"content":[]}`
	got := relay(t, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`, wire.NumberID(9))
	if string(got.Result()) != result {
		t.Errorf("result = %s", got.Result())
	}
	args := `{"id":9007199254740993}`
	sent := relay(t, call+`{"name":"t","arguments":`+args+`}}`, wire.NumberID(9))
	if string(sent.Arguments()) != args {
		t.Errorf("arguments = %s", sent.Arguments())
	}
}

// E08, V07: a reader that folds case sees the same call as we do.
func TestE08CaseTwinsCannotSmuggle(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{
		call + `{"name":"read","NAME":"delete"}}`,
		call + `{"name":"read","arguments":{},"ARGUMENTS":{"x":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"},"param` + "\u017f" + `":{"name":"delete"}}`,
	} {
		if err := refused(t, []byte(frame), wire.Limits{}); err.Rule != wire.RuleCaseVariant {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

// V03, V04: what stands inside arguments is handed on raw for the arguments
// decoder to refuse; nothing is repaired on the way.
func TestV03ArgumentsReachTheDecoderRaw(t *testing.T) {
	t.Parallel()
	for _, args := range []string{`{"id":1,"id":2}`, `{"id":1,"note":"\ud800"}`, `[]`, `null`, `"{}"`, `{"a":-0}`} {
		m := parse(t, call+`{"name":"t","arguments":`+args+`}}`)
		if string(m.Arguments()) != args {
			t.Errorf("arguments = %s, want %s", m.Arguments(), args)
		}
	}
}

// G08: the era is a property of each request.
func TestG08EraIsChosenPerRequest(t *testing.T) {
	t.Parallel()
	modern := parse(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	legacy := parse(t, call+`{"name":"t","arguments":{}}}`)
	if modern.ProtocolVersion() != "2026-07-28" || legacy.ProtocolVersion() != "" {
		t.Errorf("versions = %q, %q", modern.ProtocolVersion(), legacy.ProtocolVersion())
	}
}

// G16: the answer to a renumbered call goes back under the caller's own
// bytes, and 101 is not "101".
func TestG16IDsAreMappedBack(t *testing.T) {
	t.Parallel()
	owners := make(map[string]wire.ID)
	var sent []*wire.Message
	for i, raw := range []string{`101`, `"101"`, `"\u0031"`} {
		own := wire.NumberID(int64(i + 1))
		m := parse(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t"}}`, raw))
		owners[own.Key()] = m.ID()
		renumbered, err := m.WithID(own)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, renumbered)
	}
	for i, want := range []string{`101`, `"101"`, `"\u0031"`} {
		answer := parse(t, fmt.Sprintf(`{"result":{"id":7},"jsonrpc":"2.0","id":%s}`, sent[i].ID().Raw()))
		back, err := answer.WithID(owners[answer.ID().Key()])
		if err != nil {
			t.Fatal(err)
		}
		if string(back.Bytes()) != `{"result":{"id":7},"jsonrpc":"2.0","id":`+want+`}` {
			t.Errorf("answer = %s", back.Bytes())
		}
	}
	cancel := parse(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":101,"reason":"x"}}`)
	moved, err := cancel.WithMember("/params/requestId", wire.NumberID(4).Raw())
	if err != nil || string(moved.Params()) != `{"requestId":4,"reason":"x"}` {
		t.Errorf("cancel = %s, %v", moved.Bytes(), err)
	}
}

// G25: every field of a result passes, also unknown ones.
func TestG25UnknownResultFieldsPass(t *testing.T) {
	t.Parallel()
	result := `{"content":[{"type":"text","text":"a","new":[1]},{"type":"hologram"}],"structuredContent":{"x":1},"later":{"a":1,"a":2,"A":"\ud800"}}`
	if got := relay(t, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`, wire.NumberID(2)); string(got.Result()) != result {
		t.Errorf("result = %s", got.Result())
	}
}

// G35: a large result passes up to the limit and is refused, not cut, above.
func TestG35LargeResultIsWholeOrRefused(t *testing.T) {
	t.Parallel()
	frame := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 318_000) + `"}]}}`
	if got := relay(t, frame, wire.NumberID(1)); string(got.Bytes()) != frame {
		t.Error("a large result was changed")
	}
	err := refused(t, []byte(frame), wire.Limits{MaxFrame: 300_000})
	if err.Rule != wire.RuleSize || string(err.ID.Raw()) != "1" || err.Answerable {
		t.Errorf("refusal = %+v", err)
	}
}
