package canon_test

import (
	"bytes"
	"math/big"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
)

// sameDecimal compares two literals as exact numbers.
func sameDecimal(t *testing.T, a, b string) bool {
	t.Helper()
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY {
		t.Fatalf("%s or %s is no number", a, b)
	}
	return x.Cmp(y) == 0
}

// values draws trees of the exact domain.
func values() *rapid.Generator[canon.Value] {
	return rapid.Custom(func(t *rapid.T) canon.Value { return drawValue(t, 4) })
}

func drawValue(t *rapid.T, depth int) canon.Value {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return canon.NullValue()
	case 1:
		return canon.BoolValue(rapid.Bool().Draw(t, "bool"))
	case 2:
		return drawNumber(t)
	case 3:
		return canon.StringValue(drawText(t))
	case 4:
		return canon.ArrayValue(drawElements(t, depth)...)
	default:
		return canon.ObjectValue(drawMembers(t, depth)...)
	}
}

func drawNumber(t *rapid.T) canon.Value {
	if rapid.Bool().Draw(t, "integer") {
		const limit = canon.MaxSafeInteger
		return canon.IntValue(rapid.Int64Range(-limit, limit).Draw(t, "int"))
	}
	f := rapid.Float64Range(-canon.MaxSafeInteger, canon.MaxSafeInteger).Draw(t, "float")
	v, err := canon.FloatValue(f)
	if err != nil { // -0
		return canon.IntValue(0)
	}
	return v
}

func drawText(t *rapid.T) string {
	s := rapid.String().Draw(t, "text")
	if !utf8.ValidString(s) {
		return ""
	}
	return s
}

func drawElements(t *rapid.T, depth int) []canon.Value {
	elems := make([]canon.Value, rapid.IntRange(0, 4).Draw(t, "elements"))
	for i := range elems {
		elems[i] = drawValue(t, depth-1)
	}
	return elems
}

func drawMembers(t *rapid.T, depth int) []canon.Member {
	var members []canon.Member
	for range rapid.IntRange(0, 20).Draw(t, "members") {
		name := drawText(t)
		if slices.ContainsFunc(members, func(m canon.Member) bool { return m.Name == name }) {
			continue
		}
		value := canon.NullValue()
		if len(members) < 4 {
			value = drawValue(t, depth-1)
		}
		members = append(members, canon.Member{Name: name, Value: value})
	}
	return members
}

var exact = canon.Options{Exact: true}

func TestDecodeOfEncodeIsTheValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "value")
		if err := canon.Check(v); err != nil {
			t.Fatal(err)
		}
		got, err := canon.Decode(v.Canonical(), exact)
		if err != nil {
			t.Fatalf("%s: %v", v.Canonical(), err)
		}
		if !canon.Equal(v, got) {
			t.Fatalf("%s read back as %s", v.Canonical(), got.Canonical())
		}
		if !bytes.Equal(v.Canonical(), got.Canonical()) {
			t.Fatalf("the canonical form is not a fixed point")
		}
	})
}

// shuffled returns v with the members of every object in another order.
func shuffled(t *rapid.T, v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.Array:
		elems := v.Elements()
		for i := range elems {
			elems[i] = shuffled(t, elems[i])
		}
		return canon.ArrayValue(elems...)
	case canon.Object:
		members := v.Members()
		for i := range members {
			members[i].Value = shuffled(t, members[i].Value)
		}
		if len(members) > 1 {
			members = rapid.Permutation(members).Draw(t, "order")
		}
		return canon.ObjectValue(members...)
	default:
		return v
	}
}

func TestMemberOrderDoesNotCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "value")
		w := shuffled(t, v)
		if !canon.Equal(v, w) || !bytes.Equal(v.Canonical(), w.Canonical()) {
			t.Fatalf("%s differs from %s", v.Canonical(), w.Canonical())
		}
	})
}

func TestDifferentValuesHaveDifferentForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, w := values().Draw(t, "v"), values().Draw(t, "w")
		if canon.Equal(v, w) != bytes.Equal(v.Canonical(), w.Canonical()) {
			t.Fatalf("Equal and the canonical forms disagree: %s, %s", v.Canonical(), w.Canonical())
		}
	})
}

func TestAppendToKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "value")
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		want := append(slices.Clone(prefix), v.Canonical()...)
		if got := v.AppendTo(prefix); !bytes.Equal(want, got) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
