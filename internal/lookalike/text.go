package lookalike

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says why a text may not be what it looks like. Several can be true.
type Kind uint8

// The kinds.
const (
	// MixedWord: letters of scripts that do not stand together in any one
	// language are in one word.
	MixedWord Kind = 1 << iota
	// AlikeWord: a word is made of letters of another script that all pass for
	// Latin ones, in a text without any word of that script that does not; or
	// a letter or separator stands in for an ASCII one, such as a full-width
	// or mathematical letter.
	AlikeWord
	// UnseenCharacter: a character takes no place, or turns the reading
	// direction. White space and the joiners of emoji do not count.
	UnseenCharacter
)

// KindOf looks at a whole text. It is linear in its length.
func KindOf(text string) Kind {
	at := firstNotPlain(text)
	if at == len(text) {
		return 0
	}
	return unseenIn(text) | wordsIn(text)
}

// firstNotPlain skips what most texts are made of: ASCII that is seen.
func firstNotPlain(text string) int {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return i
		}
	}
	return len(text)
}

func unseenIn(text string) Kind {
	before := rune(0)
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
		case pictured(before) && (r == '\ufe0f' || r == '\u200d'):
			continue // they belong to the picture: keep it as what stands before
		case Unseen(r):
			return UnseenCharacter
		}
		before = r
	}
	return 0
}

// pictured reports whether joiners and selectors after a character are part
// of an emoji: a symbol, a modifier of one, or a keycap's digit.
func pictured(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) || r == '#' || r == '*' || '0' <= r && r <= '9'
}

func wordsIn(text string) Kind {
	var kind Kind
	var alike, genuine uint // scripts of words that pass for Latin, and of those that do not
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Nd, r) }) {
		letters := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Nd, r) && r < utf8.RuneSelf {
				return -1
			}
			return r
		}, word)
		if strings.ContainsFunc(letters, Disguised) {
			kind |= AlikeWord
		}
		switch {
		case Mixed(letters):
			kind |= MixedWord
		case AllAlike(letters):
			alike |= scriptsOf(letters)
		default:
			genuine |= scriptsOf(letters)
		}
	}
	if alike&^genuine != 0 || strings.ContainsFunc(text, standsIn) {
		kind |= AlikeWord
	}
	return kind
}

func scriptsOf(word string) (seen uint) {
	for _, r := range word {
		seen |= scriptOf(r)
	}
	return seen &^ scriptLatin
}

// standsIn reports whether a character is read as an ASCII letter, digit or
// slash. Signs of Latin-1 such as ² and ª are plain in many texts.
func standsIn(r rune) bool {
	if r < 0x100 {
		return false
	}
	ascii, found := Sign(r)
	return found && (ascii == '/' || ascii == '\\' || '0' <= ascii && ascii <= '9' || 'a' <= ascii|0x20 && ascii|0x20 <= 'z')
}
