// Package lookalike knows letters that pass for Latin ones (UTS 39, the
// single-letter part that matters for names and identifiers).
//
// In: a character. Out: the Latin letter or ASCII sign that it looks like. It
// never fails and promises nothing about sequences of characters.
package lookalike

import "golang.org/x/text/unicode/norm"

// letters maps letters of other scripts to the Latin ones they look like.
var letters = map[rune]rune{
	// Cyrillic
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'ѐ': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'м': 'm', 'н': 'h',
	'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y', 'ӏ': 'l', 'ԍ': 'g', 'ь': 'b',
	'А': 'A', 'В': 'B', 'С': 'C', 'Ԁ': 'D', 'Е': 'E', 'Н': 'H', 'І': 'I', 'Ј': 'J', 'К': 'K', 'М': 'M', 'О': 'O', 'Р': 'P',
	'Ѕ': 'S', 'Т': 'T', 'Ѵ': 'V', 'Ԝ': 'W', 'Х': 'X', 'У': 'Y', 'Ү': 'Y', 'Ӏ': 'I', 'Ԛ': 'Q', 'Ԍ': 'G', 'З': '3', 'б': '6',
	// Greek
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x',
	'γ': 'y', 'ω': 'w', 'ϲ': 'c', 'ϳ': 'j', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M',
	'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', 'Χ': 'X', 'Ϲ': 'C',
	// Armenian
	'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'յ': 'j', 'զ': 'q', 'ք': 'p', 'Օ': 'O', 'Տ': 'S', 'Լ': 'L',
	// Cherokee
	'Ꭺ': 'A', 'Ᏼ': 'B', 'Ꮯ': 'C', 'Ꭰ': 'D', 'Ꭼ': 'E', 'Ꮐ': 'G', 'Ꮋ': 'H', 'Ꭻ': 'J', 'Ꮶ': 'K', 'Ꮮ': 'L', 'Ꮇ': 'M',
	'Ꮲ': 'P', 'Ꮢ': 'R', 'Ꮪ': 'S', 'Ꭲ': 'T', 'Ꮩ': 'V', 'Ꮃ': 'W', 'Ꮓ': 'Z',
	// Latin letters that pass for others
	'ı': 'i', 'ɑ': 'a', 'ɡ': 'g', 'ɩ': 'i', 'ʟ': 'L', 'ǀ': 'l', 'ꓲ': 'I', 'ꓳ': 'O', 'ꓮ': 'A',
}

// signs maps signs to the ASCII sign they look like where a wrong one leads
// somewhere else: in paths, host names and commands.
var signs = map[rune]rune{
	'∕': '/', '⁄': '/', '⧸': '/', '╱': '/', '〳': '/', '∖': '\\', '⧵': '\\', '⧹': '\\',
	'׃': ':', '։': ':', '꞉': ':', '∶': ':', '܃': ':', '․': '.', '۔': '.', '܁': '.', '܂': '.', '。': '.',
	'‐': '-', '‑': '-', '−': '-', '⁃': '-', '‚': ',', '٫': ',', 'ǃ': '!', '⁎': '*', '∗': '*', '٪': '%', '❘': '|', '∣': '|', '˂': '<', '˃': '>',
}

// Letter returns the Latin letter or digit that a letter of another script
// looks like.
func Letter(r rune) (rune, bool) {
	latin, found := letters[r]
	return latin, found
}

// Sign returns the ASCII character that another character stands in for: a
// look-alike sign, or one that compatibility normalization makes ASCII, such
// as full-width and mathematical letters.
func Sign(r rune) (rune, bool) {
	if ascii, found := signs[r]; found {
		return ascii, true
	}
	if r < 0x80 {
		return 0, false
	}
	if plain := norm.NFKC.String(string(r)); len(plain) == 1 {
		return rune(plain[0]), true
	}
	return 0, false
}
