package canon_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
)

// goTree is what canon.GoObject makes, by way of the tree.
func goTree(v canon.Value) any {
	switch v.Kind() {
	case canon.Bool:
		return v.Bool()
	case canon.String:
		return v.Text()
	case canon.Number:
		if i, ok := v.Int64(); ok {
			return i
		}
		return v.Float64()
	case canon.Array:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = goTree(v.At(i))
		}
		return out
	case canon.Object:
		out := make(map[string]any, v.Len())
		for i := range v.Len() {
			name, x := v.Member(i)
			out[name] = goTree(x)
		}
		return out
	default:
		return nil
	}
}

// sameReading fails unless the readers of canonical texts see in text what is
// in the object v.
func sameReading(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string, v canon.Value) {
	t.Helper()
	tree, ok := canon.GoObject(text)
	if diff := cmp.Diff(goTree(v), any(tree)); !ok || diff != "" {
		t.Fatalf("%s: %t\n%s", text, ok, diff)
	}
	names := []string{"", "absent", "also\nabsent"}
	for i := range v.Len() {
		if name, _ := v.Member(i); name != "" && name != "absent" && name != "also\nabsent" {
			names = append(names, name)
		}
	}
	for _, some := range [][]string{names, names[:1], names[len(names)-1:], nil} {
		out := make([]canon.Value, len(some))
		if !canon.Pick(text, some, out) {
			continue // a name with escapes
		}
		for i, name := range some {
			want, present := v.Get(name)
			if got := out[i]; (got.Kind() != canon.Invalid) != present || !canon.Equal(want, got) {
				t.Fatalf("%s: member %q is %s, want %s", text, name, got.Canonical(), want.Canonical())
			}
		}
	}
}

func TestCanonicalTextIsReadAsItsTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := canon.ObjectValue(drawMembers(t, 3)...)
		sameReading(t, string(v.Canonical()), v)
	})
}

func TestPickedMembersOfCanonicalText(t *testing.T) {
	t.Parallel()
	const text = `{"a":-1.5,"b":"x\"y","c":{"d":["}",{"e":"]"}]},"f":null,"g":true,"h":""}`
	v, err := canon.Decode([]byte(text), exact)
	if err != nil {
		t.Fatal(err)
	}
	sameReading(t, text, v)
	out := make([]canon.Value, 2)
	if !canon.Pick(text, []string{"h", "c"}, out) || out[0].Kind() != canon.String || out[1].Len() != 1 {
		t.Errorf("picked %s and %s", out[0].Canonical(), out[1].Canonical())
	}
}

func TestTextsThatAreNoObjectGiveNothing(t *testing.T) {
	t.Parallel()
	const whole = `{"a":[1,{"b":"c\n"}],"d":"e"}`
	texts := []string{"", "{", "}", "[]", `"a"`, whole + "}", whole + " ", `{"a" :1}`, `{"a":1,}`, `{"a":}`, `{"a":]}`,
		`{"a":1]`, `{"a":x}`, `{"a":1,"a":2}`, "{\"a\":\"\x01\"}", `{"a":"\q"}`, `{"a":1 }`, `{"a":00.5}`}
	for i := range len(whole) {
		texts = append(texts, whole[:i])
	}
	for _, text := range texts {
		if tree, ok := canon.GoObject(text); ok {
			t.Errorf("%q gives %v", text, tree)
		}
	}
	for i := range len(whole) {
		if out := make([]canon.Value, 1); canon.Pick(whole[:i], []string{"z"}, out) {
			t.Errorf("%q is read as if it were whole", whole[:i])
		}
	}
}

func FuzzCanonicalText(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2.5,{"b":"\u0000\\"}],"é":null}`, `{"\n":{"":[]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		// On any bytes the readers end and do not panic.
		canon.GoObject(string(src))
		canon.Pick(string(src), []string{"a", ""}, make([]canon.Value, 2))
		v, err := canon.Decode(src, exact)
		if err != nil || v.Kind() != canon.Object {
			return
		}
		sameReading(t, string(v.Canonical()), v)
	})
}
