package canon_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
)

// quoteSlowly is RFC 8785 §3.2.2.2, one byte at a time.
func quoteSlowly(s string) string {
	short := map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		c := s[i]
		switch escape, known := short[c]; {
		case known:
			b.WriteString(escape)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Every length up to several words, with each kind of byte at each place.
func TestTextsOfEachLengthAreQuotedByteForByte(t *testing.T) {
	t.Parallel()
	for size := range 75 {
		for at := range size + 1 {
			for _, odd := range []string{"", `"`, `\`, "\x00", "\x1f", "\n", " ", "\x7f", "é", "\U0001F378", `""`, `\"\"\"\"`} {
				text := strings.Repeat("a", at) + odd + strings.Repeat("b", size-at)
				for _, room := range []int{0, 1, 200} {
					got := canon.StringValue(text).AppendTo(append(make([]byte, 0, room), '<'))
					if want := "<" + quoteSlowly(text); string(got) != want {
						t.Fatalf("got %s, want %s", got, want)
					}
					form := quoteSlowly(text)
					got = canon.AppendQuoted(append(make([]byte, 0, room), '<'), form)
					if want := "<" + quoteSlowly(form); string(got) != want {
						t.Fatalf("a canonical text: got %s, want %s", got, want)
					}
				}
			}
		}
	}
}

func TestTextsAreQuotedByteForByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\a]{0,20}`))).Draw(t, "parts"), "")
		if diff := cmp.Diff(quoteSlowly(text), string(canon.StringValue(text).Canonical())); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A canonical text is quoted like any other, also where it is long.
func TestCanonicalTextsAreQuotedAsAnyOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\a]{0,20}`))).Draw(t, "parts"), "")
		form := string(canon.StringValue(strings.Repeat(text, rapid.IntRange(1, 200).Draw(t, "times"))).Canonical())
		if !bytes.Equal(canon.StringValue(form).Canonical(), canon.AppendQuoted(nil, form)) {
			t.Fatalf("%q is quoted in two ways", form)
		}
	})
}

// Names that begin and end alike are all that a reader compares: no other two
// may be equal under simple case folding, and none of them be missed.
func TestNoTwinIsMissed(t *testing.T) {
	t.Parallel()
	letters := rapid.SampledFrom([]rune("aAbkK\u212asSſ_1éÉ"))
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOfN(letters, 0, 3).Draw(t, "letters"))
		}), 1, 20).Draw(t, "names")
		var twins, twice bool
		members := make([]string, len(names))
		values := rapid.SampledFrom([]string{`0`, `[]`, `{"a":0,"b":0}`, `{"b":0,"a":0}`, `[{"b":{"b":0,"a":0},"a":0}]`})
		for i, a := range names {
			for _, b := range names[:i] {
				twins, twice = twins || strings.EqualFold(a, b), twice || a == b
			}
			members[i] = quoteSlowly(a) + ":" + values.Draw(t, "value")
		}
		text := "{" + strings.Join(members, ",") + "}"
		if !utf8.ValidString(text) {
			t.Fatalf("%q", text)
		}
		for fold, want := range map[bool]bool{true: twins, false: twice} {
			opt := canon.Options{FoldTwins: fold}
			_, err := canon.Decode([]byte(text), opt)
			if refused := err != nil; refused != want {
				t.Fatalf("%s, fold %v: refused %v, want %v", text, fold, refused, want)
			}
			members := make([]canon.Member, len(names))
			for i := range names {
				members[i] = canon.Member{Name: names[i], Value: canon.NullValue()}
			}
			if refused := canon.CheckWithin(canon.ObjectValue(members...), opt) != nil; refused != want {
				t.Fatalf("%s, fold %v: a check refuses %v, want %v", text, fold, refused, want)
			}
		}
	})
}

// A value inside whose names are in no order says nothing about those outside.
func TestDuplicateBesideAnObjectWithoutOrderIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"1":{"f":0,"F":0},"2":0,"1":0}`,
		`{"1":{"f":{"f":0,"F":0},"\n":0},"10":{},"":0,"a":{},"1":[{"e":0,"E":0}],"A":{}}`,
		`{"a":0,"b":[{"d":0,"c":0}],"a":0}`,
	} {
		v, err := canon.Decode([]byte(text), canon.Options{})
		if diff := cmp.Diff(canon.RuleDuplicateName, rule(err)); diff != "" {
			t.Errorf("%s gives %s: %s", text, v.Canonical(), diff)
		}
	}
}

func TestAnyTextIsAppendedAsItsValueIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~\x00-\x1f]{0,80}`), rapid.SampledFrom([]string{"\xff", "a\xc0\xaf", "\u2028"})).Draw(t, "text")
		if got, want := canon.AppendText([]byte("<"), text), canon.StringValue(text).AppendTo([]byte("<")); !bytes.Equal(got, want) {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}
