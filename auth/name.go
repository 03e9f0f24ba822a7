package auth

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// MaxName is the longest name in characters.
const MaxName = 64

// ErrName is returned for a name that an account must not have.
var ErrName = errors.New("name must be 1 to 64 letters, digits, single spaces or .-_'@+ of one script, " +
	"without hidden or direction characters, starting and ending with a letter or digit")

// CleanName returns a name as it is kept: NFC, without spaces around it. It
// fails with ErrName for names that people cannot tell apart by eye: hidden,
// control or direction characters, letters of several scripts (UTS 39 §5.1).
func CleanName(name string) (string, error) {
	if len(name) > MaxName*utf8.UTFMax || !utf8.ValidString(name) {
		return "", ErrName
	}
	clean := norm.NFC.String(strings.Trim(name, " "))
	if n := utf8.RuneCountInString(clean); n == 0 || n > MaxName {
		return "", ErrName
	}
	if norm.NFKC.String(clean) != clean || strings.Contains(clean, "  ") || !edged(clean) {
		return "", ErrName
	}
	for _, r := range clean {
		if !nameRune(r) {
			return "", ErrName
		}
	}
	if !oneScript(clean) {
		return "", ErrName
	}
	return clean, nil
}

// edged reports whether the name starts with a letter or digit and does not
// end with a sign that a reader could miss.
func edged(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	return alphanumeric(first) && (alphanumeric(last) || unicode.IsMark(last))
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func nameRune(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return false
	}
	return alphanumeric(r) || unicode.IsMark(r) || strings.ContainsRune(" .-_'@+", r)
}

// scripts are the sets that one name may draw its letters from (UTS 39 §5.1,
// without mixtures with Latin). Others are refused together with anything.
var scripts = [][]*unicode.RangeTable{
	{unicode.Latin},
	{unicode.Greek},
	{unicode.Cyrillic},
	{unicode.Han, unicode.Hiragana, unicode.Katakana},
	{unicode.Han, unicode.Bopomofo},
	{unicode.Han, unicode.Hangul},
	{unicode.Arabic}, {unicode.Armenian}, {unicode.Bengali}, {unicode.Devanagari}, {unicode.Ethiopic},
	{unicode.Georgian}, {unicode.Gujarati}, {unicode.Gurmukhi}, {unicode.Hebrew}, {unicode.Kannada},
	{unicode.Khmer}, {unicode.Lao}, {unicode.Malayalam}, {unicode.Myanmar}, {unicode.Oriya},
	{unicode.Sinhala}, {unicode.Tamil}, {unicode.Telugu}, {unicode.Thai}, {unicode.Tibetan},
}

func oneScript(name string) bool {
	for _, set := range scripts {
		if allIn(name, set) {
			return true
		}
	}
	return false
}

func allIn(name string, set []*unicode.RangeTable) bool {
	for _, r := range name {
		if r < utf8.RuneSelf && !unicode.IsLetter(r) {
			continue
		}
		if !unicode.In(r, set...) && !unicode.In(r, unicode.Inherited) {
			return false
		}
	}
	return true
}

// FoldName returns what equal and look-alike names share: the key under
// which an account is found. It never fails; of a name that CleanName
// refuses it returns a key that no account has.
func FoldName(name string) string {
	clean, err := CleanName(name)
	if err != nil {
		return ""
	}
	folded := norm.NFKC.String(cases.Fold().String(clean))
	return strings.Map(skeleton, folded)
}

// skeleton returns one of the characters that look like r.
func skeleton(r rune) rune {
	if latin, found := lookalike.Letter(r); found {
		r = latin
	}
	switch r {
	case '0':
		return 'o'
	case '1', 'i':
		return 'l'
	default:
		return r
	}
}
