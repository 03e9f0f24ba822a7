package auth_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/auth"
)

func TestNamesThatPeopleCannotReadAreRefused(t *testing.T) {
	t.Parallel()
	for what, name := range map[string]string{
		"empty":                        "",
		"spaces only":                  "   ",
		"too long":                     strings.Repeat("a", auth.MaxName+1),
		"line feed":                    "ali\nce",
		"null":                         "ali\x00ce",
		"delete":                       "ali\x7fce",
		"right-to-left override":       "ali\u202ece",
		"isolate":                      "ali\u2066ce",
		"zero width space":             "ali\u200bce",
		"zero width joiner":            "ali\u200dce",
		"byte order mark":              "\ufeffalice",
		"soft hyphen":                  "ali\u00adce",
		"combining grapheme joiner":    "ali\u034fce",
		"hangul filler, a letter":      "ali\u3164",
		"hangul filler alone":          "\u3164",
		"variation selector":           "ali\ufe0fce",
		"tag character":                "alice\U000e0061",
		"private use":                  "ali\ue000ce",
		"emoji":                        "alice\U0001f600",
		"no-break space":               "ali\u00a0ce",
		"double space":                 "ali  ce",
		"full width":                   "ａｌｉｃｅ",
		"mathematical bold":            "\U0001d41a\U0001d41b",
		"cyrillic a among latin":       "\u0430lice",
		"greek omicron among latin":    "b\u03bfb",
		"latin among cyrillic":         "иван b",
		"starts with a sign":           "-alice",
		"starts with a mark":           "\u0301alice",
		"ends with a sign":             "alice.",
		"slash":                        "a/b",
		"angle bracket":                "<b>a",
		"invalid UTF-8":                "ali\xffce",
		"surrogate half, encoded":      "ali\xed\xa0\x80ce",
		"digits of another script mix": "alice\u0661",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if clean, err := auth.CleanName(name); !errors.Is(err, auth.ErrName) {
				t.Errorf("CleanName(%+q) = %+q, %v; want ErrName", name, clean, err)
			}
			if key := auth.FoldName(name); key != "" {
				t.Errorf("FoldName(%+q) = %+q; want no key", name, key)
			}
		})
	}
}

func TestNamesOfPeopleAreKept(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"alice":              "alice",
		"  Alice Example ":   "Alice Example",
		"Rene\u0301e":        "Ren\u00e9e",
		"O'Brien":            "O'Brien",
		"jean-luc.picard":    "jean-luc.picard",
		"ops+oncall@example": "ops+oncall@example",
		"Иван Петров":        "Иван Петров",
		"Γιώργος":            "Γιώργος",
		"田中さくら":              "田中さくら",
		"김철수":                "김철수",
		"नरेन्द्र":           "नरेन्द्र",
		"محمد":               "محمد",
		"ณัฐ":                "ณัฐ",
		"agent 47":           "agent 47",
	} {
		got, err := auth.CleanName(name)
		if err != nil || got != want {
			t.Errorf("CleanName(%+q) = %+q, %v; want %+q", name, got, err, want)
		}
	}
}

func TestNamesThatLookAlikeShareAKey(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"alice", "ALICE"}, {"alice", "al1ce"}, {"alice", "aIice"}, {"bob", "b0b"},
		{"straße", "STRASSE"}, {"сара", "capa"}, {"ορο", "opo"}, {"Ren\u00e9e", "rene\u0301e"}, {"alice", " alice "},
	} {
		if a, b := auth.FoldName(pair[0]), auth.FoldName(pair[1]); a != b || a == "" {
			t.Errorf("keys of %+q and %+q are %+q and %+q; want equal", pair[0], pair[1], a, b)
		}
	}
	if auth.FoldName("alice") == auth.FoldName("bob") {
		t.Error("alice and bob share a key")
	}
}

func TestCleanNameIsStableAndShort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clean, err := auth.CleanName(rapid.String().Draw(t, "name"))
		if err != nil {
			return
		}
		again, err := auth.CleanName(clean)
		if err != nil || again != clean {
			t.Fatalf("CleanName(%+q) = %+q, %v; want itself", clean, again, err)
		}
		if auth.FoldName(clean) == "" {
			t.Fatalf("%+q has no key", clean)
		}
	})
}
