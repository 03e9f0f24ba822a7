package canon_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

func number(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.ParseNumber(text, false)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCheckRefusesWhatNoDecoderReturns(t *testing.T) {
	t.Parallel()
	object := func(names ...string) canon.Value {
		var members []canon.Member
		for _, n := range names {
			members = append(members, canon.Member{Name: n, Value: canon.NullValue()})
		}
		return canon.ObjectValue(members...)
	}
	deep := canon.NullValue()
	for range 65 {
		deep = canon.ArrayValue(deep)
	}
	cycle := make([]canon.Value, 1)
	cycle[0] = canon.ArrayValue(cycle...)
	wide := make([]canon.Value, canon.DefaultMaxNodes)
	for i := range wide {
		wide[i] = canon.NullValue()
	}
	at := func(v canon.Value) canon.Value {
		return canon.ObjectValue(canon.Member{Name: "a/b", Value: canon.ArrayValue(canon.NullValue(), v)})
	}
	for _, tc := range []struct {
		name          string
		value         canon.Value
		pointer, rule string
	}{
		{"the zero Value", canon.Value{}, "", canon.RuleInvalidValue},
		{"an unsafe IntValue", at(canon.IntValue(1 << 53)), "/a~1b/1", canon.RuleInvalidValue},
		{"an unsafe float", at(number(t, "1e20")), "/a~1b/1", canon.RuleUnsafeInteger},
		{"text that is not UTF-8", at(canon.StringValue("a\xff")), "/a~1b/1", canon.RuleInvalidUTF8},
		{"a name that is not UTF-8", at(object("\xff")), "/a~1b/1", canon.RuleInvalidUTF8},
		{"duplicate names", at(object("x", "y", "x")), "/a~1b/1/x", canon.RuleDuplicateName},
		{"too deep", deep, strings.Repeat("/0", 64), canon.RuleDepth},
		{"a cycle", cycle[0], strings.Repeat("/0", 64), canon.RuleDepth},
		{"too many", canon.ArrayValue(wide...), "/99999", canon.RuleNodes},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := canon.Check(tc.value)
			var vs canon.Violations
			if !errors.As(err, &vs) || len(vs) != 1 {
				t.Fatalf("got error %v, want one violation", err)
			}
			want := []any{tc.pointer, tc.rule, -1}
			if diff := cmp.Diff(want, []any{vs[0].Pointer, vs[0].Rule, vs[0].Offset}); diff != "" {
				t.Error(diff)
			}
		})
	}
	if err := canon.Check(object("x", "X")); err != nil {
		t.Errorf("case twins: %v", err)
	}
	if err := canon.CheckWithin(object("x", "X"), strict); rule(err) != canon.RuleCaseTwin {
		t.Errorf("case twins under FoldTwins: %v", err)
	}
}

func TestCheckCountsNestingNotContainers(t *testing.T) {
	t.Parallel()
	pairs := make([]canon.Value, 100)
	for i := range pairs {
		pairs[i] = canon.ArrayValue(canon.ObjectValue(), canon.ArrayValue())
	}
	if err := canon.Check(canon.ArrayValue(pairs...)); err != nil {
		t.Error(err)
	}
}

func TestFirstOfEqualNamesIsWrittenInLargeObjectsToo(t *testing.T) {
	t.Parallel()
	var members []canon.Member
	for i := range int64(200) {
		members = append(members, canon.Member{Name: string(rune('z' - i%20)), Value: canon.IntValue(i)})
	}
	got := decoded(t, string(canon.ObjectValue(members...).Canonical()))
	if got.Len() != 20 {
		t.Fatalf("%d members are written, want 20", got.Len())
	}
	for i := range int64(20) {
		v, _ := got.Get(string(rune('z' - i)))
		if first, _ := v.Int64(); first != i {
			t.Errorf("member %c: value %d is written, want the first, %d", rune('z'-i), first, i)
		}
	}
}

