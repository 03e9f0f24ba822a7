package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// fataler is what a check needs of a test, also of one that rapid runs.
type fataler interface {
	Fatalf(format string, args ...any)
}

// quickAsFull: what the quick walk accepts, the full walk accepts with the
// same result, members in the same order, and the same changes.
func quickAsFull(t fataler, s *schema.Schema, src []byte, v canon.Value) (quick bool) {
	if !s.IsQuick(v) {
		return false
	}
	got, changes, err := s.Apply(v, nil)
	if err != nil {
		t.Fatalf("%s: %s: %v", src, v.Canonical(), err)
	}
	want, wantChanges, err := s.ApplyFull(v)
	if err != nil {
		t.Fatalf("%s: only the quick walk accepts %s: %v", src, v.Canonical(), err)
	}
	if pointer, same := canon.Difference(want, got); !same || !sameOrder(want, got) {
		t.Fatalf("%s: %s becomes %s, quickly %s, at %s", src, v.Canonical(), want.Canonical(), got.Canonical(), pointer)
	}
	if a, b := want.Canonical(), got.Canonical(); !bytes.Equal(a, b) {
		t.Fatalf("%s: %s is written as %s, quickly %s", src, v.Canonical(), a, b)
	}
	if err := canon.Check(got); v.Len() > 0 && (err == nil) != (canon.Check(want) == nil) {
		t.Fatalf("%s: %s becomes what Check refuses: %v", src, v.Canonical(), err)
	}
	if diff := cmp.Diff(wantChanges, changes); diff != "" {
		t.Fatalf("%s: %s: %s", src, v.Canonical(), diff)
	}
	return true
}

func sameOrder(a, b canon.Value) bool {
	for i := range a.Len() {
		if a.Kind() == canon.Array {
			if !sameOrder(a.At(i), b.At(i)) {
				return false
			}
			continue
		}
		name, x := a.Member(i)
		other, y := b.Member(i)
		if name != other || !sameOrder(x, y) {
			return false
		}
	}
	return true
}

// drawPlain makes a random schema of the keywords that the quick walk knows,
// and sometimes of one that it does not.
func drawPlain(t *rapid.T, depth int) any {
	s := object{}
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	switch {
	case kind < 4 && depth > 0:
		drawPlainObject(t, s, depth-1)
	case kind == 4 && depth > 0:
		s["type"], s["items"], s["maxItems"] = "array", drawPlain(t, depth-1), 3
		s["uniqueItems"] = rapid.Bool().Draw(t, "unique")
	case kind == 5:
		s["anyOf"] = []any{object{"type": "string", "maxLength": 3}, object{"type": "null"}, object{"type": "integer", "maximum": 2}}
	case kind == 6 && depth > 0:
		s["$ref"] = rapid.SampledFrom([]any{"#/$defs/d", "#/$defs/e", "#"}).Draw(t, "ref")
	default:
		for range rapid.IntRange(0, 2).Draw(t, "assertions") {
			drawAssertion(t, s)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "default") == 0 {
		s["default"] = pick(t, append([]any{object{}, object{"a": 1}, []any{}}, someScalars...))
	}
	return s
}

func drawPlainObject(t *rapid.T, s object, depth int) {
	props := object{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		props[rapid.SampledFrom(memberNames).Draw(t, "name")] = drawPlain(t, depth)
	}
	if rapid.IntRange(0, 2).Draw(t, "table") == 0 {
		s["additionalProperties"] = rapid.SampledFrom([]any{drawPlain(t, depth), true, false}).Draw(t, "rest")
	}
	if rapid.IntRange(0, 4).Draw(t, "declares") != 0 {
		s["properties"] = props
	}
	if rapid.IntRange(0, 2).Draw(t, "required") == 0 {
		s["required"] = []any{rapid.SampledFrom(memberNames).Draw(t, "name")}
	}
	if rapid.IntRange(0, 3).Draw(t, "count") == 0 {
		s["maxProperties"] = rapid.IntRange(1, 4).Draw(t, "most")
	}
}

func TestQuickWalkAgreesWithFullWalk(t *testing.T) {
	t.Parallel()
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		root := object{}
		drawPlainObject(t, root, 3)
		root["$defs"] = object{"d": drawPlain(t, 1), "e": drawPlain(t, 0)}
		src, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Compile(src, schema.Options{Unknown: rapid.SampledFrom([]schema.UnknownMode{"", schema.UnknownStrip, schema.UnknownKeep}).Draw(t, "mode")})
		if err != nil {
			return // a default breaks its schema, or a reference loops
		}
		for range 20 {
			text, err := json.Marshal(drawInstance(t, 3))
			if err != nil {
				t.Fatal(err)
			}
			v, err := canon.Decode(text, canon.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if quickAsFull(t, s, src, v) {
				quick++
			}
		}
	})
	if quick == 0 {
		t.Error("the quick walk was never taken")
	}
}

