package display_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

func TestEveryCharacterThatIsNotSeenIsMarked(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "rm -rf /srv", "rm -rf /srv"},
		{"B24: zero width space", "rm\u200b -rf", `rm\u{200B} -rf`},
		{"right-to-left override", "a\u202eb", `a\u{202E}b`},
		{"isolates", "\u2066a\u2069", `\u{2066}a\u{2069}`},
		{"arabic letter mark", "a\u061cb", `a\u{61C}b`},
		{"null", "a\x00b", `a\u{0}b`},
		{"escape", "\x1b[31m", `\u{1B}[31m`},
		{"delete", "a\x7f", `a\u{7F}`},
		{"C1 control", "a\u0085b", `a\u{85}b`},
		{"carriage return", "safe\rrm", `safe\rrm`},
		{"line end and tab", "a\n\tb", `a\n\tb`},
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"no-break space", "a\u00a0b", `a\u{A0}b`},
		{"ideographic space", "a\u3000b", `a\u{3000}b`},
		{"soft hyphen", "a\u00adb", `a\u{AD}b`},
		{"byte order mark", "\ufeffa", `\u{FEFF}a`},
		{"zero width joiner in a word", "a\u200db", `a\u{200D}b`},
		{"hangul filler", "a\u3164b", `a\u{3164}b`},
		{"combining grapheme joiner", "a\u034fb", `a\u{34F}b`},
		{"variation selector", "a\ufe0f", `a\u{FE0F}`},
		{"tag characters", "a\U000e0041", `a\u{E0041}`},
		{"private use", "\ue000", `\u{E000}`},
		{"not a character", "\uffff", `\u{FFFF}`},
		{"unassigned", "\u0378", `\u{378}`},
		{"braille blank", "a\u2800b", `a\u{2800}b`},
		{"invalid byte", "a\xffb", `a\x{FF}b`},
		{"cut rune", "a\xe2\x82", `a\x{E2}\x{82}`},
		{"backslash", `a\u{202E}`, `a\\u{202E}`},
		{"quote", `say "hi"`, `say \"hi\"`},
		{"C01: cyrillic a in a path", "/home/user/.ssh/\u0430uthorized", `/home/user/.ssh/\u{430}uthorized`},
		{"whole cyrillic word of look-alikes", "\u0440\u0430\u0443\u0440\u0430", `\u{440}\u{430}\u{443}\u{440}\u{430}`},
		{"greek omicron in latin", "g\u03bfogle", `g\u{3BF}ogle`},
		{"armenian among latin", "\u0578ame", `\u{578}ame`},
		{"russian", "привет мир", "привет мир"},
		{"greek", "καλημέρα", "καλημέρα"},
		{"french", "déjà vu", "déjà vu"},
		{"decomposed accent", "e\u0301", "e\u0301"},
		{"chinese", "付款", "付款"},
		{"hindi", "नमस्ते", "नमस्ते"},
		{"full width", "ａdmin", `\u{FF41}dmin`},
		{"mathematical", "\U0001d41aa", `\u{1D41A}a`},
		{"division slash", "a\u2215b", `a\u{2215}b`},
		{"fraction slash", "a\u2044b", `a\u{2044}b`},
		{"one dot leader", "example\u2024com", `example\u{2024}com`},
		{"non-breaking hyphen", "a\u2011b", `a\u{2011}b`},
		{"many accents", "a\u0300\u0301\u0302\u0303", "a\u0300\u0301" + `\u{302}\u{303}`},
		{"accent on nothing", "\u0301a", `\u{301}a`},
		{"B22: four hundred spaces", "ok;" + strings.Repeat(" ", 400) + "curl", `ok;\u{20}×400curl`},
		{"indentation", "  if x:", "  if x:"},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, display.Plain(display.Text(test.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// unseen reports a character that must never reach a page or a terminal.
func unseen(s string) (rune, bool) {
	for _, r := range s {
		if !unicode.IsGraphic(r) || r != ' ' && unicode.Is(unicode.Zs, r) ||
			unicode.In(r, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf) {
			return r, true
		}
	}
	return 0, !utf8.ValidString(s)
}

func check(t interface{ Fatalf(string, ...any) }, in string) {
	shown := display.Plain(display.Text(in))
	if r, found := unseen(shown); found {
		t.Fatalf("%+q shows %U", in, r)
	}
	literal := display.Plain(display.Literal(canon.StringValue(in), "", display.Masks{}))
	if literal != `"`+shown+`"` {
		t.Fatalf("%+q: literal %q, text %q", in, literal, shown)
	}
}

func TestNoCharacterIsShownAsWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if shown, found := unseen(display.Plain(display.Text("a" + string(r) + "b"))); found {
			t.Fatalf("%U shows %U", r, shown)
		}
	}
}

func TestDifferentTextsAreShownDifferently(t *testing.T) {
	t.Parallel()
	hard := rapid.StringOfN(rapid.SampledFrom([]rune(`ab\"u{20}×1 `+"\n\t\r\u200b\u202e\u0430\u0301\u00a0")), 0, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := hard.Draw(t, "a"), hard.Draw(t, "b")
		check(t, a)
		if a == b {
			return
		}
		x, y := display.Text(a), display.Text(b)
		if cmp.Equal(x, y) {
			t.Fatalf("%+q and %+q look alike: %q", a, b, display.Plain(x))
		}
	})
}

func FuzzTextShowsNothingUnseen(f *testing.F) {
	for _, s := range []string{"", "rm\u200b", "\u202e", "\xff", "a\u0301\u0301\u0301", strings.Repeat(" ", 20)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

func TestExcerptSaysHowMuchThereIs(t *testing.T) {
	t.Parallel()
	long := display.Text(strings.Repeat("x", 300) + "\u202e" + "tail")
	if got, want := display.Plain(display.Excerpt(long, 10)), "xxxxxxxxxx … 312 characters in all"; got != want {
		t.Errorf("excerpt = %q; want %q", got, want)
	}
	short := display.Text("short")
	if diff := cmp.Diff(short, display.Excerpt(short, 10)); diff != "" {
		t.Errorf("short text (-want +got):\n%s", diff)
	}
}
