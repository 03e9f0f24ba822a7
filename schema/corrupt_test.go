package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// kind is a schema with what obeys it and what does not.
type kind struct {
	schema object
	good   func(t *rapid.T) any
	// bad returns a good value with one fault in it, the pointer of the fault
	// from here, and the keyword that it breaks.
	bad func(t *rapid.T) (value any, at, rule string)
}

// oneScalar is a kind with a few bad values, each with the keyword that it breaks.
func oneScalar(s object, good *rapid.Generator[any], bad map[any]string) kind {
	return kind{s, func(t *rapid.T) any { return good.Draw(t, "good") }, func(t *rapid.T) (any, string, string) {
		names := slices.SortedFunc(maps.Keys(bad), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		x := rapid.SampledFrom(names).Draw(t, "bad")
		return x, "", bad[x]
	}}
}

func oneOf(values ...any) *rapid.Generator[any] { return rapid.SampledFrom(values) }

// drawScalar draws bounds, and values around them.
func drawScalar(t *rapid.T) kind {
	low := rapid.IntRange(-50, 50).Draw(t, "low")
	high := low + rapid.IntRange(1, 50).Draw(t, "width")
	size := rapid.IntRange(1, 5).Draw(t, "size")
	whole := rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(low, high).Draw(t, "whole") })
	text := func(n int) string { return strings.Repeat("é", n) }
	all := []kind{
		oneScalar(object{"type": "integer", "minimum": low, "maximum": high}, whole,
			map[any]string{low - 1: "minimum", high + 1: "maximum", float64(low) + 0.5: "type", "1": "type", nil: "type", true: "type"}),
		oneScalar(object{"type": "number", "exclusiveMinimum": low - 1, "exclusiveMaximum": high + 1, "multipleOf": 0.01}, whole,
			map[any]string{low - 1: "exclusiveMinimum", high + 1: "exclusiveMaximum", float64(low) + 0.125: "multipleOf", "x": "type"}),
		oneScalar(object{"type": "string", "minLength": size, "maxLength": size + 2}, oneOf(text(size), text(size+1), text(size+2)),
			map[any]string{text(size - 1): "minLength", text(size + 3): "maxLength", 5: "type", false: "type"}),
		oneScalar(object{"type": "string", "pattern": "^[A-Z]+-[0-9]{3}$"}, oneOf("A-123", "VENDOR-001"),
			map[any]string{"a-123": "pattern", "A-12": "pattern", "A-123 ": "pattern", "": "pattern"}),
		oneScalar(object{"enum": []any{"a", 1, nil, true}}, oneOf("a", 1, nil, true), map[any]string{"b": "enum", 2: "enum", false: "enum", "1": "enum"}),
		oneScalar(object{"const": "USD"}, oneOf("USD"), map[any]string{"usd": "const", nil: "const", "USD ": "const"}),
		oneScalar(object{"type": []any{"boolean", "null"}}, oneOf(true, false, nil), map[any]string{"true": "type", 0: "type"}),
		oneScalar(object{"type": "string", "format": "date"}, oneOf("2026-11-30", "2024-02-29"),
			map[any]string{"2026-02-29": "format", "30.11.2026": "format", "": "format"}),
		oneScalar(object{"type": "string", "format": "uuid"}, oneOf("2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
			map[any]string{"2eb8aa08-aa98-11ea-b4aa73b441d16380": "format"}),
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "scalar")]
}

func drawKind(t *rapid.T, depth int) kind {
	switch n := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case depth == 0 || n < 2:
		return drawScalar(t)
	case n == 2:
		return list(t, drawKind(t, depth-1))
	default:
		return record(t, depth)
	}
}

// list has two to four elements.
func list(t *rapid.T, of kind) kind {
	elements := func(t *rapid.T, n int) []any {
		out := make([]any, n)
		for i := range out {
			out[i] = of.good(t)
		}
		return out
	}
	return kind{
		object{"type": "array", "items": of.schema, "minItems": 2, "maxItems": 4},
		func(t *rapid.T) any { return elements(t, rapid.IntRange(2, 4).Draw(t, "n")) },
		func(t *rapid.T) (any, string, string) {
			switch rapid.IntRange(0, 4).Draw(t, "fault") {
			case 0:
				return elements(t, 1), "", "minItems"
			case 1:
				return elements(t, 5), "", "maxItems"
			case 2:
				return object{"0": 1}, "", "type"
			}
			out := elements(t, 3)
			i := rapid.IntRange(0, 2).Draw(t, "at")
			x, at, rule := of.bad(t)
			out[i] = x
			return out, "/" + strconv.Itoa(i) + at, rule
		},
	}
}

// record has members of which every other is required.
func record(t *rapid.T, depth int) kind {
	names := memberNamesOf(t)
	members, props, required := map[string]kind{}, object{}, []any{}
	for i, name := range names {
		members[name] = drawKind(t, depth-1)
		if props[name] = members[name].schema; i%2 == 0 {
			required = append(required, name)
		}
	}
	good := func(t *rapid.T) object {
		out := object{}
		for i, name := range names {
			if i%2 == 0 || rapid.Bool().Draw(t, "there") {
				out[name] = members[name].good(t)
			}
		}
		return out
	}
	return kind{
		object{"type": "object", "properties": props, "required": required},
		func(t *rapid.T) any { return good(t) },
		func(t *rapid.T) (any, string, string) {
			out, name := good(t), rapid.SampledFrom(names).Draw(t, "name")
			switch rapid.IntRange(0, 5).Draw(t, "fault") {
			case 0:
				delete(out, names[0])
				return out, "/" + names[0], "required"
			case 1:
				out["unheard"] = 1
				return out, "/" + canon.UnknownName, schema.RuleUnknown
			case 2:
				return []any{out}, "", "type"
			}
			x, at, rule := members[name].bad(t)
			out[name] = x
			return out, "/" + name + at, rule
		},
	}
}

func memberNamesOf(t *rapid.T) []string {
	names := []string{"amount", "currency", "vendor", "memo", "labels"}
	return names[:rapid.IntRange(1, len(names)).Draw(t, "members")]
}

// TestWhatASchemaMakesPassesAndOneFaultInItFails: values made for a schema are
// accepted as they are; with one fault put in, the violations name its place
// and keyword.
func TestWhatASchemaMakesPassesAndOneFaultInItFails(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tool := record(t, 3)
		s, err := schema.Compile(asJSON(t, tool.schema), schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", asJSON(t, tool.schema), err)
		}
		for range 4 {
			text := asJSON(t, tool.good(t))
			v, err := canon.Decode(text, canon.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			out, changes, err := s.Apply(v, nil)
			if err != nil || len(changes) > 0 || !canon.Equal(out, v) {
				t.Fatalf("%s refuses %s, or changes it: %v %v", asJSON(t, tool.schema), text, changes, err)
			}
			x, at, rule := tool.bad(t)
			requireFault(t, s, asJSON(t, x), at, rule)
		}
	})
}

func requireFault(t *rapid.T, s *schema.Schema, text []byte, at, rule string) {
	v, err := canon.Decode(text, canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Apply(v, nil)
	var refused canon.Violations
	if !errors.As(err, &refused) {
		t.Fatalf("%s on %s: want %s at %q, got %v", s.Source(), text, rule, at, err)
	}
	if !slices.ContainsFunc(refused, func(f canon.Violation) bool { return f.Pointer == at && f.Rule == rule }) {
		t.Fatalf("%s on %s: want %s at %q, got %v", s.Source(), text, rule, at, refused)
	}
}

func asJSON(t *rapid.T, x any) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
