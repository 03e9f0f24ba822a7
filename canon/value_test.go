package canon_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

func TestAccessorsOfAnotherKindGiveNothing(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`null`, `true`, `1.5`, `"1"`, `[1]`, `{"a":1}`} {
		v := decoded(t, raw)
		got := map[string]bool{
			"null":    v.IsNull(),
			"boolean": v.Bool(),
			"number":  v.NumberText() != "" && v.Float64() == 1.5,
			"string":  v.Text() != "",
			"array":   len(v.Elements()) == 1,
			"object":  len(v.Members()) == 1,
		}
		for kind, is := range got {
			if is != (kind == v.Kind().String()) {
				t.Errorf("%s as %s: %v", raw, kind, is)
			}
		}
	}
	if got := canon.Kind(99).String(); got != "invalid" {
		t.Errorf("kind 99 is called %s", got)
	}
}

func TestInt64ReadsSafeIntegersOnly(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]any{
		"0": int64(0), "-5": int64(-5), "1e2": int64(100), "9007199254740991": int64(canon.MaxSafeInteger),
		"9007199254740992": nil, "1e20": nil, "1e21": nil, "1.5": nil, `"1"`: nil,
	} {
		var got any
		if i, ok := decoded(t, raw).Int64(); ok {
			got = i
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

func TestValuesCannotBeChangedThroughCopies(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"a":[1,2],"b":"text"}`)
	v, err := canon.Decode(raw, canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := string(v.Canonical())
	for i := range raw {
		raw[i] = 'X'
	}
	v.Members()[0] = canon.Member{Name: "changed", Value: canon.NullValue()}
	list, _ := v.Get("a")
	list.Elements()[0] = canon.NullValue()
	changed, _ := v.With("/a/0", canon.NullValue())
	_ = append(v.Members()[:1:1], canon.Member{})
	clear(v.Canonical())
	if diff := cmp.Diff(want, string(v.Canonical())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`{"a":[null,2],"b":"text"}`, string(changed.Canonical())); diff != "" {
		t.Error(diff)
	}
}

func TestMembersKeepDocumentOrder(t *testing.T) {
	t.Parallel()
	v := decoded(t, `{"b":1,"a":{"d":2,"c":3},"":4}`)
	var names []string
	for i := range v.Len() {
		name, _ := v.Member(i)
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"b", "a", ""}, names); diff != "" {
		t.Error(diff)
	}
}

func TestEqualIgnoresOnlyMemberOrder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"c":3,"b":2}`, true},
		{`{"a":1,"b":2}`, `{"a":1,"b":2,"c":3}`, false},
		{`{"a":1,"b":2}`, `{"a":1,"c":2}`, false},
		{`{"a":1,"b":2}`, `{"b":1,"a":2}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`1.0`, `1`, true},
		{`1`, `"1"`, false},
		{`[]`, `{}`, false},
		{`null`, `false`, false},
		{`{}`, `{"a":null}`, false},
		{"\"e\u0301\"", "\"\u00e9\"", false},
	} {
		if got := canon.Equal(decoded(t, tc.a), decoded(t, tc.b)); got != tc.want {
			t.Errorf("%s, %s: %v", tc.a, tc.b, got)
		}
	}
}

func TestPointersFindWhatTheyName(t *testing.T) {
	t.Parallel()
	// The document of RFC 6901 §5, with an array in an object in an array.
	v := decoded(t, `{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9,"x":[{"y":[10]}]}`)
	for pointer, want := range map[string]string{
		"/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3",
		"/g|h": "4", `/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8", "/~01": "9", "/x/0/y/0": "10",
	} {
		got, ok := v.Lookup(pointer)
		if !ok || string(got.Canonical()) != want {
			t.Errorf("%q: %s, %v", pointer, got.Canonical(), ok)
		}
		tokens, _ := canon.SplitPointer(pointer)
		joined := ""
		for _, token := range tokens {
			joined = canon.JoinPointer(joined, token)
		}
		if joined != pointer {
			t.Errorf("%q joins to %q", pointer, joined)
		}
	}
	for _, pointer := range []string{"foo", "/foo/2", "/foo/-1", "/foo/00", "/foo/01", "/foo/+1", "/foo/-", "/foo/0/x",
		"/m~n", "/m~2n", "/a/b", "/nothing", "/foo/1e0", "/foo/", "/m~"} {
		if got, ok := v.Lookup(pointer); ok {
			t.Errorf("%q finds %s", pointer, got.Canonical())
		}
	}
	if got, ok := v.Lookup(""); !ok || !canon.Equal(v, got) {
		t.Error("the empty pointer is not the root")
	}
}

func TestWithAndWithoutChangeOnePlace(t *testing.T) {
	t.Parallel()
	const doc = `{"a":{"b":[1,{"c":2}]},"n":null}`
	for _, tc := range []struct{ pointer, with, without string }{
		{"", `9`, doc},
		{"/a", `{"a":9,"n":null}`, `{"n":null}`},
		{"/a/b/1/c", `{"a":{"b":[1,{"c":9}]},"n":null}`, `{"a":{"b":[1,{}]},"n":null}`},
		{"/a/b/0", `{"a":{"b":[9,{"c":2}]},"n":null}`, doc},
		{"/x/y", `{"a":{"b":[1,{"c":2}]},"n":null,"x":{"y":9}}`, doc},
		{"/a/b/2", "", doc},
		{"/n/x", "", doc},
		{"/a/b/0/x", "", doc},
		{"a", "", doc},
		{"/a~", "", doc},
	} {
		v := decoded(t, doc)
		with, ok := v.With(tc.pointer, canon.IntValue(9))
		if ok != (tc.with != "") {
			t.Errorf("With %q: %v", tc.pointer, ok)
		} else if want := tc.with; ok && string(with.Canonical()) != want {
			t.Errorf("With %q: got %s, want %s", tc.pointer, with.Canonical(), want)
		} else if !ok && !canon.Equal(v, with) {
			t.Errorf("With %q changed the value and failed", tc.pointer)
		}
		if got := string(v.Without(tc.pointer).Canonical()); got != tc.without {
			t.Errorf("Without %q: got %s, want %s", tc.pointer, got, tc.without)
		}
		if got := string(v.Canonical()); got != doc {
			t.Errorf("%q changed the value in place: %s", tc.pointer, got)
		}
	}
}

