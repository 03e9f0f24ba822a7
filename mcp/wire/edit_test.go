package wire_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func TestEditChangesOneMemberAndNoOtherByte(t *testing.T) {
	t.Parallel()
	const spaced = "{ \"jsonrpc\" :\t\"2.0\", \"id\": 1 , \"method\": \"tools/call\",\r\n \"params\": { \"name\" : \"t\" , \"arguments\":{\"b\":1,\"b\":1e400} , \"_meta\":{ } } , \"z\":\"\\u0061\" }"
	for _, tt := range []struct {
		name string
		edit func(*wire.Message) (*wire.Message, error)
		old  string
		new  string
	}{
		{"id", func(m *wire.Message) (*wire.Message, error) { return m.WithID(wire.StringID("x\n")) }, `"id": 1 `, `"id": "x\n" `},
		{"arguments", func(m *wire.Message) (*wire.Message, error) { return m.WithArguments([]byte(" {} ")) }, `{"b":1,"b":1e400}`, `{}`},
		{"name", func(m *wire.Message) (*wire.Message, error) { return m.WithName("u") }, `"t"`, `"u"`},
		{"method", func(m *wire.Message) (*wire.Message, error) { return m.WithMethod("tools/list") }, `tools/call`, `tools/list`},
		{"added to an empty object", func(m *wire.Message) (*wire.Message, error) {
			return m.WithMeta(wire.MetaWarrant, []byte(`"w"`))
		}, `"_meta":{ }`, `"_meta":{"io.github.seed-de4804fb.verbatim/warrant":"w" }`},
		{"added at the end", func(m *wire.Message) (*wire.Message, error) {
			return m.WithMember("/params/requestState", []byte(`"s"`))
		}, `{ } }`, `{ },"requestState":"s" }`},
		{"absent objects are added", func(m *wire.Message) (*wire.Message, error) {
			return m.WithMember("/params/a~1/b", []byte(`1`))
		}, `{ } }`, `{ },"a/":{"b":1} }`},
		{"middle member removed", func(m *wire.Message) (*wire.Message, error) { return m.Without("/params/arguments") }, ` , "arguments":{"b":1,"b":1e400}`, ``},
		{"last member removed", func(m *wire.Message) (*wire.Message, error) { return m.Without("/z") }, ` , "z":"\u0061"`, ``},
		{"only its own commas", func(m *wire.Message) (*wire.Message, error) { return m.Without("/params/_meta") }, ` , "_meta":{ }`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, spaced)
			got, err := tt.edit(m)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(spaced, tt.old, tt.new, 1); string(got.Bytes()) != want {
				t.Errorf("got  %q\nwant %q", got.Bytes(), want)
			}
			if string(m.Bytes()) != spaced {
				t.Error("the edited message was changed in place")
			}
		})
	}
}

