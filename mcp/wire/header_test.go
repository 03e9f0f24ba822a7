package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func modern(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestHeaderValuesRoundTrip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"us-west1":            "us-west1",
		"two words":           "two words",
		"Hello, 世界":           "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":            "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":        "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=":  "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"x\r\nX-Admin: 1":     "=?base64?eA0KWC1BZG1pbjogMQ==?=",
		"=?base64?only start": "=?base64?only start",
		"":                    "",
	} {
		got := wire.EncodeHeader(text)
		if got != want {
			t.Errorf("EncodeHeader(%q) = %q, want %q", text, got, want)
		}
		if back, ok := wire.DecodeHeader(got); !ok || back != text {
			t.Errorf("DecodeHeader(%q) = %q, %v, want %q", got, back, ok, text)
		}
	}
	for _, bad := range []string{"é", "a\x00", "a\nb", "=?base64?%%%?=", "=?base64?YQ?=", "=?base64?YR==?=", "=?base64?/w==?=", "=?base64?Y\tQ==?="} {
		if text, ok := wire.DecodeHeader(bad); ok {
			t.Errorf("DecodeHeader(%q) = %q, want a refusal", bad, text)
		}
	}
}

// G10, G12, G13: header and body agree, absent is an error, encoded names are
// decoded first.
func TestG10HeadersAgreeWithTheBody(t *testing.T) {
	t.Parallel()
	weather := modern("tools/call", `"name":"get_weather"`)
	legacy := call + `{"name":"get_weather"}}`
	for _, tt := range []struct {
		name, frame string
		header      http.Header
		ok          bool
	}{
		{"all agree", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "get_weather"), true},
		{"encoded name (G13)", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?Z2V0X3dlYXRoZXI=?="), true},
		{"encoded method", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", wireWrapped, "Mcp-Name", "get_weather"), false},
		{"invalid Base64 (G13)", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?!?="), false},
		{"other name (G10)", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "delete_file"), false},
		{"name in another case", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "Get_Weather"), false},
		{"other method", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "get_weather"), false},
		{"other version", weather, headers("MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/call", "Mcp-Name", "get_weather"), false},
		{"name twice", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "get_weather", "Mcp-Name", "get_weather"), false},
		{"no headers (G12)", weather, headers(), false},
		{"no name header (G12)", weather, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call"), false},
		{"no name on either side (G12)", modern("resources/read", ""), headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "resources/read"), false},
		{"uri", modern("resources/read", `"uri":"file:///a"`), headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "resources/read", "Mcp-Name", "file:///a"), true},
		{"no name is needed", modern("tools/list", ""), headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"), true},
		{"a name that the body lacks", modern("tools/list", ""), headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "x"), false},
		{"task id where it is there", modern("tasks/get", `"taskId":"k"`), headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tasks/get", "Mcp-Name", "k"), true},
		{"modern header on a body without version", legacy, headers("MCP-Protocol-Version", "2026-07-28"), false},
		{"legacy without headers", legacy, headers(), true},
		{"legacy with its version", legacy, headers("MCP-Protocol-Version", "2025-11-25"), true},
		{"legacy with a wrong name", legacy, headers("MCP-Protocol-Version", "2025-11-25", "Mcp-Name", "delete_file"), false},
		{"legacy with two versions", legacy, headers("MCP-Protocol-Version", "2025-11-25", "MCP-Protocol-Version", "2026-07-28"), false},
		{"response of an earlier revision", `{"jsonrpc":"2.0","id":1,"result":{}}`, headers("MCP-Protocol-Version", "2025-11-25"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := parse(t, tt.frame).CheckHeaders(tt.header)
			if (err == nil) != tt.ok {
				t.Fatalf("CheckHeaders = %v, want ok = %v", err, tt.ok)
			}
			var fault *wire.Error
			if err != nil && (!asFault(err, &fault) || fault.Code != wire.CodeHeaderMismatch || string(fault.ID.Raw()) != "1") {
				t.Errorf("refusal = %+v", err)
			}
		})
	}
}

const wireWrapped = "=?base64?dG9vbHMvY2FsbA==?="

