package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func TestParseReadsEveryKind(t *testing.T) {
	t.Parallel()
	type view struct{ Kind, ID, Method, Name, Params, Arguments, Result, Fault string }
	for _, tt := range []struct {
		name, frame string
		want        view
	}{
		{
			"request with a number id",
			` {"jsonrpc":"2.0", "id": 7,"method":"tools/call","params":{"name":"s.t","arguments":{"n": 9007199254740993}}}` + "\r\n",
			view{"request", "7", "tools/call", "s.t", `{"name":"s.t","arguments":{"n": 9007199254740993}}`, `{"n": 9007199254740993}`, "", ""},
		},
		{
			"escaped names and strings mean what they say",
			`{"jsonrpc":"2.0","\u0069d":"\u0061","method":"tools\/call","p\u0061rams":{"n\u0061me":"\ud83d\ude00"}}`,
			view{"request", `"\u0061"`, "tools/call", "😀", `{"n\u0061me":"\ud83d\ude00"}`, "", "", ""},
		},
		{
			"arguments of any kind are handed on raw",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":null}}`,
			view{"request", "1", "tools/call", "t", `{"name":"t","arguments":null}`, "null", "", ""},
		},
		{
			"notification",
			`{"method":"notifications/initialized","jsonrpc":"2.0"}`,
			view{"notification", "", "notifications/initialized", "", "", "", "", ""},
		},
		{
			"a name that is no string is data outside tools/call",
			`{"jsonrpc":"2.0","method":"x","params":{"name":[1]}}`,
			view{"notification", "", "x", "", `{"name":[1]}`, "", "", ""},
		},
		{
			"result with the id last",
			`{"result":{"a":1,"a":2,"A":3},"jsonrpc":"2.0","id":-3}`,
			view{"result", "-3", "", "", "", "", `{"a":1,"a":2,"A":3}`, ""},
		},
		{
			"error",
			`{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"m","data":1e400}}`,
			view{"error", `"x"`, "", "", "", "", "", `{"code":-32603,"message":"m","data":1e400}`},
		},
		{
			"error without id",
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`,
			view{"error", "", "", "", "", "", "", `{"code":-32700,"message":"m"}`},
		},
		{
			"error with a null id (JSON-RPC 2.0 section 5)",
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`,
			view{"error", "", "", "", "", "", "", `{"code":-32700,"message":"m"}`},
		},
		{
			"unknown members of the envelope stay",
			`{"jsonrpc":"2.0","id":1,"method":"ping","x":{"trace":1}}`,
			view{"request", "1", "ping", "", "", "", "", ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, tt.frame)
			got := view{
				m.Kind().String(), string(m.ID().Raw()), m.Method(), m.Name(),
				string(m.Params()), string(m.Arguments()), string(m.Result()), string(m.Fault()),
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if string(m.Bytes()) != tt.frame {
				t.Errorf("Bytes() = %q, want the frame as it was read", m.Bytes())
			}
		})
	}
}