func TestRemovingTheFirstOrOnlyMember(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"jsonrpc":"2.0","id":1,"result":{ "a":1 , "b":[ 1, 2 ] }}`)
	for _, tt := range []struct{ pointers, want string }{
		{"/result/a", `{ "b":[ 1, 2 ] }`},
		{"/result/a /result/b", `{  }`},
		{"/result/b /result/a", `{  }`},
		{"/result/b/0", `{ "a":1 , "b":[ 2 ] }`},
		{"/result/b/1", `{ "a":1 , "b":[ 1 ] }`},
		{"/result/b/0 /result/b/0", `{ "a":1 , "b":[  ] }`},
	} {
		t.Run(tt.pointers, func(t *testing.T) {
			t.Parallel()
			got := m
			for _, pointer := range strings.Fields(tt.pointers) {
				var err error
				if got, err = got.Without(pointer); err != nil {
					t.Fatal(err)
				}
			}
			if string(got.Result()) != tt.want {
				t.Errorf("result = %s, want %s", got.Result(), tt.want)
			}
		})
	}
}

func TestEditRefusesWhatParseWouldRefuse(t *testing.T) {
	t.Parallel()
	request := parse(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","x":{"a":1,"a":2},"s":"v","l":[1]}}`)
	note := parse(t, `{"jsonrpc":"2.0","method":"n"}`)
	fault := parse(t, `{"jsonrpc":"2.0","id":1,"error":{}}`)
	for _, tt := range []struct {
		name string
		edit func() (*wire.Message, error)
		rule wire.Rule
	}{
		{"two values smuggled in", func() (*wire.Message, error) { return request.WithArguments([]byte(`{},"name":"u"`)) }, wire.RuleSyntax},
		{"no value", func() (*wire.Message, error) { return request.WithArguments(nil) }, wire.RuleSyntax},
		{"invalid UTF-8", func() (*wire.Message, error) { return request.WithArguments([]byte("\"\xff\"")) }, wire.RuleUTF8},
		{"case twin", func() (*wire.Message, error) { return request.WithMember("/params/Name", []byte(`"u"`)) }, wire.RuleCaseVariant},
		{"lone case variant", func() (*wire.Message, error) { return request.WithMember("/params/Arguments", []byte(`{}`)) }, wire.RuleCaseVariant},
		{"name that is no string", func() (*wire.Message, error) { return request.WithMember("/params/name", []byte(`1`)) }, wire.RuleToolName},
		{"empty name", func() (*wire.Message, error) { return request.WithName("") }, wire.RuleToolName},
		{"name removed", func() (*wire.Message, error) { return request.Without("/params/name") }, wire.RuleToolName},
		{"place with two readings", func() (*wire.Message, error) { return request.WithMember("/params/x/a", []byte(`1`)) }, wire.RuleDuplicate},
		{"removal with two readings", func() (*wire.Message, error) { return request.Without("/params/x/a") }, wire.RuleDuplicate},
		{"through a scalar", func() (*wire.Message, error) { return request.WithMember("/params/s/a", []byte(`1`)) }, wire.RulePointer},
		{"beyond a list", func() (*wire.Message, error) { return request.WithMember("/params/l/1", []byte(`1`)) }, wire.RulePointer},
		{"the root", func() (*wire.Message, error) { return request.WithMember("", []byte(`1`)) }, wire.RulePointer},
		{"a name that is not UTF-8", func() (*wire.Message, error) { return request.WithMember("/params/\xff", []byte(`1`)) }, wire.RulePointer},
		{"no pointer", func() (*wire.Message, error) { return request.Without("id") }, wire.RulePointer},
		{"id of a notification", func() (*wire.Message, error) { return note.WithID(wire.NumberID(1)) }, wire.RuleID},
		{"no id for a request", func() (*wire.Message, error) { return request.WithID(wire.ID{}) }, wire.RuleID},
		{"method of a response", func() (*wire.Message, error) { return fault.WithMethod("x") }, wire.RuleMethod},
		{"name of a notification", func() (*wire.Message, error) { return note.WithName("x") }, wire.RuleToolName},
		{"arguments of a response", func() (*wire.Message, error) { return fault.WithArguments([]byte(`{}`)) }, wire.RuleShape},
		{"meta of an error", func() (*wire.Message, error) { return fault.WithMeta("x", []byte(`1`)) }, wire.RulePointer},
		{"result beside error", func() (*wire.Message, error) { return fault.WithMember("/result", []byte(`{}`)) }, wire.RuleShape},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.edit()
			var fault *wire.Error
			if !asFault(err, &fault) || fault.Rule != tt.rule || got != nil {
				t.Errorf("edit = %v, %v, want the rule %s", got, err, tt.rule)
			}
		})
	}
}

