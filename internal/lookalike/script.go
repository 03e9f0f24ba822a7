package lookalike

import "unicode"

// Unseen reports whether a character takes no place on a screen, or an
// empty one, and is no plain space: format characters, fillers, variation
// selectors, private use.
func Unseen(r rune) bool {
	const brailleBlank = '\u2800'
	return r == brailleBlank || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Disguised reports whether a letter is a Latin one that passes for another,
// such as dotless i.
func Disguised(r rune) bool {
	_, alike := letters[r]
	return alike && scriptOf(r) == scriptLatin
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

// Mixed reports whether a word holds letters of scripts that do not
// stand together in any one language.
func Mixed(word string) bool {
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

// AllAlike reports whether a word has letters outside of ASCII and
// every letter of it passes for a Latin one.
func AllAlike(word string) bool {
	found := false
	for _, r := range word {
		if r < 0x80 || !unicode.IsLetter(r) {
			continue
		}
		if _, alike := Letter(r); !alike {
			return false
		}
		found = true
	}
	return found
}
