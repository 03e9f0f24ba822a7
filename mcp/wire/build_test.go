package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func TestBuiltMessages(t *testing.T) {
	t.Parallel()
	id, _ := wire.ParseID([]byte(`"\u0061"`))
	for _, tt := range []struct {
		name  string
		build func() (*wire.Message, error)
		want  string
	}{
		{"request", func() (*wire.Message, error) {
			return wire.NewRequest(wire.NumberID(3), "tools/list", []byte(` {"cursor":"c"} `))
		}, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"c"}}`},
		{"notification", func() (*wire.Message, error) { return wire.NewNotification("notifications/x", nil) }, `{"jsonrpc":"2.0","method":"notifications/x"}`},
		{"result repeats the id's bytes", func() (*wire.Message, error) { return wire.NewResult(id, []byte(`{"n":1e400}`)) }, `{"jsonrpc":"2.0","id":"\u0061","result":{"n":1e400}}`},
		{"error", func() (*wire.Message, error) {
			return wire.NewError(id, wire.CodeMethodNotFound, "no \"such\"\nmethod", []byte(`{"a":1}`))
		}, `{"jsonrpc":"2.0","id":"\u0061","error":{"code":-32601,"message":"no \"such\"\nmethod","data":{"a":1}}}`},
		{"error without id leaves it out", func() (*wire.Message, error) { return wire.NewError(wire.ID{}, wire.CodeParse, "x", nil) }, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`},
		{"invalid UTF-8 in our own text is replaced", func() (*wire.Message, error) { return wire.NewError(wire.ID{}, wire.CodeInternal, "a\xff", nil) }, `{"jsonrpc":"2.0","error":{"code":-32603,"message":"a` + "\uFFFD" + `"}}`},
		{"tool result", func() (*wire.Message, error) {
			return wire.NewToolResult(wire.NumberID(1), wire.ToolResult{Text: "done"})
		}, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}`},
		{"tool result with a text for programs", func() (*wire.Message, error) {
			return wire.NewToolResult(wire.NumberID(1), wire.ToolResult{Text: "no", Data: `{"code":"denied"}`, IsError: true})
		}, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"},{"type":"text","text":"{\"code\":\"denied\"}"}],"isError":true}}`},
		{"tool result with everything", func() (*wire.Message, error) {
			return wire.NewToolResult(wire.NumberID(1), wire.ToolResult{
				Text: "no", IsError: true, Structured: []byte(`{"code":"denied"}`), ResultType: "complete", Meta: []byte(`{"k":1}`),
			})
		}, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":{"code":"denied"},"_meta":{"k":1}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := tt.build()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(m.Bytes())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBuildersRefuse(t *testing.T) {
	t.Parallel()
	one := wire.NumberID(1)
	for name, build := range map[string]func() (*wire.Message, error){
		"a request without id":      func() (*wire.Message, error) { return wire.NewRequest(wire.ID{}, "m", nil) },
		"a request without method":  func() (*wire.Message, error) { return wire.NewRequest(one, "", nil) },
		"params that are no object": func() (*wire.Message, error) { return wire.NewRequest(one, "m", []byte(`[]`)) },
		"params that close early":   func() (*wire.Message, error) { return wire.NewRequest(one, "m", []byte(`{},"x":{}`)) },
		"a result without id":       func() (*wire.Message, error) { return wire.NewResult(wire.ID{}, []byte(`{}`)) },
		"no result":                 func() (*wire.Message, error) { return wire.NewResult(one, nil) },
		"a result that is not JSON": func() (*wire.Message, error) { return wire.NewResult(one, []byte(`{`)) },
		"data that closes early":    func() (*wire.Message, error) { return wire.NewError(one, wire.CodeInternal, "m", []byte(`1}`)) },
		"structured that closes early": func() (*wire.Message, error) {
			return wire.NewToolResult(one, wire.ToolResult{Structured: []byte(`{},"isError":false`)})
		},
	} {
		if m, err := build(); err == nil || m != nil {
			t.Errorf("%s was built: %s", name, m.Bytes())
		}
	}
}
