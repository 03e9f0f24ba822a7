package lookalike_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

func TestKindOfTexts(t *testing.T) {
	t.Parallel()
	const mixed, alike, unseen = lookalike.MixedWord, lookalike.AlikeWord, lookalike.UnseenCharacter
	for _, c := range []struct {
		name, text string
		want       lookalike.Kind
	}{
		{"plain", "VENDOR-001, paid on 2026-05-04\n\tthanks", 0},
		{"nothing", "", 0},
		{"umlauts", "Müller & Söhne, Übersee", 0},
		{"composed the other way", "Mu\u0308ller", 0},
		{"Russian prose", "я рок не слушаю, тётя Нора", 0},
		{"Greek prose", "το τυρί και ο οίνος", 0},
		{"Japanese with Latin letters", "Tシャツを3枚、GOOGLE株式会社", 0},
		{"Chinese prose", "你好，世界。", 0},
		{"Korean", "서울 2호선", 0},
		{"Arabic digits", "رقم ٣", 0},
		{"emoji", "well done 👍🏽 👩‍💻 ❤️ 1️⃣", 0},
		{"a square and a trademark", "30 m², 1ª, Acme™", 0},
		{"C01 Cyrillic in a Latin word", "/home/user/.ssh/\u0430uthorized", mixed},
		{"Greek in a Latin word", "g\u03bfogle", mixed},
		{"Latin in a Cyrillic word", "\u043f\u0440\u0438веt", mixed},
		{"Cyrillic that passes for Latin", "\u0430\u0440\u0440\u04cf\u0435", alike},
		{"the same with a number", "\u0420\u0410\u0423-001", alike},
		{"the same between Latin words", "pay \u0430\u0441\u0435 now", alike},
		{"dotless i", "p\u0131zza", alike},
		{"full width", "\uff36\uff25\uff2e\uff24\uff2f\uff32", alike},
		{"mathematical", "\U0001d42f\U0001d41e\U0001d427", alike},
		{"a slash that is none", "a\u2215b", alike},
		{"zero width space", "VENDOR\u200b-001", unseen},
		{"right to left override", "a\u202eb", unseen},
		{"soft hyphen", "ven\u00addor", unseen},
		{"a joiner between letters", "a\u200db", unseen},
		{"null", "a\x00b", unseen},
		{"tag characters", "a\U000e0041", unseen},
		{"a filler", "a\u3164b", unseen},
		{"all of it", "\u0430uth \u0440\u0430\u0440\u0430 \u200b", mixed | alike | unseen},
	} {
		if got := lookalike.KindOf(c.text); got != c.want {
			t.Errorf("%s: got %b, want %b", c.name, got, c.want)
		}
	}
}

func TestEveryLookalikeInAnASCIIWordIsSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{2,10}`).Draw(t, "word")
		at := rapid.IntRange(0, len(word)-1).Draw(t, "at")
		with := rapid.SampledFrom([]rune("асеорхуіјԁһɡɑοινρτυχօոսքꓲꓳꓮⅰａ𝐚\u200b\u00ad\u2060")).Draw(t, "with")
		if text := word[:at] + string(with) + word[at+1:]; lookalike.KindOf(text) == 0 {
			t.Fatalf("%+q is taken for plain", text)
		}
		if lookalike.KindOf(word) != 0 || lookalike.KindOf(strings.ToUpper(word)) != 0 {
			t.Fatalf("%q is plain", word)
		}
	})
}