func TestDigestsAreLowercaseHex(t *testing.T) {
	t.Parallel()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // FIPS 180-4
	d := canon.Sum(nil)
	if diff := cmp.Diff(empty, d.String()); diff != "" {
		t.Error(diff)
	}
	back, err := canon.ParseDigest(empty)
	if err != nil || back != d || d.IsZero() || !(canon.Digest{}).IsZero() {
		t.Errorf("read back as %v, %v", back, err)
	}
	for _, text := range []string{"", empty[1:], empty + "0", strings.ToUpper(empty), strings.Replace(empty, "e3", "g3", 1), " " + empty[1:]} {
		kept := d
		if err := kept.UnmarshalText([]byte(text)); !errors.Is(err, canon.ErrDigest) || kept != d {
			t.Errorf("%q is read as %v, %v", text, kept, err)
		}
	}
	text, err := d.MarshalText()
	if err != nil || string(text) != empty {
		t.Errorf("marshals as %s, %v", text, err)
	}
}

func TestViolationsSayPlaceRuleAndExpectation(t *testing.T) {
	t.Parallel()
	vs := append(canon.Refuse("/a", "depth", "less"), canon.Violation{Rule: "size", Expected: "fewer", Offset: 7})
	want := "at /a: depth: expected less; at (root), byte 7: size: expected fewer"
	if diff := cmp.Diff(want, vs.Error()); diff != "" {
		t.Error(diff)
	}
}

// TestRefusalsHoldNoValue: every kind of refusal of a text whose values are
// marked must not print the mark.
func TestRefusalsHoldNoValue(t *testing.T) {
	t.Parallel()
	const mark = "4111111111111111"
	for _, tail := range []string{`"a":-0`, `"a":` + mark + `99`, `"a":1e` + mark, `"a":"` + mark + `\ud800"`, `"a":"` + mark + "\xff\"",
		`"a":"` + mark + "\n\"", `"a":"` + mark + `\x"`, `"a":[` + mark + `x]`, `"a":1,"a":` + mark, `"a":0.` + strings.Repeat(mark, 40)} {
		_, err := canon.Decode([]byte(`{"x":"`+mark+`",`+tail+`}`), strict)
		if err == nil {
			t.Errorf("%q is accepted", tail)
		} else if strings.Contains(err.Error(), mark) {
			t.Errorf("%q: %v", tail, err)
		}
	}
	rules := []string{}
	for _, raw := range []string{"", "[", "[}", "1 1"} {
		_, err := canon.Decode([]byte(raw), strict)
		rules = append(rules, rule(err))
	}
	if want := []string{"empty", "truncated", "syntax", "trailing_data"}; !slices.Equal(want, rules) {
		t.Errorf("got %v, want %v", rules, want)
	}
}

func TestOneRefusalListsAllNamesAndNumbers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, raw string
		want      []string
	}{
		{"numbers and names", `{"a":-0,"b":[1e400,9007199254740993,1],"a":2,"B":{"x":0.1234567890123456789}}`, []string{
			"/a 5 negative_zero", "/b/0 13 number_overflow", "/b/1 19 unsafe_integer", "/a 39 duplicate_name",
			"/B 45 case_twin", "/B/x 54 number_inexact"}},
		{"and the fault at which reading ends", `{"a":-0,"b":"\ud800","c":-0}`, []string{
			"/a 5 negative_zero", "/b 13 lone_surrogate"}},
		{"and what is behind", `[-0] 1`, []string{"/0 1 negative_zero", " 5 trailing_data"}},
		{"and the end", `[-0`, []string{"/0 1 negative_zero", " 3 truncated"}},
	} {
		_, err := canon.Decode([]byte(tc.raw), strict)
		if diff := cmp.Diff(tc.want, places(err)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
	_, err := canon.Decode([]byte("["+strings.Repeat("-0,", 100)+"-0]"), strict)
	if got := len(places(err)); got != canon.MaxViolations {
		t.Errorf("%d violations, want %d", got, canon.MaxViolations)
	}
	bad := canon.ArrayValue(canon.Value{}, canon.ObjectValue(canon.Member{Name: "x", Value: canon.Value{}}, canon.Member{Name: "x"}))
	want := []string{"/0 -1 invalid_value", "/1/x -1 invalid_value", "/1/x -1 duplicate_name", "/1/x -1 invalid_value"}
	if diff := cmp.Diff(want, places(canon.Check(bad))); diff != "" {
		t.Error(diff)
	}
}

// places returns pointer, offset and rule of each violation.
func places(err error) []string {
	var vs canon.Violations
	var out []string
	if errors.As(err, &vs) {
		for _, v := range vs {
			out = append(out, fmt.Sprintf("%s %d %s", v.Pointer, v.Offset, v.Rule))
		}
	}
	return out
}