// TestEncoderAlwaysWritesOneValidText: even a tree that Check refuses gives
// JSON that every reader reads alike.
func TestEncoderAlwaysWritesOneValidText(t *testing.T) {
	t.Parallel()
	one, two := canon.IntValue(1), canon.IntValue(2)
	for _, tc := range []struct {
		name  string
		value canon.Value
		want  string
	}{
		{"no kind", canon.ArrayValue(canon.Value{}), "[null]"},
		{"bad bytes", canon.StringValue("a\xffb\xc0"), "\"a\ufffdb\ufffd\""},
		{"equal names", canon.ObjectValue(canon.Member{Name: "b", Value: one}, canon.Member{Name: "a", Value: one},
			canon.Member{Name: "b", Value: two}), `{"a":1,"b":1}`},
		{"names that become equal", canon.ObjectValue(canon.Member{Name: "\xff", Value: one},
			canon.Member{Name: "\xfe", Value: two}), "{\"\ufffd\":1}"},
		{"names that become equal, not in order", canon.ObjectValue(canon.Member{Name: "\ufffd", Value: one},
			canon.Member{Name: "\xff", Value: two}, canon.Member{Name: "\U0001F600", Value: two}), "{\"\U0001F600\":2,\"\ufffd\":1}"},
	} {
		got := string(tc.value.Canonical())
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if _, err := canon.Decode([]byte(got), canon.Options{}); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestFloatValueRefusesWhatHasNoForm(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		math.Inf(1):  canon.RuleNumberOverflow,
		math.Inf(-1): canon.RuleNumberOverflow,
		math.NaN():   canon.RuleNumberOverflow,
	} {
		if _, err := canon.FloatValue(f); rule(err) != want {
			t.Errorf("%v: %v", f, err)
		}
	}
	if _, err := canon.FloatValue(math.Copysign(0, -1)); rule(err) != canon.RuleNegativeZero {
		t.Errorf("-0: %v", err)
	}
	if v, err := canon.FloatValue(0); err != nil || v.NumberText() != "0" {
		t.Errorf("0: %v, %v", v.NumberText(), err)
	}
}

func TestParseNumberReadsOneLiteralAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1 ", " 1", "1,", "0x10",
		"1_0", "Infinity", "NaN", "１", "1e1.5", "--1", "1\x00"} {
		if v, err := canon.ParseNumber(text, false); err == nil {
			t.Errorf("%q is read as %s", text, v.NumberText())
		}
	}
}

func TestErrorsNameOnlyKnownMembers(t *testing.T) {
	t.Parallel()
	var asked []string
	opt := canon.Options{Known: func(pointer string) bool {
		asked = append(asked, pointer)
		return pointer == "/a~1b"
	}}
	_, err := canon.Decode([]byte(`{"a/b":[0,{"secret":{"~":-0}}]}`), opt)
	var vs canon.Violations
	if !errors.As(err, &vs) {
		t.Fatal(err)
	}
	if diff := cmp.Diff("/a~1b/1/<unknown>/<unknown>", vs[0].Pointer); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/a~1b", "/a~1b/1/secret", "/a~1b/1/secret/~0"}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestLongNamesAreNotAskedAbout bounds what Known has to read.
func TestLongNamesAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	asked := 0
	opt := canon.Options{Known: func(pointer string) bool {
		asked += len(pointer)
		return true
	}}
	deep := strings.Repeat(`{"a":`, 60)
	_, err := canon.Decode([]byte(`{"b":{"`+strings.Repeat("x", 1<<19)+`":`+deep+`-0`+strings.Repeat("}", 62)), opt)
	var vs canon.Violations
	if !errors.As(err, &vs) {
		t.Fatal(err)
	}
	if diff := cmp.Diff("/b"+strings.Repeat("/<unknown>", 61), vs[0].Pointer); diff != "" {
		t.Error(diff)
	}
	if asked != len("/b") {
		t.Errorf("asked about %d bytes", asked)
	}
}

