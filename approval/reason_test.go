package approval_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/approval"
)

func TestAReasonIsWhatOthersCanRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		" \r\n\t ":               "",
		" paid\r\nlast week ":    "paid\nlast week",
		"größer als 5 €":         "größer als 5 €",
		strings.Repeat("ü", 500): strings.Repeat("ü", 500),
	} {
		if got, ok := approval.Reason(text); !ok || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"no\u202e", "no\u200b", "no\x00", "no\xff", "a\tb", "a\rb", "\ufeffa", "a\u2028b", strings.Repeat("x", 501)} {
		if got, ok := approval.Reason(text); ok {
			t.Errorf("%q is taken as %q", text, got)
		}
	}
}

func FuzzReason(f *testing.F) {
	f.Add(" paid\r\nlast week ")
	f.Add("no\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := approval.Reason(text)
		if !ok {
			return
		}
		again, stable := approval.Reason(got)
		if !stable || again != got || !utf8.ValidString(got) || utf8.RuneCountInString(got) > approval.MaxReason {
			t.Errorf("%q is %q, and that is %q, %v", text, got, again, stable)
		}
		for _, r := range got {
			if r != '\n' && !unicode.IsGraphic(r) {
				t.Errorf("%q keeps %U", text, r)
			}
		}
	})
}
