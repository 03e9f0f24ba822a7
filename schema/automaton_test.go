package schema_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/schema"
)

// patterns are what tools write, and what is hard to get right.
var patterns = []string{
	`^[A-Z]+-[0-9]{3,8}$`, `^\d{4}-\d{2}-\d{2}$`, `^[a-z0-9]+(?:-[a-z0-9]+)*$`, `^https?://`, `\.json$`, `a`, `^`, `$`, `^$`, `$^`, ``, `^a|b$`,
	`(?:a|ab)(?:c|bcd)$`, `^(a*)*$`, `^.$`, `^[^a]$`, `[^\x00-\x7f]`, `^\s*\S+\s*$`, `^é$`, `(?i)^kelvin$`, `a{2,3}b`, `x*`, `^x*$`, `^(?:[01]?\d|2[0-3]):[0-5]\d$`,
	`^[0-9a-f]{8}-[0-9a-f]{4}$`, `ab|cd|ef`, `^a\b`, `\Bb`, `b$|^c`, `^(a|b)*abb$`, `.*a.{3}$`, `[]`, `[^]`,
}

// TestAutomatonAgreesWithTheRegularExpression on any text.
func TestAutomatonAgreesWithTheRegularExpression(t *testing.T) {
	t.Parallel()
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom(patterns).Draw(t, "pattern")
		if rapid.IntRange(0, 3).Draw(t, "made") == 0 {
			source = rapid.StringMatching(`\^?([abc.]|\[ab\]|\[\^a\]|\(a\|b\)|\(\?:ab\|c\))([*+?]|\{1,3\})?([abc$]|c\*)?\$?`).Draw(t, "source")
		}
		text := rapid.OneOf(
			rapid.StringMatching(`[abc]{0,6}`), rapid.StringMatching(`[A-Z]{0,3}-?[0-9]{0,9}`), rapid.StringMatching(`[0-9:\-]{0,12}`),
			rapid.StringMatching(`[kKlevin\n ]{0,8}`), rapid.StringMatching(`(https?://)?[a-z.é]{0,6}(json)?`), rapid.String(),
		).Draw(t, "text")
		quick, known, full, err := schema.MatchPattern(source, text)
		if err != nil {
			return
		}
		if known && quick != full {
			t.Fatalf("%s in %q: %t, by the automaton %t", source, text, full, quick)
		}
		if known {
			told++
		}
	})
	if told == 0 {
		t.Error("the automaton is not used")
	}
}

func TestAutomatonLeavesWhatItCannotTell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, text string
		known         bool
	}{
		{`^[A-Z]+$`, "ABC", true},
		{`^[A-Z]+$`, "ABé", false},
		{`^[A-Z]+$`, "aé", true},
		{`a`, "aé", true},
		{`\bword\b`, "word", false},
		{`^(a|b)*a(a|b){12}$`, "ab", false},
		{`^.{200}$`, "ab", false},
	} {
		t.Run(fmt.Sprintf("%s in %s", tc.pattern, tc.text), func(t *testing.T) {
			t.Parallel()
			if _, known, _, err := schema.MatchPattern(tc.pattern, tc.text); known != tc.known || err != nil {
				t.Errorf("known: %t, %v", known, err)
			}
		})
	}
}

// FuzzPattern holds the automaton against the regular expression.
func FuzzPattern(f *testing.F) {
	for _, p := range patterns {
		f.Add(p, "VENDOR-001")
		f.Add(p, "aé\n")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		quick, known, full, err := schema.MatchPattern(source, text)
		if err == nil && known && quick != full {
			t.Fatalf("%s in %q: %t, by the automaton %t", source, text, full, quick)
		}
	})
}
