package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func tools(t *testing.T, list string) []wire.Tool {
	t.Helper()
	got, err := wire.ToolDefinitions([]byte(`{"tools":` + list + `}`))
	if err != nil {
		t.Fatalf("ToolDefinitions(%s): %v", list, err)
	}
	return got.Tools
}

func TestToolDefinitionsKeepBytes(t *testing.T) {
	t.Parallel()
	const a = `{ "name":"a" ,"inputSchema":{"maximum":9007199254740993}, "annotations": {"readOnlyHint":true},"x":1 }`
	list, err := wire.ToolDefinitions([]byte(`{"tools":[ ` + a + ` ,{"inputSchema":{},"name":"\u0062"}], "nextCursor":"c\u0031","ttlMs":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if list.NextCursor != "c1" || len(list.Tools) != 2 {
		t.Fatalf("list = %+v", list)
	}
	first, second := list.Tools[0], list.Tools[1]
	got := []string{string(first.Raw), string(first.InputSchema), string(first.Annotations), second.Name, string(second.Annotations)}
	want := []string{a, `{"maximum":9007199254740993}`, `{"readOnlyHint":true}`, "b", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if renamed := string(first.Renamed(`s"a`)); renamed != strings.Replace(a, `"a"`, `"s\"a"`, 1) {
		t.Errorf("Renamed = %s", renamed)
	}
}

func TestDefinitionDigest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, a, b string
		same       bool
		form       wire.Form
	}{
		{"member order and spaces do not count (G06)", `{"name":"t","inputSchema":{"a":1,"b":2}}`, `{"inputSchema": {"b":2,"a":1.0}, "name":"\u0074"}`, true, wire.FormCanonical},
		{"a widened schema counts (G05)", `{"name":"send_email","inputSchema":{"properties":{"to":{}}}}`, `{"name":"send_email","inputSchema":{"properties":{"to":{},"bcc":{}}}}`, false, wire.FormCanonical},
		{"a description counts (G05)", `{"name":"t","description":"a","inputSchema":{}}`, `{"name":"t","description":"b","inputSchema":{}}`, false, wire.FormCanonical},
		{"the name counts (G05)", `{"name":"t","inputSchema":{}}`, `{"name":"u","inputSchema":{}}`, false, wire.FormCanonical},
		{"unknown members count", `{"name":"t","inputSchema":{}}`, `{"name":"t","inputSchema":{},"x":1}`, false, wire.FormCanonical},
		{"a limit that doubles cannot tell apart", `{"name":"t","inputSchema":{"maximum":9007199254740992}}`, `{"name":"t","inputSchema":{"maximum":9007199254740993}}`, false, wire.FormRaw},
		{"duplicates in a schema", `{"name":"t","inputSchema":{"type":"object","type":"array"}}`, `{"name":"t","inputSchema":{"type":"array","type":"object"}}`, false, wire.FormRaw},
		{"case twins in a schema are two properties", `{"name":"t","inputSchema":{"a":1,"A":2}}`, `{"name":"t","inputSchema":{"A":2,"a":1}}`, true, wire.FormCanonical},
		{"negative zero", `{"name":"t","inputSchema":{"minimum":-0}}`, `{"name":"t","inputSchema":{"minimum":0}}`, false, wire.FormRaw},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := tools(t, "["+tt.a+"]")[0], tools(t, "["+tt.b+"]")[0]
			if (a.Digest == b.Digest) != tt.same {
				t.Errorf("same digest = %v, want %v", !tt.same, tt.same)
			}
			if a.Form != tt.form {
				t.Errorf("form = %s, want %s", a.Form, tt.form)
			}
		})
	}
	plain := tools(t, `[{"name":"t","inputSchema":{}}]`)[0]
	if want := canon.Sum([]byte(`{"inputSchema":{},"name":"t"}`)); plain.Digest != want {
		t.Errorf("digest = %s, want SHA-256 of the RFC 8785 form, %s", plain.Digest, want)
	}
}

func TestToolDefinitionsRefuse(t *testing.T) {
	t.Parallel()
	const ok = `{"name":"a","inputSchema":{}}`
	for _, tt := range []struct {
		name, result string
		rule         wire.Rule
		pointer      string
	}{
		{"not JSON", `{"tools":`, wire.RuleSyntax, ""},
		{"not an object", `[]`, wire.RuleTools, ""},
		{"no tools", `{}`, wire.RuleTools, "/tools"},
		{"tools is no list", `{"tools":{}}`, wire.RuleTools, "/tools"},
		{"two lists", `{"tools":[],"tools":[` + ok + `]}`, wire.RuleDuplicate, "/tools"},
		{"two lists in two cases", `{"tools":[],"Tools":[` + ok + `]}`, wire.RuleCaseVariant, "/tools"},
		{"one name twice", `{"tools":[` + ok + `,{"name":"\u0061","inputSchema":{}}]}`, wire.RuleDuplicate, "/tools/1/name"},
		{"a tool that is no object", `{"tools":[` + ok + `,1]}`, wire.RuleTools, "/tools/1"},
		{"a tool with two names", `{"tools":[{"name":"a","name":"b","inputSchema":{}}]}`, wire.RuleDuplicate, "/tools/0/name"},
		{"a tool with two names in two cases", `{"tools":[{"name":"a","Name":"b","inputSchema":{}}]}`, wire.RuleCaseVariant, "/tools/0/name"},
		{"a schema in the wrong case", `{"tools":[{"name":"a","InputSchema":{}}]}`, wire.RuleCaseVariant, "/tools/0/inputSchema"},
		{"case twins that nobody knows", `{"tools":[{"name":"a","inputSchema":{},"x":1,"X":2}]}`, wire.RuleCaseVariant, "/tools/0/<unknown>"},
		{"no name", `{"tools":[{"inputSchema":{}}]}`, wire.RuleTools, "/tools/0"},
		{"an empty name", `{"tools":[{"name":"","inputSchema":{}}]}`, wire.RuleTools, "/tools/0"},
		{"a name with a lone surrogate", `{"tools":[{"name":"\ud800","inputSchema":{}}]}`, wire.RuleTools, "/tools/0"},
		{"no schema", `{"tools":[{"name":"a"}]}`, wire.RuleTools, "/tools/0"},
		{"a schema that is no object", `{"tools":[{"name":"a","inputSchema":true}]}`, wire.RuleTools, "/tools/0"},
		{"a cursor that is no string", `{"tools":[],"nextCursor":1}`, wire.RuleTools, "/nextCursor"},
		{"two cursors", `{"tools":[],"nextCursor":"a","nextCursor":"b"}`, wire.RuleDuplicate, "/nextCursor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := wire.ToolDefinitions([]byte(tt.result))
			var fault *wire.Error
			if !asFault(err, &fault) || fault.Rule != tt.rule || fault.Pointer != tt.pointer {
				t.Errorf("ToolDefinitions = %v, want %s at %s", err, tt.rule, tt.pointer)
			}
			if len(list.Tools) != 0 {
				t.Error("tools were handed out beside the refusal")
			}
		})
	}
}

func TestFilterToolsCutsAndRenames(t *testing.T) {
	t.Parallel()
	const head, tail = `{"jsonrpc":"2.0","id":1,"result":{"z":1e400,"tools": [ `, ` ] ,"tools2":[],"ttlMs":1}}`
	tool := func(name string) string { return `{"name" : "` + name + `","inputSchema":{"x":1,"x":2}}` }
	frame := head + tool("a") + " , " + tool("b") + " ,\t" + tool("c") + tail
	for _, tt := range []struct {
		name, keep string
		rename     string
		want       string
	}{
		{"all", "abc", "", tool("a") + " , " + tool("b") + " ,\t" + tool("c")},
		{"first", "a", "", tool("a")},
		{"middle", "b", "", tool("b")},
		{"last", "c", "", tool("c")},
		{"ends", "ac", "", tool("a") + " ,\t" + tool("c")},
		{"without the first", "bc", "", tool("b") + " ,\t" + tool("c")},
		{"without the last", "ab", "", tool("a") + " , " + tool("b")},
		{"none", "", "", ""},
		{"renamed", "ac", "s__", tool("s__a") + " ,\t" + tool("s__c")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, frame).FilterTools(func(tool wire.Tool) (string, bool) {
				return tt.rename + tool.Name, strings.Contains(tt.keep, tool.Name)
			})
			if err != nil {
				t.Fatal(err)
			}
			if want := head + tt.want + tail; string(got.Bytes()) != want {
				t.Errorf("got  %s\nwant %s", got.Bytes(), want)
			}
		})
	}
}

func TestFilterToolsRefuses(t *testing.T) {
	t.Parallel()
	two := parse(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}]}}`)
	for name, show := range map[string]func(wire.Tool) (string, bool){
		"one name for two tools": func(wire.Tool) (string, bool) { return "same", true },
		"an empty name":          func(wire.Tool) (string, bool) { return "", true },
	} {
		if got, err := two.FilterTools(show); err == nil || got != nil {
			t.Errorf("%s: accepted", name)
		}
	}
	keep := func(tool wire.Tool) (string, bool) { return tool.Name, true }
	for _, frame := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		if got, err := parse(t, frame).FilterTools(keep); err == nil || got != nil {
			t.Errorf("FilterTools of %s was accepted", frame)
		}
	}
}
