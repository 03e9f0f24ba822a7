package lookalike_test

import (
	"testing"
	"unicode"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

func TestLettersPassForASCIIAndNeverForThemselves(t *testing.T) {
	t.Parallel()
	found := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		latin, alike := lookalike.Letter(r)
		if !alike {
			continue
		}
		found++
		if r < 0x80 || latin >= 0x80 || !unicode.IsLetter(r) || !unicode.IsLetter(latin) && !unicode.IsDigit(latin) {
			t.Errorf("%U passes for %U", r, latin)
		}
	}
	if found < 100 {
		t.Errorf("only %d letters", found)
	}
}

func TestSignsStandForASCIISigns(t *testing.T) {
	t.Parallel()
	for r, want := range map[rune]rune{'∕': '/', '／': '/', '․': '.', '‐': '-', 'ａ': 'a', '𝐚': 'a', '；': ';', '\u037e': ';', '²': '2'} {
		if got, alike := lookalike.Sign(r); !alike || got != want {
			t.Errorf("%U stands for %q, %t; want %q", r, got, alike, want)
		}
	}
	for _, r := range "azAZ09/.-é付я…“”½€" {
		if got, alike := lookalike.Sign(r); alike {
			t.Errorf("%U stands for %q; want itself", r, got)
		}
	}
}
