package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// parts are everything that a message says of itself.
type parts struct {
	Kind                                    wire.Kind
	ID, Method, Name, Era                   string
	Params, Arguments, Result, Fault, Frame string
	Meta, Cursor                            string
}

func partsOf(t *testing.T, m *wire.Message) parts {
	t.Helper()
	progress, _, err := m.Meta(wire.MetaProgressToken)
	if err != nil {
		t.Fatal(err)
	}
	flag, _, err := m.Member("/result/isError")
	if err != nil {
		t.Fatal(err)
	}
	return parts{m.Kind(), m.ID().Key(), m.Method(), m.Name(), m.ProtocolVersion(), string(m.Params()), string(m.Arguments()),
		string(m.Result()), string(m.Fault()), string(m.Bytes()), string(progress), string(flag)}
}

// TestEditsAgreeWithAParse holds the edits that do not parse again to a parse
// of their bytes, in every order of members.
func TestEditsAgreeWithAParse(t *testing.T) {
	t.Parallel()
	const meta = `"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1},` + meta + `}}`,
		` { "params" : { "arguments" : {} , ` + meta + ` , "name" : "x" } , "method" : "tools/call" , "id" : "abc" , "jsonrpc" : "2.0" } `,
		`{"params":{` + meta + `,"name":"x","arguments":[1,2]},"id":12345678901234,"jsonrpc":"2.0","method":"tools/call"}`,
		`{"method":"ping","jsonrpc":"2.0","id":1}`,
		`{"id":1,"method":"tools/list","jsonrpc":"2.0","params":{}}`,
		`{"result":{"isError":false,"content":[]},"id":9,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":9,"result":{"isError":true}}`,
		`{"error":{"code":1,"message":"x"},"jsonrpc":"2.0","id":"\u0061"}`,
	} {
		m, err := wire.Parse([]byte(frame), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []wire.ID{wire.NumberID(0), wire.NumberID(-1 << 50), wire.StringID("long enough to move everything"), wire.StringID("")} {
			for _, args := range []string{`{}`, `{"path":"/a/b","n":[1,{"x":null}]}`, ` "text" `} {
				edited, err := m.WithID(id)
				if err == nil && m.Arguments() != nil {
					edited, err = edited.WithArguments([]byte(args))
				}
				if err == nil && m.Arguments() != nil { // and once more, over what was moved
					edited, err = edited.WithID(wire.NumberID(77))
				}
				if err != nil {
					t.Fatal(err)
				}
				again, err := wire.Parse(edited.Bytes(), wire.Limits{})
				if err != nil {
					t.Fatalf("%s: %v", edited.Bytes(), err)
				}
				if diff := cmp.Diff(partsOf(t, again), partsOf(t, edited)); diff != "" {
					t.Errorf("%s: %s", edited.Bytes(), diff)
				}
			}
		}
	}
}

func TestArgumentsThatNestTooDeepAreRefusedInPlace(t *testing.T) {
	t.Parallel()
	m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`), wire.Limits{MaxDepth: 5})
	if err != nil {
		t.Fatal(err)
	}
	for args, ok := range map[string]bool{`{"a":[1]}`: true, `{"a":[{}]}`: true, `{"a":[{"b":[]}]}`: false, `{`: false, `{} {}`: false} {
		out, err := m.WithArguments([]byte(args))
		if (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
		if ok {
			if _, err := wire.Parse(out.Bytes(), wire.Limits{MaxDepth: 5}); err != nil {
				t.Errorf("%s: %v", args, err)
			}
		}
	}
}
