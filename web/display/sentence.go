package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// longInSentence is from how many characters on a value is named by its
// length; it is shown whole in the table.
const longInSentence = 120

// Sentence fills a template for the zero Reader.
func Sentence(template string, args canon.Value, m Masks) ([]Piece, bool) {
	return Reader{}.Sentence(template, args, m)
}

// Sentence fills a template such as "Pay {amountMinor|money} to {vendorId}".
// A place holder names a member or, starting with "/", a JSON Pointer. With
// "|money" it is minor units, in the currency of the member "currency"
// beside it. It reports false where the template does not fit the arguments:
// half a sentence would mislead.
func (r Reader) Sentence(template string, args canon.Value, m Masks) ([]Piece, bool) {
	w := writer{reader: r}
	for rest := template; rest != ""; {
		before, after, open := strings.Cut(rest, "{")
		w.text(before)
		if !open {
			break
		}
		place, next, closed := strings.Cut(after, "}")
		if !closed || !w.fill(place, args, m) {
			return nil, false
		}
		rest = next
	}
	return w.done(), template != ""
}

func (w *writer) fill(place string, args canon.Value, m Masks) bool {
	name, format, _ := strings.Cut(place, "|")
	pointer := strings.TrimSpace(name)
	if !strings.HasPrefix(pointer, "/") {
		pointer = canon.JoinPointer("", pointer)
	}
	v, found := args.Lookup(pointer)
	if !found {
		return false
	}
	switch strings.TrimSpace(format) {
	case "":
		return w.inSentence(v, pointer, m)
	case "money":
		return w.moneyInSentence(v, pointer, args, m)
	default:
		return false
	}
}

// MoneyIn lists the members that a template shows as money, each with the
// pointer of its currency.
func MoneyIn(template string) map[string]string {
	pairs := map[string]string{}
	for rest := template; ; {
		_, after, open := strings.Cut(rest, "{")
		place, next, closed := strings.Cut(after, "}")
		if !open || !closed {
			return pairs
		}
		if name, format, _ := strings.Cut(place, "|"); strings.TrimSpace(format) == "money" {
			pointer := strings.TrimSpace(name)
			if !strings.HasPrefix(pointer, "/") {
				pointer = canon.JoinPointer("", pointer)
			}
			pairs[pointer] = canon.JoinPointer(pointer[:strings.LastIndexByte(pointer, '/')], "currency")
		}
		rest = next
	}
}

// inSentence writes a value. Strings stand in typographic quotes, so that
// their end is seen; longer ones are named by their length.
func (w *writer) inSentence(v canon.Value, pointer string, m Masks) bool {
	tokens, _ := canon.SplitPointer(pointer)
	switch {
	case v.Kind() == canon.Object || v.Kind() == canon.Array:
		fmt.Fprintf(&w.plain, "[%s of %d, below]", v.Kind(), v.Len())
	case m.hides(tokens, v):
		w.scalar(v, tokens, m)
	case v.Kind() == canon.String && utf8.RuneCountInString(v.Text()) > longInSentence:
		fmt.Fprintf(&w.plain, "[text of %d characters, below]", utf8.RuneCountInString(v.Text()))
	case v.Kind() == canon.String:
		w.plain.WriteString("“")
		w.text(v.Text())
		w.plain.WriteString("”")
	default:
		w.scalar(v, tokens, m)
	}
	return true
}

func (w *writer) moneyInSentence(v canon.Value, pointer string, args canon.Value, m Masks) bool {
	tokens, _ := canon.SplitPointer(pointer)
	beside := pointer[:strings.LastIndexByte(pointer, '/')]
	currency, _ := args.Lookup(canon.JoinPointer(beside, "currency"))
	text, ok := w.reader.Money(v, currency)
	if !ok {
		return false
	}
	if m.hides(tokens, v) {
		w.scalar(v, tokens, m)
		return true
	}
	w.mark(Amount, text)
	return true
}
