package display

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// Mark says why a piece does not stand for itself. The zero Mark is plain
// text.
type Mark string

// The marks.
const (
	Escape    Mark = "escape"    // quote, backslash, line end or tab, as JSON writes it
	Control   Mark = "control"   // control character, or a byte that is no character
	Direction Mark = "direction" // reorders what is around it (UAX 9)
	Hidden    Mark = "hidden"    // takes no room, or belongs to no character
	Space     Mark = "space"     // another space than the plain one, or very many
	Lookalike Mark = "lookalike" // passes for another character
	Masked    Mark = "masked"    // a secret
	Cut       Mark = "cut"       // says that there is more
	Amount    Mark = "amount"    // money, spelled out
)

// Piece is a run of text. Text never holds a character that is not seen.
type Piece struct {
	Text  string
	Mark  Mark
	Break bool // a line ends after it
}

// Alarming reports whether the mark is one that plain data rarely has.
func (p Piece) Alarming() bool {
	switch p.Mark {
	case Control, Direction, Hidden, Space, Lookalike:
		return true
	default:
		return false
	}
}

// Title says in words what the mark means.
func (p Piece) Title() string { return titles[p.Mark] }

var titles = map[Mark]string{
	Escape:    "written as JSON writes it",
	Control:   "control character",
	Direction: "character that changes the reading direction",
	Hidden:    "character that cannot be seen",
	Space:     "unusual space",
	Lookalike: "character that looks like another one",
	Masked:    "secret",
	Cut:       "there is more",
	Amount:    "minor units, spelled out",
}

// Text shows a string without quotes.
func Text(s string) []Piece {
	w := writer{}
	w.text(s)
	return w.done()
}

// TextMasked shows a text that does not run and may hold a secret.
func TextMasked(s string, m Masks) []Piece {
	if m.All() || m.Holds(s) {
		return []Piece{{Text: "[secret text]", Mark: Masked}}
	}
	return Text(s)
}