const (
	call     = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`
	metaCall = call + `{"name":"t","_meta":`
)

func TestParseRefusesHostileFrames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, frame string
		code        wire.Code
		rule        wire.Rule
		pointer     string
		id          string
		answerable  bool
	}{
		{"empty", ``, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"byte order mark", "\ufeff{}", wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"two values", `{} {}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"trailing comma", `{"id":1,}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"raw newline in a string", "{\"id\":\"a\nb\"}", wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"raw NUL", "{\"id\":\"a\x00\"}", wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"comment", `{/**/}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"bad escape", `{"\x41":1}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"short escape", `{"\u00":1}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"leading zero", `{"id":01}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"bare minus", `{"id":-}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"point without digits", `{"id":1.}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"exponent without digits", `{"id":1e+}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"NaN", `{"id":NaN}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"half a literal", `{"id":tru}`, wire.CodeParse, wire.RuleSyntax, "", "", true},
		{"invalid UTF-8 deep in data", `{"jsonrpc":"2.0","id":1,"result":{"x":"` + "\xff" + `"}}`, wire.CodeParse, wire.RuleUTF8, "", "", true},
		{"overlong UTF-8", `{"x":"` + "\xc0\xaf" + `"}`, wire.CodeParse, wire.RuleUTF8, "", "", true},
		{"too deep", call + `{"name":"t","arguments":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}}`, wire.CodeInvalidRequest, wire.RuleDepth, "", "1", true},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, wire.CodeInvalidRequest, wire.RuleBatch, "", "", true},
		{"empty batch", `[]`, wire.CodeInvalidRequest, wire.RuleBatch, "", "", true},
		{"string", `"{}"`, wire.CodeInvalidRequest, wire.RuleNotObject, "", "", true},
		{"null", `null`, wire.CodeInvalidRequest, wire.RuleNotObject, "", "", true},
		{"no version", `{"id":1,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleVersion, "/jsonrpc", "1", true},
		{"version 1", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleVersion, "/jsonrpc", "1", true},
		{"version as number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleVersion, "/jsonrpc", "1", true},
		{"neither request nor response", `{"jsonrpc":"2.0","id":1}`, wire.CodeInvalidRequest, wire.RuleShape, "", "1", false},
		{"request and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, wire.CodeInvalidRequest, wire.RuleShape, "", "1", true},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, wire.CodeInvalidRequest, wire.RuleShape, "", "1", false},
		{"result with params", `{"jsonrpc":"2.0","id":1,"result":{},"params":{}}`, wire.CodeInvalidRequest, wire.RuleShape, "", "1", false},
		{"error that is no object", `{"jsonrpc":"2.0","id":1,"error":"x"}`, wire.CodeInvalidRequest, wire.RuleShape, "/error", "1", false},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"fraction id", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"exponent id", `{"jsonrpc":"2.0","id":1e2,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"negative zero id", `{"jsonrpc":"2.0","id":-0,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"lone surrogate id", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"long id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("a", 255) + `","method":"ping"}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, wire.CodeInvalidRequest, wire.RuleID, "/id", "", true},
		{"null method", `{"jsonrpc":"2.0","id":1,"method":null}`, wire.CodeInvalidRequest, wire.RuleMethod, "/method", "1", true},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, wire.CodeInvalidRequest, wire.RuleMethod, "/method", "1", true},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, wire.CodeInvalidRequest, wire.RuleDuplicate, "/id", "", true},
		{"duplicate id by escape", `{"jsonrpc":"2.0","id":1,"method":"ping","\u0069d":2}`, wire.CodeInvalidRequest, wire.RuleDuplicate, "/id", "", true},
		{"duplicate method", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, wire.CodeInvalidRequest, wire.RuleDuplicate, "/method", "1", true},
		{"duplicate result", `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, wire.CodeInvalidRequest, wire.RuleDuplicate, "/result", "1", false},
		{"duplicate unknown member is not printed", `{"jsonrpc":"2.0","id":1,"method":"ping","secret":1,"secret":2}`, wire.CodeInvalidRequest, wire.RuleDuplicate, "/<unknown>", "1", true},
		{"case twin of unknown members", `{"jsonrpc":"2.0","id":1,"method":"ping","ab":1,"aB":2}`, wire.CodeInvalidRequest, wire.RuleCaseVariant, "/<unknown>", "1", true},
		{"lone Method", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, wire.CodeInvalidRequest, wire.RuleCaseVariant, "/method", "1", true},
		{"lone ID", `{"jsonrpc":"2.0","ID":1,"method":"ping"}`, wire.CodeInvalidRequest, wire.RuleCaseVariant, "/id", "", true},
		{"lone Params", `{"jsonrpc":"2.0","id":1,"method":"ping","Params":{}}`, wire.CodeInvalidRequest, wire.RuleCaseVariant, "/params", "1", true},
		{"Result beside result", `{"jsonrpc":"2.0","id":1,"result":{},"Result":{}}`, wire.CodeInvalidRequest, wire.RuleCaseVariant, "/result", "1", false},
		{"fold beyond ASCII", `{"jsonrpc":"2.0","id":1,"method":"ping","param` + "\u017f" + `":{}}`, wire.CodeInvalidRequest, wire.RuleCaseVariant, "/params", "1", true},
		{"lone surrogate in a name", `{"jsonrpc":"2.0","id":1,"method":"ping","\udc00":{}}`, wire.CodeInvalidRequest, wire.RuleName, "", "1", true},
		{"array params", call + `[]}`, wire.CodeInvalidParams, wire.RuleParams, "/params", "1", true},
		{"null params", call + `null}`, wire.CodeInvalidParams, wire.RuleParams, "/params", "1", true},
		{"duplicate arguments", call + `{"name":"t","arguments":{},"arguments":{}}}`, wire.CodeInvalidParams, wire.RuleDuplicate, "/params/arguments", "1", true},
		{"duplicate name", call + `{"name":"t","arguments":{},"name":"u"}}`, wire.CodeInvalidParams, wire.RuleDuplicate, "/params/name", "1", true},
		{"Arguments beside arguments", call + `{"name":"t","arguments":{},"Arguments":{}}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/arguments", "1", true},
		{"lone Arguments", call + `{"name":"t","Arguments":{}}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/arguments", "1", true},
		{"lone NAME", call + `{"NAME":"t"}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/name", "1", true},
		{"lone _Meta", call + `{"name":"t","_Meta":{}}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/_meta", "1", true},
		{"lone RequestState", call + `{"name":"t","RequestState":"x"}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/requestState", "1", true},
		{"case variant in a notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestID":1}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/requestId", "", false},
		{"meta that is no object", metaCall + `[]}}`, wire.CodeInvalidParams, wire.RuleParams, "/params/_meta", "1", true},
		{"duplicate progress token", metaCall + `{"progressToken":1,"progressToken":2}}}`, wire.CodeInvalidParams, wire.RuleDuplicate, "/params/_meta/progressToken", "1", true},
		{"our meta key in another case", metaCall + `{"io.github.seed-de4804fb.verbatim/Approval":1}}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/_meta/io.github.seed-de4804fb.verbatim~1approval", "1", true},
		{"version meta key in another case", metaCall + `{"io.modelcontextprotocol/protocolversion":"2026-07-28"}}}`, wire.CodeInvalidParams, wire.RuleCaseVariant, "/params/_meta/io.modelcontextprotocol~1protocolVersion", "1", true},
		{"call without params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, wire.CodeInvalidParams, wire.RuleToolName, "/params/name", "1", true},
		{"call without name", call + `{"arguments":{}}}`, wire.CodeInvalidParams, wire.RuleToolName, "/params/name", "1", true},
		{"call with a number for a name", call + `{"name":1}}`, wire.CodeInvalidParams, wire.RuleToolName, "/params/name", "1", true},
		{"call with a lone surrogate in its name", call + `{"name":"\ud800"}}`, wire.CodeInvalidParams, wire.RuleToolName, "/params/name", "1", true},
		{"prompt without name", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{}}`, wire.CodeInvalidParams, wire.RuleToolName, "/params/name", "1", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := refused(t, []byte(tt.frame), wire.Limits{})
			got.Offset = 0
			raw := string(got.ID.Raw())
			got.ID = wire.ID{}
			want := &wire.Error{Code: tt.code, Rule: tt.rule, Pointer: tt.pointer, Answerable: tt.answerable}
			if *got != *want || raw != tt.id {
				t.Errorf("refusal = %+v with id %q, want %+v with id %q", *got, raw, *want, tt.id)
			}
			answer := got.Response()
			if answer.Kind() != wire.KindError {
				t.Errorf("Response() is a %v", answer.Kind())
			}
		})
	}
}