// TestCheckLooksIntoDecodedTrees: what a decoder with other rules has made is
// not taken on trust.
func TestCheckLooksIntoDecodedTrees(t *testing.T) {
	t.Parallel()
	decoded := func(text string) canon.Value {
		v, err := canon.Decode([]byte(text), canon.Options{MaxDepth: canon.CeilingDepth, MaxNodes: canon.CeilingNodes})
		if err != nil {
			t.Fatal(err)
		}
		return canon.ObjectValue(canon.Member{Name: "m", Value: v})
	}
	for name, tc := range map[string]struct {
		text, pointer, rule string
	}{
		"a rounded number": {`[0,{"n":1e20}]`, "/m/1/n", canon.RuleUnsafeInteger},
		"case twins":       {`[{"a":1,"A":2}]`, "/m/0/A", canon.RuleCaseTwin},
		"too deep":         {strings.Repeat("[", 64) + strings.Repeat("]", 64), "/m" + strings.Repeat("/0", 63), canon.RuleDepth},
		"too many":         {"[0" + strings.Repeat(",0", canon.DefaultMaxNodes-2) + "]", "/m/99998", canon.RuleNodes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := canon.CheckWithin(decoded(tc.text), strict)
			var vs canon.Violations
			if !errors.As(err, &vs) || len(vs) != 1 {
				t.Fatalf("got error %v, want one violation", err)
			}
			if diff := cmp.Diff([]any{tc.pointer, tc.rule, -1}, []any{vs[0].Pointer, vs[0].Rule, vs[0].Offset}); diff != "" {
				t.Error(diff)
			}
		})
	}
	if err := canon.CheckWithin(decoded(`{"a":[1,-2,0.5,"x",{"b":null}]}`), strict); err != nil {
		t.Error(err)
	}
}