// Plain joins pieces into one line of text for titles and terminals.
func Plain(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Excerpt returns the first pieces, about n characters, and says so if there
// are more. Only lists use it; nobody decides on an excerpt.
func Excerpt(pieces []Piece, n int) []Piece {
	total, kept := 0, []Piece{}
	for _, p := range pieces {
		size := utf8.RuneCountInString(p.Text)
		if total < n {
			p.Break = false
			if p.Mark == "" && total+size > n {
				p.Text = string([]rune(p.Text)[:n-total])
			}
			kept = append(kept, p)
		}
		total += size
	}
	if total > n {
		kept = append(kept, Piece{Text: fmt.Sprintf(" … %d characters in all", total), Mark: Cut})
	}
	return kept
}

// CountAlarming counts the marks that plain data rarely has.
func CountAlarming(pieces []Piece) int {
	n := 0
	for _, p := range pieces {
		if p.Alarming() {
			n++
		}
	}
	return n
}

// CountMasked counts what is masked.
func CountMasked(pieces []Piece) int {
	n := 0
	for _, p := range pieces {
		if p.Mark == Masked {
			n++
		}
	}
	return n
}

// RightToLeft reports whether there are letters that are read from the right.
// They need no direction character to move digits and signs around them.
func RightToLeft(pieces []Piece) bool {
	return slices.ContainsFunc(pieces, func(p Piece) bool {
		return strings.ContainsFunc(p.Text, func(r rune) bool {
			return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
		})
	})
}

// How much of something ordinary becomes suspicious.
const (
	manySpaces   = 16 // in a row
	manyAccents  = 2  // combining marks on one letter
	brailleBlank = '\u2800'
)

// writer collects pieces.
type writer struct {
	reader Reader
	out    []Piece
	plain  strings.Builder
}

func (w *writer) done() []Piece {
	w.flush()
	return w.out
}

func (w *writer) flush() {
	if w.plain.Len() > 0 {
		w.out = append(w.out, Piece{Text: w.plain.String()})
		w.plain.Reset()
	}
}

func (w *writer) mark(m Mark, text string) {
	w.flush()
	w.out = append(w.out, Piece{Text: text, Mark: m})
}

func (w *writer) code(m Mark, r rune) { w.mark(m, fmt.Sprintf(`\u{%X}`, r)) }

// text writes a string word by word.
func (w *writer) text(s string) {
	accents := manyAccents // a mark at the start has nothing to stand on
	for s != "" {
		if n := wordLength(s); n > 0 {
			w.word(s[:n])
			s, accents = s[n:], 0
			continue
		}
		if n := leadingSpaces(s); n > 0 {
			w.spaces(n)
			s, accents = s[n:], 0
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			w.mark(Control, fmt.Sprintf(`\x{%02X}`, s[0]))
		case unicode.IsMark(r) && accents >= manyAccents:
			w.code(Hidden, r)
		default:
			w.sign(r)
		}
		accents++
		if !unicode.IsMark(r) {
			accents = 0
		}
		s = s[n:]
	}
}

func leadingSpaces(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func (w *writer) spaces(n int) {
	if n > manySpaces {
		w.mark(Space, fmt.Sprintf(`\u{20}×%d`, n))
		return
	}
	w.plain.WriteString(strings.Repeat(" ", n))
}

// escapes are the signs that JSON writes in a short way.
var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// sign writes one character that is not part of a word.
func (w *writer) sign(r rune) {
	if short, found := escapes[r]; found {
		w.mark(Escape, short)
		w.out[len(w.out)-1].Break = r == '\n'
		return
	}
	switch m := markOf(r); m {
	case "":
		w.plain.WriteRune(r)
	default:
		w.code(m, r)
	}
}

// markOf says what is wrong with a character by itself.
func markOf(r rune) Mark {
	switch {
	case r >= 0x20 && r < 0x7f:
		return ""
	case unicode.Is(unicode.Bidi_Control, r):
		return Direction
	case unicode.IsControl(r):
		return Control
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf), r == brailleBlank:
		return Hidden
	case unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
		return Space
	case !unicode.IsGraphic(r):
		return Hidden
	}
	if _, found := lookalike.Sign(r); found {
		return Lookalike
	}
	return ""
}

// wordLength returns the length in bytes of the word that s starts with.
func wordLength(s string) int {
	n := 0
	for i, r := range s {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
		if i > 0 && unicode.IsMark(r) {
			inside = markOf(r) == ""
		}
		if r == utf8.RuneError || !inside {
			return n
		}
		n = i + utf8.RuneLen(r)
	}
	return n
}

// word writes letters, digits and their accents.
func (w *writer) word(word string) {
	foreign := suspicious(word)
	accents := 0
	for _, r := range word {
		accents++
		if !unicode.IsMark(r) {
			accents = 0
		}
		m := markOf(r)
		_, alike := lookalike.Letter(r)
		switch {
		case m != "":
			w.code(m, r)
		case accents > manyAccents:
			w.code(Hidden, r)
		case foreign(r), alike && unicode.Is(unicode.Latin, r):
			w.code(Lookalike, r)
		default:
			w.plain.WriteRune(r)
		}
	}
}

// mixed are the scripts whose letters pass for Latin ones.
var mixed = []*unicode.RangeTable{unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Lisu}

// suspicious returns which letters of a word are marked: in a word that also
// has Latin letters or digits beside look-alikes, all of the other script; in
// a word of look-alikes only, all.
func suspicious(word string) func(rune) bool {
	latin, others, genuine := false, false, false
	for _, r := range word {
		switch {
		case unicode.In(r, mixed...):
			others = true
			if _, alike := lookalike.Letter(r); !alike {
				genuine = true
			}
		case unicode.Is(unicode.Latin, r):
			latin = true
		}
	}
	if others && (latin || !genuine) {
		return func(r rune) bool { return unicode.In(r, mixed...) }
	}
	return func(rune) bool { return false }
}