// TestQuickWalkJudgesOrdinaryTools: each case says whether the quick walk may
// accept, so that it neither takes what needs the full walk nor goes unused.
func TestQuickWalkJudgesOrdinaryTools(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 70) + "{}" + strings.Repeat("}", 70)
	for _, tc := range []struct {
		name, schema, value string
		quick               bool
	}{
		{"a tool of ten members", benchSchema, benchText, true},
		{"defaults at every level", `{"properties":{"a":{"properties":{"b":{"default":1},"c~/":{"default":2}}},"d":{"default":[]},"l":{"items":{"properties":{"e":{"default":3}}}}}}`,
			`{"l":[{},{"e":4},{}],"a":{}}`, true},
		{"a default with defaults inside", `{"properties":{"a":{"default":{},"properties":{"b":{"default":1}}}}}`, `{}`, false},
		{"an undeclared member", `{"properties":{"a":{}}}`, `{"b":1}`, false},
		{"a bare object", `{"type":"object"}`, `{"b":[{"c":1}]}`, true},
		{"a table", `{"additionalProperties":{"type":"integer"}}`, `{"b":1,"c":2}`, true},
		{"a table with a wrong value", `{"additionalProperties":{"type":"integer"}}`, `{"b":1,"c":"2"}`, false},
		{"no members", `{"properties":{},"additionalProperties":false}`, `{}`, true},
		{"a member where there are none", `{"properties":{}}`, `{"a":1}`, false},
		{"string or null", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`, `{}`, true},
		{"alternatives with members", `{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"a":1}`, false},
		{"allOf", `{"allOf":[{"properties":{"a":{}}}],"properties":{"b":{}}}`, `{"a":1}`, false},
		{"a reference", `{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"properties":{"a":{"$ref":"#/$defs/n"},"z":{"default":0}}}}}`, `{"a":{"a":{}}}`, true},
		{"required and defaulted", `{"required":["a"],"properties":{"a":{"default":1}}}`, `{}`, true},
		{"required and absent", `{"required":["a"],"properties":{"a":{}}}`, `{}`, false},
		{"a long enum", `{"properties":{"a":{"enum":["a","b","c","d","e","f","g","h","i","j"]}}}`, `{"a":"j"}`, true},
		{"a long enum missed", `{"properties":{"a":{"enum":["a","b","c","d","e","f","g","h","i","j"]}}}`, `{"a":"k"}`, false},
		{"a long enum and a number", `{"properties":{"a":{"enum":["a","b","c","d","e","f","g","h","i",""]}}}`, `{"a":1}`, false},
		{"a format", `{"properties":{"a":{"format":"date"}}}`, `{"a":"2026-02-28"}`, true},
		{"a format missed", `{"properties":{"a":{"format":"date"}}}`, `{"a":"2026-02-30"}`, false},
		{"a fraction against whole bounds", `{"properties":{"a":{"minimum":1,"exclusiveMaximum":2}}}`, `{"a":1.5}`, true},
		{"a fraction at the bound", `{"properties":{"a":{"exclusiveMinimum":1,"maximum":2}}}`, `{"a":2.5}`, false},
		{"an integer at the exclusive bound", `{"properties":{"a":{"exclusiveMinimum":1,"maximum":2}}}`, `{"a":1}`, false},
		{"a bound with a fraction", `{"properties":{"a":{"minimum":0.5}}}`, `{"a":1}`, true},
		{"min length by character", `{"properties":{"a":{"minLength":2}}}`, `{"a":"é"}`, false},
		{"max length by character", `{"properties":{"a":{"maxLength":2}}}`, `{"a":"éé"}`, true},
		{"too deep", `{"properties":{"a":{"$ref":"#"}}}`, strings.Replace(deep, "{}", deep, 1), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile([]byte(tc.schema), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := canon.Decode([]byte(tc.value), canon.Options{MaxDepth: canon.CeilingDepth})
			if err != nil {
				t.Fatal(err)
			}
			if got := quickAsFull(t, s, []byte(tc.schema), v); got != tc.quick {
				t.Errorf("taken quickly: %t", got)
			}
		})
	}
}

// TestQuickWalkStripsNothing: what becomes of undeclared members depends on
// the options, and the full walk sees to it.
func TestQuickWalkStripsNothing(t *testing.T) {
	t.Parallel()
	for _, src := range []string{`{"properties":{},"additionalProperties":true}`, `{"properties":{"b":{}},"additionalProperties":true}`, `{"additionalProperties":false}`} {
		for _, mode := range []schema.UnknownMode{"", schema.UnknownReject, schema.UnknownStrip, schema.UnknownKeep} {
			s, err := schema.Compile([]byte(src), schema.Options{Unknown: mode})
			if err != nil {
				t.Fatal(err)
			}
			if v := decode(t, `{"a":1}`); s.IsQuick(v) {
				t.Errorf("%s, mode %q: an undeclared member is taken quickly", src, mode)
			}
			quickAsFull(t, s, []byte(src), decode(t, `{}`))
		}
	}
}

// TestQuickWalkTakesNothingUnread: a tree that no decoder has made goes the
// full way, and so does one beyond the limits of the full walk.
func TestQuickWalkTakesNothingUnread(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"object"}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	twice := canon.Member{Name: "a", Value: canon.NullValue()}
	if s.IsQuick(canon.ObjectValue(twice, twice)) {
		t.Error("a tree with a name twice is taken quickly")
	}
	many, err := canon.Decode(fmt.Appendf(nil, `{"a":[0%s]}`, strings.Repeat(",0", canon.DefaultMaxNodes)), canon.Options{MaxNodes: canon.CeilingNodes})
	if err != nil {
		t.Fatal(err)
	}
	if s.IsQuick(many) {
		t.Error("more values than the full walk takes are taken quickly")
	}
}

// TestApplyOfADecodedTreeAllocatesNothing where it changes nothing.
func TestApplyOfADecodedTreeAllocatesNothing(t *testing.T) {
	s, err := schema.Compile([]byte(benchSchema), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := decode(t, benchText)
	allocs := testing.AllocsPerRun(10, func() {
		if _, _, err := s.Apply(v, nil); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
