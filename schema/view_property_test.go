package schema_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// TestResultsHaveTheShapeOfTheView: what policy and pages are told about the
// shape holds for everything that Apply returns.
func TestResultsHaveTheShapeOfTheView(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src, value := drawTool(t)
		s, err := schema.Compile(src, drawOptions(t))
		if err != nil {
			requireLoop(t, src, err)
			return
		}
		for range 5 {
			text, err := json.Marshal(value(t))
			if err != nil {
				t.Fatal(err)
			}
			v, err := canon.Decode(text, canon.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := s.Apply(v, nil)
			if err != nil {
				continue
			}
			if at, why := mismatch(s, s.Root(), out, ""); why != "" {
				t.Fatalf("%s: %s at %q of %s", src, why, at, out.Canonical())
			}
		}
	})
}

// mismatch says where v is not what n promises.
func mismatch(s *schema.Schema, n *schema.Node, v canon.Value, at string) (pointer, why string) {
	if !admits(n.Types, v) {
		return at, "not one of " + n.Types.String()
	}
	if n.Enum != nil && !in(n.Enum, v) {
		return at, "not in the enum"
	}
	for i := range v.Len() {
		if v.Kind() == canon.Array && n.Items != nil {
			if at, why := mismatch(s, n.Items, v.At(i), canon.JoinIndex(at, i)); why != "" {
				return at, why
			}
		}
	}
	if v.Kind() != canon.Object {
		return at, ""
	}
	return memberMismatch(s, n, v, at)
}

func memberMismatch(s *schema.Schema, n *schema.Node, v canon.Value, at string) (pointer, why string) {
	for _, p := range n.Properties {
		x, found := v.Get(p.Name)
		if !found {
			if p.Required {
				return canon.JoinPointer(at, p.Name), "not present"
			}
			continue
		}
		if !s.Knows(canon.JoinPointer(at, p.Name)) {
			return canon.JoinPointer(at, p.Name), "not known"
		}
		if at, why := mismatch(s, p.Node, x, canon.JoinPointer(at, p.Name)); why != "" {
			return at, why
		}
	}
	for _, m := range v.Members() {
		if _, declared := n.Property(m.Name); !declared && !n.Open && !n.Union {
			return canon.JoinPointer(at, m.Name), "undeclared though the view is closed"
		}
	}
	return at, ""
}

func in(list []canon.Value, v canon.Value) bool {
	for _, x := range list {
		if canon.Equal(x, v) {
			return true
		}
	}
	return false
}

// admits is written apart from the engine, on the kinds alone.
func admits(t schema.TypeSet, v canon.Value) bool {
	switch v.Kind() {
	case canon.Null:
		return t&schema.TypeNull != 0
	case canon.Bool:
		return t&schema.TypeBoolean != 0
	case canon.Number:
		f := v.Float64()
		return t&schema.TypeNumber != 0 || t&schema.TypeInteger != 0 && f == float64(int64(f))
	case canon.String:
		return t&schema.TypeString != 0
	case canon.Array:
		return t&schema.TypeArray != 0
	default:
		return t&schema.TypeObject != 0
	}
}
