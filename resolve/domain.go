package resolve

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// domainProfile maps names as UTS 46 says for look-ups, non-transitional (a
// sharp s stays one). Hyphens in third place are in use; lengths and the
// ASCII characters are checked by [domainASCII].
func domainProfile() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(false), idna.CheckJoiners(true),
		idna.StrictDomainName(false), idna.Transitional(false))
}

// The longest name and label of the domain name system (RFC 1035 §2.3.4),
// without the dot of the root.
const (
	maxDomainBytes = 253
	maxLabelBytes  = 63
)

// domainASCII returns a domain name in lower-case ASCII (RFC 5890 A-labels),
// and again in Unicode. ok is false if it is no such name, or one that looks
// like another: [passesForAnother].
//
// An A-label must be exactly what its Unicode form gives, so that no name has
// two ASCII spellings.
func domainASCII(name string) (ascii string, ok bool) {
	if len(name) > 4*maxDomainBytes || halfEncoded(name) {
		return "", false // the length before the work of mapping it
	}
	p := domainProfile()
	ascii, err := p.ToASCII(name)
	if err != nil || !isDomain(ascii) {
		return "", false
	}
	text, err := p.ToUnicode(ascii)
	if err != nil {
		return "", false
	}
	if back, err := p.ToASCII(text); err != nil || back != ascii {
		return "", false
	}
	return ascii, !passesForAnother(text, ascii)
}

// halfEncoded reports whether a label says that it is in ASCII and is not; the
// library would decode it (UTS 46 §4 step 4.1 refuses it).
func halfEncoded(name string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case isUnseen(r):
			return -1 // as the mapping does
		case r == '\u3002':
			return '.'
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(name))
	for _, label := range strings.Split(plain, ".") {
		if strings.HasPrefix(label, "xn--") && !isASCII(label) {
			return true
		}
	}
	return false
}

// isDomain reports whether a name consists of labels of lower-case ASCII
// letters, digits, hyphens and underscores (which names of hosts in use
// have), none of them empty.
func isDomain(name string) bool {
	if len(name) > maxDomainBytes {
		return false
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || len(label) > maxLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// passesForAnother reports whether a label passes for another one.
func passesForAnother(text, ascii string) bool {
	for _, label := range strings.Split(text, ".") {
		if wordPassesForAnother(label, latinTop(ascii)) {
			return true
		}
	}
	return false
}

// wordPassesForAnother reports whether a word mixes scripts, holds a Latin
// letter that passes for another (dotless i), something that is not seen at
// all, or, where readers expect Latin letters, only letters that pass for
// them.
func wordPassesForAnother(word string, latin bool) bool {
	for _, r := range word {
		if _, alike := lookalike.Letter(r); alike && scriptOf(r) == scriptLatin || isUnseen(r) {
			return true
		}
	}
	return mixedScripts(word) || latin && allPassForLatin(word)
}

// isUnseen reports whether a character takes no place on a screen, or an
// empty one, and is no plain space: format characters, fillers, variation
// selectors, private use.
func isUnseen(r rune) bool {
	const brailleBlank = '\u2800'
	return r == brailleBlank || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// latinTop reports whether the top-level domain is one of Latin letters, below
// which readers expect them.
func latinTop(ascii string) bool {
	return !strings.HasPrefix(ascii[strings.LastIndexByte(ascii, '.')+1:], "xn--")
}

// scripts are those that are told apart here; letters of all others count as
// one more. Which of them may stand together follows UTS 39 §5.2, "highly
// restrictive": each alone, or Latin with what Japanese, Korean or Chinese is
// written in.
var scripts = []struct {
	table *unicode.RangeTable
	bit   uint
}{
	{unicode.Latin, scriptLatin}, {unicode.Han, scriptHan}, {unicode.Hiragana, scriptKana}, {unicode.Katakana, scriptKana},
	{unicode.Hangul, scriptHangul}, {unicode.Bopomofo, scriptBopomofo}, {unicode.Cyrillic, scriptCyrillic}, {unicode.Greek, scriptGreek},
	{unicode.Arabic, scriptArabic}, {unicode.Hebrew, scriptHebrew}, {unicode.Devanagari, scriptDevanagari}, {unicode.Thai, scriptThai},
	{unicode.Armenian, scriptArmenian}, {unicode.Georgian, scriptGeorgian}, {unicode.Cherokee, scriptCherokee}, {unicode.Bengali, scriptBengali},
	{unicode.Tamil, scriptTamil},
}

const (
	scriptLatin uint = 1 << iota
	scriptHan
	scriptKana
	scriptHangul
	scriptBopomofo
	scriptCyrillic
	scriptGreek
	scriptArabic
	scriptHebrew
	scriptDevanagari
	scriptThai
	scriptArmenian
	scriptGeorgian
	scriptCherokee
	scriptBengali
	scriptTamil
	scriptOther
)

// scriptOf returns the script of a letter, or of a digit outside of ASCII;
// zero for signs and marks, which stand with every script.
func scriptOf(r rune) uint {
	digit := r >= 0x80 && unicode.Is(unicode.Nd, r)
	switch {
	case !unicode.IsLetter(r) && !digit:
		return 0
	case unicode.In(r, unicode.Common, unicode.Inherited):
		if digit {
			return scriptArabic // U+0660 and on; other shared digits do not come through IDNA
		}
		return 0
	}
	for _, s := range scripts {
		if unicode.Is(s.table, r) {
			return s.bit
		}
	}
	return scriptOther
}

// mixedScripts reports whether a word holds letters of scripts that do not
// stand together in any one language.
func mixedScripts(word string) bool {
	var seen uint
	for _, r := range word {
		seen |= scriptOf(r)
	}
	if seen&(seen-1) == 0 {
		return false
	}
	for _, together := range []uint{scriptLatin | scriptHan | scriptKana, scriptLatin | scriptHan | scriptHangul, scriptLatin | scriptHan | scriptBopomofo} {
		if seen&^together == 0 {
			return false
		}
	}
	return true
}

// allPassForLatin reports whether a word has letters outside of ASCII and
// every letter of it passes for a Latin one.
func allPassForLatin(word string) bool {
	found := false
	for _, r := range word {
		if r < 0x80 || !unicode.IsLetter(r) {
			continue
		}
		if _, alike := lookalike.Letter(r); !alike {
			return false
		}
		found = true
	}
	return found
}
