package postgres_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/store/postgres"
)

func TestTextsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":             "",
		"bank.pay":     "bank.pay",
		"é":            "é",
		"\ufffd":       "\ufffd",
		"a\x00b":       `a\00b`,
		"\xff\xfe":     `\ff\fe`,
		`a\b`:          `a\\b`,
		`\00`:          `\\00`,
		"\xed\xa0\x80": `\ed\a0\80`,
	} {
		if got := postgres.Escape(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{`\`, `a\`, `\0`, `\0g`, `\FF`, `\x00`} {
		if got, ok := postgres.Unescape(text); ok {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

func FuzzTextSurvivesTheDatabase(f *testing.F) {
	f.Add("a\x00b\\\xff", "a")
	f.Fuzz(func(t *testing.T, a, b string) {
		written := postgres.Escape(a)
		if !utf8.ValidString(written) || strings.ContainsRune(written, 0) {
			t.Fatalf("%q cannot be stored", written)
		}
		if got, ok := postgres.Unescape(written); !ok || got != a {
			t.Fatalf("%q came back as %q", a, got)
		}
		if (a == b) != (written == postgres.Escape(b)) {
			t.Fatalf("%q and %q", a, b)
		}
		if got, ok := postgres.Unescape(b); ok && postgres.Escape(got) != b && utf8.ValidString(b) && !strings.ContainsRune(b, 0) {
			// another spelling of a text: read, but never written
			if strings.Contains(b, `\`) {
				return
			}
			t.Fatalf("%q and %q are one text", b, postgres.Escape(got))
		}
	})
}
