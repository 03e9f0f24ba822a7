package catalog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

func definition(name, schema string) []byte {
	return []byte(`{"name":"` + name + `","description":"d","inputSchema":` + schema + `}`)
}

func pinned(t testing.TB, server, name, schema string) *catalog.Tool {
	raw := definition(name, schema)
	return define(t, catalog.Spec{Name: server + "." + name, Server: server, Definition: raw, Pin: catalog.DefinitionDigest(raw)})
}

func TestDefinitionDigestIsOfTheMeaning(t *testing.T) {
	t.Parallel()
	a := catalog.DefinitionDigest([]byte(`{"name":"t","inputSchema":{"type":"object","maximum":1.0}}`))
	for name, c := range map[string]struct {
		text string
		same bool
	}{
		"G06 other member order": {`{"inputSchema":{"maximum":1,"type":"object"}, "name":"t"}`, true},
		"G05 wider schema":       {`{"name":"t","inputSchema":{"type":"object","maximum":2}}`, false},
		"new description":        {`{"name":"t","inputSchema":{"type":"object","maximum":1},"description":"x"}`, false},
		"new annotation":         {`{"name":"t","inputSchema":{"type":"object","maximum":1},"annotations":{"readOnlyHint":true}}`, false},
	} {
		if got := catalog.DefinitionDigest([]byte(c.text)); (got == a) != c.same {
			t.Errorf("%s: same %v", name, got == a)
		}
	}
	big := func(n string) canon.Digest {
		return catalog.DefinitionDigest([]byte(`{"name":"t","inputSchema":{"maximum":` + n + `}}`))
	}
	if big("9007199254740993") == big("9007199254740992") {
		t.Error("two limits that differ in the last digit have one digest")
	}
}