func TestRefusalNeverPrintsAValue(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","` + secret + `":1,"` + secret + `":2}}`,
		`{"jsonrpc":"2.0","id":{"x":"` + secret + `"},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":"` + secret + `"}`,
		`{"x":"` + secret + `" "y"}`,
	} {
		err := refused(t, []byte(frame), wire.Limits{})
		if strings.Contains(err.Error(), secret) || strings.Contains(string(err.Response().Bytes()), secret) {
			t.Errorf("the refusal of %s holds the value: %v", frame, err)
		}
	}
}

func TestRefusalPointsAtTheByte(t *testing.T) {
	t.Parallel()
	err := refused(t, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping",'x':1}`), wire.Limits{})
	if err.Offset != 40 {
		t.Errorf("offset = %d, want 40", err.Offset)
	}
	if want := "wire: syntax at (frame), byte 40: the message is not JSON"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err.Error(), want)
	}
}

func TestParseKeepsLimits(t *testing.T) {
	t.Parallel()
	frame := []byte(`{"result":{"x":"` + strings.Repeat("a", 100) + `"},"id":5,"jsonrpc":"2.0"}`)
	if err := refused(t, frame, wire.Limits{MaxFrame: len(frame) - 1}); err.Rule != wire.RuleSize || string(err.ID.Raw()) != "5" || err.Answerable {
		t.Errorf("one byte too large: %+v", err)
	}
	if _, err := wire.Parse(frame, wire.Limits{MaxFrame: len(frame), MaxDepth: 2}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	if err := refused(t, frame, wire.Limits{MaxDepth: 1}); err.Rule != wire.RuleDepth {
		t.Errorf("one level too deep: %+v", err)
	}
	if err := refused(t, []byte(strings.Repeat("[", 5<<20)), wire.Limits{}); err.Rule != wire.RuleDepth {
		t.Errorf("endless nesting: %+v", err)
	}
	if err := refused(t, []byte(strings.Repeat("[", 5000)), wire.Limits{MaxDepth: 1 << 30}); err.Rule != wire.RuleDepth || err.Offset != wire.CeilingDepth {
		t.Errorf("beyond the highest depth: %+v", err)
	}
	if _, err := wire.Parse(make([]byte, wire.DefaultMaxFrame+1), wire.Limits{MaxFrame: -1}); err == nil {
		t.Error("a negative limit switched the check off")
	}
}

func TestIDsAreEqualByMeaning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"number and string", `1`, `"1"`, false},
		{"escape", `"a"`, `"\u0061"`, true},
		{"beyond doubles", `9007199254740993`, `9007199254740992`, false},
		{"sign", `1`, `-1`, false},
		{"case", `"a"`, `"A"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, okA := wire.ParseID([]byte(tt.a))
			b, okB := wire.ParseID([]byte(tt.b))
			if !okA || !okB {
				t.Fatal("id refused")
			}
			if (a.Key() == b.Key()) != tt.same {
				t.Errorf("same key = %v, want %v", !tt.same, tt.same)
			}
			if string(a.Raw()) != tt.a || string(b.Raw()) != tt.b {
				t.Error("raw bytes were changed")
			}
		})
	}
	if n, _ := wire.ParseID([]byte("-12")); n.Key() != wire.NumberID(-12).Key() {
		t.Error("NumberID and ParseID disagree")
	}
	if s, _ := wire.ParseID([]byte(`"\/"`)); s.Key() != wire.StringID("/").Key() {
		t.Error("StringID and ParseID disagree")
	}
	for _, bad := range []string{"", " 1", "1 ", "null", "[1]", "tru"} {
		if id, ok := wire.ParseID([]byte(bad)); ok || !id.IsZero() {
			t.Errorf("ParseID(%q) was accepted", bad)
		}
	}
}

func TestMemberHasOneReadingOrNone(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"jsonrpc":"2.0","id":1,"result":{"isError":false,"x":1,"x":2,"content":[{"text":"a"},{"Text":"b"}],"a/b":{"~":3},"IsOk":true}}`)
	for _, tt := range []struct {
		pointer, want string
		rule          wire.Rule
	}{
		{"/result/isError", "false", ""},
		{"/result/content/0/text", `"a"`, ""},
		{"/result/content/1/text", "", wire.RuleCaseVariant},
		{"/result/content/2", "", ""},
		{"/result/content/00", "", ""},
		{"/result/content/-1", "", ""},
		{"/result/x", "", wire.RuleDuplicate},
		{"/result/X", "", wire.RuleDuplicate},
		{"/result/isOk", "", wire.RuleCaseVariant},
		{"/result/missing", "", ""},
		{"/result/isError/deeper", "", ""},
		{"/result/a~1b/~0", "3", ""},
		{"no pointer", "", wire.RulePointer},
	} {
		t.Run(tt.pointer, func(t *testing.T) {
			t.Parallel()
			raw, found, err := m.Member(tt.pointer)
			if tt.rule == "" && (err != nil || string(raw) != tt.want || found != (tt.want != "")) {
				t.Errorf("Member = %s, %v, %v, want %s", raw, found, err, tt.want)
			}
			var fault *wire.Error
			if tt.rule != "" && (!asFault(err, &fault) || fault.Rule != tt.rule || found) {
				t.Errorf("Member = %s, %v, %v, want the rule %s", raw, found, err, tt.rule)
			}
		})
	}
}