func TestOutboundHeadersComeFromTheBody(t *testing.T) {
	t.Parallel()
	got, err := parse(t, modern("tools/call", `"name":"wetter_für"`)).Headers()
	if err != nil {
		t.Fatal(err)
	}
	want := []wire.Header{
		{Name: "Mcp-Protocol-Version", Value: "2026-07-28"},
		{Name: "Mcp-Method", Value: "tools/call"},
		{Name: "Mcp-Name", Value: "=?base64?d2V0dGVyX2bDvHI=?="},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, frame := range []string{
		call + `{"name":"t"}}`,
		modern("resources/read", ""),
		modern(`a\nX-Admin: 1`, ""),
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		if list, err := parse(t, frame).Headers(); err == nil {
			t.Errorf("Headers of %s = %v, want a refusal", frame, list)
		}
	}
}

// G29: a schema can ask for Mcp-Param-* headers only, and no value can start
// another header.
func TestG29MirrorsAreConfined(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Authorization"},"deep":{"properties":{"n/":{"type":["integer","null"],"x-mcp-header":"N"}}},"on":{"type":"boolean","x-mcp-header":"On"},"x-mcp-header":{"type":"object","default":{"x-mcp-header":"data"}}}}`
	mirrors, err := wire.Mirrors([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, modern("tools/call", `"name":"t","arguments":{"region":"x\r\nX-Admin: 1","deep":{"n/":4.2e1},"on":null}`))
	got, err := m.MirrorHeaders(mirrors)
	if err != nil {
		t.Fatal(err)
	}
	want := []wire.Header{
		{Name: "Mcp-Param-Authorization", Value: "=?base64?eA0KWC1BZG1pbjogMQ==?="},
		{Name: "Mcp-Param-N", Value: "42"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		name   string
		header http.Header
		ok     bool
	}{
		{"equal", headers("mcp-param-authorization", want[0].Value, "Mcp-Param-N", "42"), true},
		{"numerically equal", headers("mcp-param-authorization", want[0].Value, "Mcp-Param-N", "42.0"), true},
		{"other number", headers("mcp-param-authorization", want[0].Value, "Mcp-Param-N", "43"), false},
		{"missing", headers("Mcp-Param-N", "42"), false},
		{"twice", headers("mcp-param-authorization", want[0].Value, "Mcp-Param-N", "42", "Mcp-Param-N", "42"), false},
		{"there though the value is null", headers("mcp-param-authorization", want[0].Value, "Mcp-Param-N", "42", "Mcp-Param-On", "true"), false},
	} {
		if err := m.CheckMirrorHeaders(mirrors, tt.header); (err == nil) != tt.ok {
			t.Errorf("%s: CheckMirrorHeaders = %v, want ok = %v", tt.name, err, tt.ok)
		}
	}
	for _, args := range []string{`{"region":{}}`, `{"region":1.5}`, `{"region":9007199254740993}`, `{"region":"\ud800"}`, `{"region":"a","Region":"b"}`} {
		frame := modern("tools/call", `"name":"t","arguments":`+args)
		if list, err := parse(t, frame).MirrorHeaders(mirrors); err == nil {
			t.Errorf("MirrorHeaders of %s = %v, want a refusal", args, list)
		}
		if err := parse(t, frame).CheckMirrorHeaders(mirrors, headers()); err == nil {
			t.Errorf("CheckMirrorHeaders of %s passed", args)
		}
	}
}

func TestMirrorsRefuseInvalidKeywords(t *testing.T) {
	t.Parallel()
	const good = `{"type":"string","x-mcp-header":"A"}`
	for name, schema := range map[string]string{
		"not JSON":             `{`,
		"empty name":           `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		"no token":             `{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB"}}}`,
		"space":                `{"properties":{"a":{"type":"string","x-mcp-header":"A B"}}}`,
		"no string":            `{"properties":{"a":{"type":"string","x-mcp-header":1}}}`,
		"number":               `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		"two types":            `{"properties":{"a":{"type":["string","integer"],"x-mcp-header":"A"}}}`,
		"no type":              `{"properties":{"a":{"x-mcp-header":"A"}}}`,
		"name twice":           `{"properties":{"a":` + good + `,"b":{"type":"string","x-mcp-header":"a"}}}`,
		"at the root":          `{"type":"string","x-mcp-header":"A"}`,
		"below items":          `{"properties":{"a":{"items":{"properties":{"b":` + good + `}}}}}`,
		"below oneOf":          `{"oneOf":[{"properties":{"a":` + good + `}}]}`,
		"below $defs":          `{"$defs":{"a":` + good + `}}`,
		"below unknown":        `{"later":{"a":{"b":` + good + `}}}`,
		"two properties":       `{"properties":{},"properties":{"a":` + good + `}}`,
		"one property twice":   `{"properties":{"a":` + good + `,"a":{}}}`,
		"keyword twice":        `{"properties":{"a":{"type":"string","x-mcp-header":"A","x-mcp-header":"B"}}}`,
		"keyword in caps":      `{"properties":{"a":{"type":"string","X-MCP-Header":"A"}}}`,
		"type twice":           `{"properties":{"a":{"type":"number","type":"string","x-mcp-header":"A"}}}`,
		"nested in array list": `{"allOf":[[{"properties":{"a":` + good + `}}]]}`,
	} {
		if got, err := wire.Mirrors([]byte(schema)); err == nil {
			t.Errorf("%s: Mirrors = %v, want a refusal", name, got)
		}
	}
	for _, schema := range []string{`{}`, `true`, `{"enum":[{"x-mcp-header":1}],"properties":{"a":{"const":{"x-mcp-header":1}}}}`} {
		if got, err := wire.Mirrors([]byte(schema)); err != nil || len(got) != 0 {
			t.Errorf("Mirrors(%s) = %v, %v, want none", schema, got, err)
		}
	}
}

func TestMirrorsOfReferenceServers(t *testing.T) {
	t.Parallel()
	for name, body := range suiteFiles(t, "mcp-reference-servers/*.tools.json") {
		list, err := wire.ToolDefinitions(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if got, err := wire.Mirrors(tool.InputSchema); err != nil || len(got) != 0 {
				t.Errorf("%s %s: Mirrors = %v, %v", name, tool.Name, got, err)
			}
		}
	}
}

func TestTextDecodesOneString(t *testing.T) {
	t.Parallel()
	if text, ok := wire.Text([]byte(` "a\u0062" `)); !ok || text != "ab" {
		t.Errorf("Text = %q, %v", text, ok)
	}
	for _, raw := range []string{``, `1`, `"\ud800"`, `"a" "b"`, `["a"]`, strings.Repeat(`"`, 3)} {
		if text, ok := wire.Text([]byte(raw)); ok {
			t.Errorf("Text(%s) = %q, want a refusal", raw, text)
		}
	}
}