func TestFromDefinition(t *testing.T) {
	t.Parallel()
	c, err := catalog.New(pinned(t, "mail", "send", `{"type":"object","properties":{"to":{"type":"string"}}}`), define(t, catalog.Spec{Name: "mail.local", Schema: []byte(`{"type":"object"}`)}))
	if err != nil {
		t.Fatal(err)
	}
	same, err := c.FromDefinition("mail", "send", []byte(`{"inputSchema":{"properties":{"to":{"type":"string"}},"type":"object"},"name":"send","description":"d"}`))
	if err != nil || !same.Cataloged {
		t.Errorf("G06: the pinned definition is refused: %v", err)
	}
	for name, raw := range map[string][]byte{
		"G05 wider schema":    definition("send", `{"type":"object","properties":{"to":{"type":"string"},"bcc":{"type":"string"}}}`),
		"G05 new description": []byte(`{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}},"description":"other"}`),
		"not JSON":            []byte(`{`),
	} {
		if tool, err := c.FromDefinition("mail", "send", raw); !errors.Is(err, catalog.ErrDefinitionChanged) || tool != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.FromDefinition("mail", "local", definition("local", `{"type":"object"}`)); !errors.Is(err, catalog.ErrDefinitionChanged) {
		t.Errorf("an entry without a pin took a live definition: %v", err)
	}
	for name, upstream := range map[string]string{"G03 the name of another but for case": "SEND", "C03 look-alike": "s\u0435nd", "empty": ""} {
		if _, err := c.FromDefinition("mail", upstream, definition(upstream, `{"type":"object"}`)); !errors.Is(err, catalog.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUncatalogedIsTheWorstClass(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"name":"get","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`)
	c, err := catalog.New()
	if err != nil {
		t.Fatal(err)
	}
	tool, err := c.FromDefinition("x", "get", raw)
	if err != nil {
		t.Fatal(err)
	}
	if tool.Cataloged || !tool.HighImpact() || tool.Effect != catalog.Blind || tool.Definition != catalog.DefinitionDigest(raw) ||
		tool.Name != "x.get" || tool.UpstreamName != "get" || !tool.Proposal.Knows("/id") {
		t.Errorf("%+v", tool)
	}
	for name, raw := range map[string][]byte{
		"G30 schema that cannot be compiled": definition("get", `{"$ref":"#/$defs/missing"}`),
		"other name":                         definition("put", `{"type":"object"}`),
		"no schema":                          []byte(`{"name":"get"}`),
		"E09 duplicate member":               []byte(`{"name":"get","inputSchema":{"type":"object","type":"string"}}`),
	} {
		if _, err := catalog.Uncataloged("x", "get", raw); !errors.Is(err, catalog.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewRefusesToolsThatClash(t *testing.T) {
	t.Parallel()
	object := []byte(`{"type":"object"}`)
	preview := define(t, catalog.Spec{Name: "preview", Schema: object, Read: true, Reason: "looks"})
	change := define(t, catalog.Spec{Name: "change", Schema: object})
	by := func(tool string) *catalog.Tool {
		return define(t, catalog.Spec{Name: "pay", Schema: object, DryRun: &catalog.DryRun{Tool: tool}})
	}
	if c, err := catalog.New(by("preview"), preview); err != nil {
		t.Error(err)
	} else if _, ok := c.Tool("pay"); !ok || len(c.Tools()) != 2 {
		t.Error("a tool is lost")
	}
	for name, tools := range map[string][]*catalog.Tool{
		"G02 one name twice":      {change, change},
		"G04 names equal in case": {change, define(t, catalog.Spec{Name: "Change", Schema: object})},
		"M03 preview that writes": {by("change"), change},
		"preview that is missing": {by("preview")},
		"one of several previews": {define(t, catalog.Spec{Name: "a", Schema: object}), by("preview")},
	} {
		if _, err := catalog.New(tools...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestGoPreviewIsKept(t *testing.T) {
	t.Parallel()
	s := transfer()
	s.DryRun = &catalog.DryRun{Func: func(_ context.Context, args canon.Value) (canon.Value, error) { return args, nil }}
	tool := define(t, s)
	s.DryRun.Recheck = true
	if tool.DryRun.Func == nil || tool.DryRun.Recheck {
		t.Error("the tool shares its caller's dry run")
	}
}

func TestExtractTargetsNamesEveryElement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pointer, args string
		want                []string
		bad                 string
	}{
		{"one", "/to", `{"to":"V1"}`, []string{"V1"}, ""},
		{"integer", "/to", `{"to":42}`, []string{"42"}, ""},
		{"absent", "/to", `{}`, nil, ""},
		{"null", "/to", `{"to":null}`, nil, ""},
		{"list", "/to", `{"to":["V1","V2"]}`, []string{"V1", "V2"}, ""},
		{"member of each element", "/rows/*/to", `{"rows":[{"to":"V1"},{},{"to":["V2","V3"]}]}`, []string{"V1", "V2", "V3"}, ""},
		{"index", "/pair/1", `{"pair":["V1","V2"]}`, []string{"V2"}, ""},
		{"space", "/to", `{"to":"two words"}`, []string{"two words"}, ""},
		{"C1 control", "/to", `{"to":"V\u009f"}`, nil, "/to"},
		{"delete", "/to", `{"to":"V\u007f"}`, nil, "/to"},
		{"empty", "/to", `{"to":""}`, nil, "/to"},
		{"NUL", "/to", `{"to":"V1\u0000"}`, nil, "/to"},
		{"fraction", "/to", `{"to":1.5}`, nil, "/to"},
		{"object", "/to", `{"to":{}}`, nil, "/to"},
		{"null in a list", "/to", `{"to":["V1",null]}`, nil, "/to/1"},
		{"scalar in the way", "/rows/*/to", `{"rows":["V1"]}`, nil, "/rows/0"},
	} {
		if _, err := catalog.ExtractTargets([]catalog.TargetRule{{Type: "x", Pointer: "/~2"}}, decode(t, c.args)); err == nil {
			t.Error("a malformed pointer named nothing")
		}
		got, err := catalog.ExtractTargets([]catalog.TargetRule{{Type: "vendor", Pointer: c.pointer}}, decode(t, c.args))
		var vs canon.Violations
		if c.bad != "" {
			if !errors.As(err, &vs) || vs[0].Pointer != c.bad {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var ids []string
		for _, x := range got {
			ids = append(ids, x.ID)
		}
		if diff := cmp.Diff(c.want, ids); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
}
