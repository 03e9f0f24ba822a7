package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// show writes a node in one line: types, then what else is known.
func show(n *schema.Node) string {
	var b strings.Builder
	b.WriteString(n.Types.String())
	if n.Types == schema.TypeAny {
		b.Reset()
		b.WriteString("any")
	}
	for _, flag := range []struct {
		on   bool
		text string
	}{
		{n.Union, "union"}, {n.Open && n.Types&schema.TypeObject != 0, "open"}, {n.HasDefault, "default"},
		{n.Format != "", n.Format}, {n.Minimum != "", ">=" + n.Minimum}, {n.Maximum != "", "<=" + n.Maximum},
		{n.Enum != nil, fmt.Sprintf("enum%d", len(n.Enum))},
	} {
		if flag.on {
			b.WriteString(" " + flag.text)
		}
	}
	for _, p := range n.Properties {
		mark := "?"
		if p.Required {
			mark = ""
		}
		fmt.Fprintf(&b, " (%s%s %s)", p.Name, mark, show(p.Node))
	}
	if n.Items != nil {
		fmt.Fprintf(&b, " [%s]", show(n.Items))
	}
	return b.String()
}

func TestTypedView(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src  string
		opt  schema.Options
		want string
	}{
		"members and their presence": {
			src:  `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","default":"x"},"c":{"type":"boolean"}},"required":["a"]}`,
			want: "object (a integer) (b string default) (c? boolean)",
		},
		"nullable type": {src: `{"type":["string","null"]}`, want: "string or null"},
		"nullable by anyOf": {
			src:  `{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}]}`,
			want: "integer or null >=1",
		},
		"nullable object by anyOf fills no defaults": {
			src:  `{"anyOf":[{"type":"object","properties":{"d":{"type":"integer","default":1}}},{"type":"null"}]}`,
			want: "object or null (d? integer default)",
		},
		"no defaults anywhere below anyOf": {
			src:  `{"anyOf":[{"type":"array","items":{"type":"object","properties":{"d":{"type":"integer","default":1}}}},{"type":"null"}]}`,
			want: "array or null [object (d? integer default)]",
		},
		"nullable object by oneOf fills defaults": {
			src:  `{"oneOf":[{"type":"object","properties":{"d":{"type":"integer","default":1}}},{"type":"null"}]}`,
			want: "object or null (d integer default)",
		},
		"two types are a union": {src: `{"type":["string","integer"]}`, want: "string or integer union"},
		"no type is any":        {src: `{"type":"object","properties":{"x":{}}}`, want: "object (x? any open)"},
		"tagged union":          {src: `{"oneOf":[{"type":"object","properties":{"a":{}}},{"type":"object","properties":{"b":{}}}]}`, want: "object union open"},
		"anyOf that only requires": {
			src:  `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			want: "object (a? string) (b? string)",
		},
		"if that only narrows": {
			src:  `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"if":{"properties":{"a":{"const":"x"}}},"then":{"required":["b"]}}`,
			want: "object (a? string) (b? string)",
		},
		"if that adds": {
			src:  `{"type":"object","properties":{"a":{"type":"string"}},"if":{"properties":{"a":{"const":"x"}}},"then":{"properties":{"b":{}}}}`,
			want: "object union (a? string)",
		},
		"references and allOf are one shape": {
			src:  `{"allOf":[{"$ref":"#/$defs/a"},{"properties":{"b":{"type":"integer"}},"required":["a"]}],"$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}}},"s":{"type":"string","format":"uuid"}}}`,
			want: "object (a string uuid) (b? integer)",
		},
		"bounds meet": {
			src:  `{"type":"integer","minimum":1,"allOf":[{"minimum":3},{"maximum":9},{"exclusiveMaximum":10}]}`,
			want: "integer >=3 <=9",
		},
		"enums meet":             {src: `{"enum":["a","b",1],"allOf":[{"enum":["b","c"]}]}`, want: "string enum1"},
		"const":                  {src: `{"const":5}`, want: "integer enum1"},
		"map":                    {src: `{"type":"object","additionalProperties":{"type":"integer"}}`, want: "object open"},
		"bare object":            {src: `{"type":"object"}`, want: "object open"},
		"patterns":               {src: `{"type":"object","patternProperties":{"^x":{}}}`, want: "object open"},
		"schema keeps":           {src: `{"type":"object","properties":{},"additionalProperties":true}`, want: "object open"},
		"tool refuses":           {src: `{"type":"object","properties":{},"additionalProperties":true}`, opt: schema.Options{Unknown: schema.UnknownReject}, want: "object"},
		"tool strips":            {src: `{"type":"object","properties":{}}`, opt: schema.Options{Unknown: schema.UnknownStrip}, want: "object"},
		"tool keeps":             {src: `{"type":"object","properties":{}}`, opt: schema.Options{Unknown: schema.UnknownKeep}, want: "object open"},
		"closed without members": {src: `{"type":"object","additionalProperties":false}`, want: "object"},
		"elements":               {src: `{"type":"array","items":{"type":"object","properties":{"n":{"type":"number"}}}}`, want: "array [object (n? number)]"},
		"tuple":                  {src: `{"type":"array","prefixItems":[{"type":"string"}]}`, want: "array"},
		"recursion is cut":       {src: `{"type":"object","properties":{"next":{"$ref":"#"}}}`, want: "object (next? object (next? object union open))"},
		"required without a declaration": {
			src: `{"type":"object","properties":{},"required":["x"]}`, want: "object (x any open)",
		},
		"nothing": {src: `{"allOf":[{"type":"string"},{"type":"integer"}]}`, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile([]byte(c.src), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, show(s.Root())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKnowsDeclaredPointers(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"a/b":{"properties":{"c":{}}},"l":{"items":{"properties":{"d":{}}}},"t":{"prefixItems":[{"properties":{"e":{}}}]},
		"u":{"anyOf":[{"properties":{"f":{}}},{"$ref":"#/$defs/g"}]},"m":{"additionalProperties":{"properties":{"h":{}}}}},
		"patternProperties":{"^x-":{}},"$defs":{"g":{"properties":{"g":{}}}},"if":{"properties":{"k":{}}},"not":{"properties":{"z":{}}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]bool{
		"": true, "/a~1b": true, "/a~1b/c": true, "/l/0/d": true, "/l/17/d": true, "/t/0/e": true, "/u/f": true, "/u/g": true, "/x-1": true, "/k": true,
		"/a": false, "/l/d": false, "/l/-1/d": false, "/l/01/d": false, "/t/1/e": false, "/u/h": false, "/m/k": false, "/m/k/h": false, "/z": false,
		"a": false, "/a~2b": false, "/A~1b": false,
	} {
		if got := s.Knows(pointer); got != want {
			t.Errorf("Knows(%q) = %v, want %v", pointer, got, want)
		}
	}
}

func TestTransformFunctions(t *testing.T) {
	t.Parallel()
	upper := func(v canon.Value) (canon.Value, error) { return canon.StringValue(strings.ToUpper(v.Text())), nil }
	for name, c := range map[string]struct {
		fn   schema.TransformFunc
		out  string
		want []string
	}{
		"changes":   {upper, `{"a":"X"}`, []string{"/a transformed mine"}},
		"same":      {func(v canon.Value) (canon.Value, error) { return v, nil }, `{"a":"x"}`, []string{}},
		"refuses":   {func(v canon.Value) (canon.Value, error) { return v, fmt.Errorf("no") }, "", []string{"/a transform"}},
		"panics":    {func(canon.Value) (canon.Value, error) { panic("no") }, "", []string{"/a transform"}},
		"no value":  {func(canon.Value) (canon.Value, error) { return canon.Value{}, nil }, "", []string{"/a transform"}},
		"bad UTF-8": {func(canon.Value) (canon.Value, error) { return canon.StringValue("\xff"), nil }, "", []string{"/a transform"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fieldCase{
				schema: `{"properties":{"a":{"type":"string"}}}`,
				opt:    schema.Options{Transforms: []schema.Transform{{Pointer: "/a", Name: "mine", Func: c.fn}}},
				in:     `{"a":"x"}`, out: c.out, want: c.want,
			}.run(t)
		})
	}
}

func TestTransformRunsOnceThoughBranchesAreTried(t *testing.T) {
	t.Parallel()
	bang := func(v canon.Value) (canon.Value, error) { return canon.StringValue(v.Text() + "!"), nil }
	fieldCase{
		schema: `{"properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"n":{"type":"integer"}},"required":["n"]},{"properties":{"m":{}},"required":["m"]}],"allOf":[{"if":{},"then":{"properties":{"a":{"minLength":1}}}}]}`,
		opt:    schema.Options{Coerce: true, Transforms: []schema.Transform{{Pointer: "/a", Name: "bang", Func: bang}}},
		in:     `{"a":"x","n":"5"}`, out: `{"a":"x!","n":5}`, want: []string{"/a transformed bang", "/n coerced"},
	}.run(t)
}

func TestFillsMustBeMembersOfTheStrictDomain(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"a":{}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]schema.Fill{
		"root":      {Pointer: "", Value: canon.ObjectValue()},
		"malformed": {Pointer: "a", Value: canon.NullValue()},
		"no value":  {Pointer: "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := s.Apply(canon.ObjectValue(), []schema.Fill{f})
			violationTexts(t, err)
		})
	}
	_, _, err = s.Apply(canon.ObjectValue(), []schema.Fill{{Pointer: "/b", Value: canon.NullValue()}})
	if diff := cmp.Diff([]string{"/<unknown> unknown_member"}, violationTexts(t, err)); diff != "" {
		t.Error(diff)
	}
}