func TestOwnMetaIsStripped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, frame, want string }{
		{
			"request keeps the keys of others",
			metaCall + `{"io.github.seed-de4804fb.verbatim/approval":"a", "progressToken":1 ,"io.github.seed-de4804fb.verbatim/new":{} }}}`,
			metaCall + `{"progressToken":1 }}}`,
		},
		{
			"an emptied object stays",
			metaCall + `{"io.github.seed-de4804fb.verbatim/approval":"a"}}}`,
			metaCall + `{}}}`,
		},
		{
			"a server cannot pass off its own receipt, in any case, twice",
			`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.github.seed-de4804fb.verbatim/receipt":1,"x":1,"x":2,"IO.github.SEED-de4804fb.verbatim/Receipt":2,"io.github.seed-de4804fb.verbatim\/receipt":3}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"x":1,"x":2}}}`,
		},
		{
			"no meta",
			`{"jsonrpc":"2.0","id":1,"result":[]}`,
			`{"jsonrpc":"2.0","id":1,"result":[]}`,
		},
		{
			"errors have none",
			`{"jsonrpc":"2.0","id":1,"error":{"_meta":{"io.github.seed-de4804fb.verbatim/receipt":1}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"_meta":{"io.github.seed-de4804fb.verbatim/receipt":1}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, tt.frame).WithoutOwnMeta()
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bytes()) != tt.want {
				t.Errorf("got  %s\nwant %s", got.Bytes(), tt.want)
			}
		})
	}
	twins := parse(t, `{"jsonrpc":"2.0","id":1,"result":{"_meta":{},"_meta":{"io.github.seed-de4804fb.verbatim/receipt":1}}}`)
	if got, err := twins.WithoutOwnMeta(); err == nil {
		t.Errorf("two _meta objects were accepted: %s", got.Bytes())
	}
}

func TestMetaIsReadPerRequest(t *testing.T) {
	t.Parallel()
	modern := parse(t, metaCall+`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.github.seed-de4804fb.verbatim/idempotencyKey":"k"}}}`)
	if v := modern.ProtocolVersion(); v != "2026-07-28" {
		t.Errorf("ProtocolVersion() = %q", v)
	}
	raw, found, err := modern.Meta(wire.MetaIdempotencyKey)
	if string(raw) != `"k"` || !found || err != nil {
		t.Errorf("Meta = %s, %v, %v", raw, found, err)
	}
	without, err := modern.WithoutMeta(wire.MetaIdempotencyKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, found, _ := without.Meta(wire.MetaIdempotencyKey); found {
		t.Error("the key is still there")
	}
	for _, frame := range []string{
		call + `{"name":"t"}}`,
		metaCall + `{"io.modelcontextprotocol/protocolVersion":20260728}}}`,
		`{"jsonrpc":"2.0","id":1,"error":{}}`,
	} {
		if v := parse(t, frame).ProtocolVersion(); v != "" {
			t.Errorf("ProtocolVersion() of %s = %q, want none", frame, v)
		}
	}
}

// jsonValue draws a JSON text with odd but legal spelling.
func jsonValue(depth int) *rapid.Generator[string] {
	scalar := rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "false", "9007199254740993", "1e400", "-0", "1.10", `"\u0061"`, `"\ud800"`, `""`, "{}", "[ ]"}),
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
	)
	if depth == 0 {
		return scalar
	}
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(jsonValue(depth-1), 0, 4), func(list []string) string {
			return "[" + strings.Join(list, " ,") + "]"
		}),
		rapid.Map(members(depth-1, nil), func(list []string) string { return "{" + strings.Join(list, ",\t") + " }" }),
	)
}

// members draws members whose names repeat and differ in case.
func members(depth int, names []string) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		if names == nil {
			names = []string{"a", "A", "b", "id", "ID", "name", "\\u0061"}
		}
		list := []string{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			list = append(list, `"`+name+`" : `+jsonValue(depth).Draw(t, "value"))
		}
		return list
	})
}

func TestEditedMemberIsTheOnlyDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value, other := jsonValue(3), jsonValue(2)
		before := `{"jsonrpc": "2.0" ,"x":` + value.Draw(t, "x") + `,"id" :1,"method":"m", "params":{ "p":` + value.Draw(t, "p") + `,"q" : `
		after := ` , "r":` + value.Draw(t, "r") + `} ,"y":` + value.Draw(t, "y") + "}\n"
		old, next := value.Draw(t, "old"), other.Draw(t, "new")
		m, err := wire.Parse([]byte(before+old+after), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.WithMember("/params/q", []byte(next))
		if err != nil {
			t.Fatal(err)
		}
		if want := before + next + after; string(got.Bytes()) != want {
			t.Fatalf("got  %s\nwant %s", got.Bytes(), want)
		}
		back, err := got.WithMember("/params/q", []byte(old))
		if err != nil || !back.Equal(m) {
			t.Fatalf("putting the old value back gave %s, %v", back.Bytes(), err)
		}
		added, err := m.WithMember("/params/added", []byte(next))
		if err != nil {
			t.Fatal(err)
		}
		if removed, err := added.Without("/params/added"); err != nil || !removed.Equal(m) {
			t.Fatalf("adding and removing gave %s, %v", removed.Bytes(), err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range hostileSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := wire.Parse(bytes.Clone(frame), wire.Limits{})
		if err != nil {
			var fault *wire.Error
			if !asFault(err, &fault) || fault.Response().Kind() != wire.KindError {
				t.Fatalf("refusal is %v", err)
			}
			return
		}
		if !bytes.Equal(m.Bytes(), frame) {
			t.Fatal("parsing changed bytes")
		}
		var out bytes.Buffer
		if err := wire.NewWriter(&out).Write(m); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 {
			t.Fatalf("a frame became %d lines", n)
		}
		again, err := wire.NewReader(&out, wire.Limits{}).Read()
		if err != nil {
			t.Fatalf("a written frame is refused: %v", err)
		}
		if again.Kind() != m.Kind() || again.ID().Key() != m.ID().Key() || again.Name() != m.Name() || again.Method() != m.Method() {
			t.Fatal("a written frame means something else")
		}
	})
}

func FuzzSplice(f *testing.F) {
	for _, seed := range hostileSeeds {
		f.Add([]byte(seed), "/params/arguments", []byte(`{"a":1}`))
		f.Add([]byte(seed), "/result/tools/0/name", []byte(`"x"`))
	}
	f.Fuzz(func(t *testing.T, frame []byte, pointer string, value []byte) {
		m, err := wire.Parse(bytes.Clone(frame), wire.Limits{})
		if err != nil {
			return
		}
		old, found, _ := m.Member(pointer)
		next, err := m.WithMember(pointer, value)
		if err == nil {
			got, ok, err := next.Member(pointer)
			if err != nil || !ok || !bytes.Equal(got, bytes.Trim(value, " \t\r\n")) {
				t.Fatalf("set %q, then read %q, %v, %v", value, got, ok, err)
			}
			back := next
			if found {
				back, err = next.WithMember(pointer, old)
			}
			if found && (err != nil || !back.Equal(m)) {
				t.Fatalf("putting the old value back: %v", err)
			}
		}
		if cut, err := m.Without(pointer); err == nil && found {
			if _, still, err := cut.Member(pointer); still && err == nil && !bytes.Contains(frame, []byte("[")) {
				t.Fatal("a removed member is still there")
			}
		}
		if !bytes.Equal(m.Bytes(), frame) {
			t.Fatal("an edit changed the old message")
		}
		if shown, err := m.FilterTools(func(tool wire.Tool) (string, bool) { return tool.Name + "x", len(tool.Raw)%2 == 0 }); err == nil {
			if _, err := wire.ToolDefinitions(shown.Result()); err != nil {
				t.Fatalf("a filtered list is refused: %v", err)
			}
		}
	})
}

var hostileSeeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1,"a":2},"_meta":{"progressToken":"x"}}}`,
	`{"result":{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{"x":[]}}],"nextCursor":null},"jsonrpc":"2.0","id":"\u0031"}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
	"{ \"jsonrpc\":\"2.0\",\r\n\"method\":\"n\" }",
	`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","\u0069D":1}`,
}