// TestDraftTrustsOnlyWhatIsSound: a drafted object counts as decoded if a
// decoder could have returned it, and Check agrees.
func TestDraftTrustsOnlyWhatIsSound(t *testing.T) {
	t.Parallel()
	old, err := canon.Decode([]byte(`{"a":1,"b":{"c":"x"}}`), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inexact, err := canon.Decode([]byte(`[0.1,1e30]`), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := old.Members()[0], old.Members()[1]
	member := func(name string, v canon.Value) canon.Member { return canon.Member{Name: name, Value: v} }
	built := canon.ObjectValue(member("x", canon.StringValue("\xff")))
	for name, tc := range map[string]struct {
		from  canon.Value
		set   canon.Value // for b
		more  []canon.Member
		sound bool
	}{
		"nothing new":                          {old, b.Value, nil, true},
		"one more":                             {old, b.Value, []canon.Member{member("d", canon.StringValue("y"))}, true},
		"a decoded one":                        {old, b.Value, []canon.Member{member("d", old)}, true},
		"another value":                        {old, canon.BoolValue(true), nil, true},
		"an inexact number":                    {old, inexact.At(1), nil, true},
		"an inexact array":                     {old, inexact, nil, true},
		"a name twice":                         {old, b.Value, []canon.Member{member("a", canon.NullValue())}, false},
		"a name out of order":                  {old, b.Value, []canon.Member{member("aa", canon.NullValue())}, false},
		"names that begin alike":               {old, b.Value, []canon.Member{member("c2345678", a.Value), member("c23456789", a.Value), member("c23456789\x00", a.Value)}, true},
		"names that begin alike, not in order": {old, b.Value, []canon.Member{member("c23456789", a.Value), member("c2345678", a.Value)}, false},
		"names with escapes":                   {old, b.Value, []canon.Member{member("c\n", canon.StringValue("\t\"")), member("c\"", b.Value)}, true},
		"names by UTF-16":                      {old, b.Value, []canon.Member{member("\U0001F600", a.Value), member("\uFB33", a.Value)}, true},
		"names by UTF-8 only":                  {old, b.Value, []canon.Member{member("\uFB33", a.Value), member("\U0001F600", a.Value)}, false},
		"a new name twice":                     {old, b.Value, []canon.Member{member("d", canon.NullValue()), member("d", canon.NullValue())}, false},
		"a name that is no text":               {old, b.Value, []canon.Member{member("\xff", canon.NullValue())}, false},
		"a string that is no text":             {old, b.Value, []canon.Member{member("d", canon.StringValue("\xff"))}, false},
		"no value":                             {old, b.Value, []canon.Member{member("d", canon.Value{})}, false},
		"a built value":                        {old, b.Value, []canon.Member{member("d", built)}, false},
		"a built value inside":                 {old, built, nil, false},
		"of a built value":                     {canon.ObjectValue(a, b), b.Value, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := append([]canon.Member{a, member("b", tc.set)}, tc.more...)
			for _, room := range []int{0, len(tc.more), 5, 12, 40} {
				var d canon.Draft
				d.Rebuild(tc.from, room)
				ready := []canon.Ready{canon.MakeReady("a", canon.Value{}), canon.MakeReady("b", tc.set)}
				d.Take(0, &ready[0])
				d.Put(&ready[1])
				for _, m := range tc.more {
					r := canon.MakeReady(m.Name, m.Value)
					d.Put(&r)
				}
				agree(t, d.Value(), canon.ObjectValue(plain...), tc.sound)
			}
			if len(tc.more) == 0 {
				var d canon.Draft
				d.Begin(tc.from)
				d.Set(1, tc.set)
				agree(t, d.Value(), canon.ObjectValue(plain...), tc.sound)
			}
			if diff := cmp.Diff(`{"a":1,"b":{"c":"x"}}`, string(old.Canonical())); diff != "" {
				t.Errorf("the draft changed what it is a copy of: %s", diff)
			}
		})
	}
}

// agree compares a drafted value with the same one built by hand.
func agree(t *testing.T, v, plain canon.Value, sound bool) {
	t.Helper()
	if v.Decoded() != sound {
		t.Errorf("counts as decoded: %t", v.Decoded())
	}
	for _, opt := range []canon.Options{{}, {Exact: true}, {MaxNodes: 3}, {MaxNodes: 4}, {MaxDepth: 1}, {MaxDepth: 2}, {FoldTwins: true}} {
		if diff := cmp.Diff(fmt.Sprint(canon.CheckWithin(plain, opt)), fmt.Sprint(canon.CheckWithin(v, opt))); diff != "" {
			t.Errorf("CheckWithin %+v (-built by hand): %s", opt, diff)
		}
	}
	if diff := cmp.Diff(string(plain.Canonical()), string(v.Canonical())); diff != "" {
		t.Error(diff)
	}
}

// TestDraftOfAnArray: elements are replaced in a copy.
func TestDraftOfAnArray(t *testing.T) {
	t.Parallel()
	old, err := canon.Decode([]byte(`[1,[2],"x"]`), canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	var d canon.Draft
	if d.Begun() {
		t.Error("the zero draft has begun")
	}
	d.Begin(old)
	d.Set(1, canon.ArrayValue(canon.ArrayValue()))
	v := d.Value()
	if got := string(v.Canonical()) + string(old.Canonical()); got != `[1,[[]],"x"][1,[2],"x"]` || v.Decoded() || d.Begun() {
		t.Errorf("got %s, decoded %t, begun %t", got, v.Decoded(), d.Begun())
	}
	d.Begin(old)
	d.Set(1, old.At(2))
	if v = d.Value(); !v.Decoded() || canon.Check(v) != nil {
		t.Error("a sound element does not count")
	}
}

// TestDraftsOfDraftsStayBounded: a tree whose parts are shared may be as large
// as its extent says, and then does not count as decoded.
func TestDraftsOfDraftsStayBounded(t *testing.T) {
	t.Parallel()
	v, err := canon.Decode([]byte(`{"a":0,"b":0}`), canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		var d canon.Draft
		d.Begin(v)
		d.Set(0, v)
		d.Set(1, v)
		v = d.Value()
	}
	var vs canon.Violations
	if err := canon.Check(v); v.Decoded() || !errors.As(err, &vs) || vs[0].Rule != canon.RuleNodes {
		t.Errorf("counts as decoded: %t, %v", v.Decoded(), err)
	}
}
