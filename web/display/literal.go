package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Masks says what is never shown: the members at some pointers, and the same
// strings wherever else they turn up, such as in a preview.
type Masks struct {
	pointers [][]string
	values   []string
	all      bool
}

// shortSecret is up to how many bytes a secret is too short to be looked for
// elsewhere: it would mask half of the page.
const shortSecret = 3

// NewMasks returns the masks of a tool whose secrets stand at pointers ("*"
// for every element or member), for values in which they may stand.
func NewMasks(pointers []string, values ...canon.Value) Masks {
	var m Masks
	for _, p := range pointers {
		tokens, ok := canon.SplitPointer(p)
		if !ok {
			return MaskAll()
		}
		m.pointers = append(m.pointers, tokens)
	}
	for _, v := range values {
		m.collect(v, nil, false)
	}
	return m
}

// MaskAll masks every scalar: for where it is not known what is secret.
func MaskAll() Masks { return Masks{all: true} }

// All reports whether everything is masked.
func (m Masks) All() bool { return m.all }

// collect remembers the strings and numbers below masked pointers.
func (m *Masks) collect(v canon.Value, at []string, below bool) {
	below = below || m.named(at)
	switch v.Kind() {
	case canon.Object:
		for _, member := range v.Members() {
			m.collect(member.Value, append(at[:len(at):len(at)], member.Name), below)
		}
	case canon.Array:
		for i, e := range v.Elements() {
			m.collect(e, append(at[:len(at):len(at)], fmt.Sprint(i)), below)
		}
	case canon.String, canon.Number:
		if text := scalarText(v); below && len(text) > shortSecret {
			m.values = append(m.values, text)
		}
	}
}

func scalarText(v canon.Value) string {
	if v.Kind() == canon.Number {
		return v.NumberText()
	}
	return v.Text()
}

// named reports whether a pointer is masked or lies below a masked one.
func (m Masks) named(at []string) bool {
	for _, p := range m.pointers {
		if len(p) <= len(at) && matches(p, at[:len(p)]) {
			return true
		}
	}
	return false
}

func matches(pattern, tokens []string) bool {
	for i, want := range pattern {
		if want != "*" && want != tokens[i] {
			return false
		}
	}
	return true
}

// hides reports whether a scalar at a place is not to be shown.
func (m Masks) hides(at []string, v canon.Value) bool {
	return m.all || m.named(at) || m.Holds(scalarText(v))
}

// Holds reports whether a text contains a masked value.
func (m Masks) Holds(text string) bool {
	for _, secret := range m.values {
		if strings.Contains(text, secret) {
			return true
		}
	}
	return false
}

// Literal shows a value that stands at a pointer as JSON, on one line but
// for line ends inside strings.
func Literal(v canon.Value, pointer string, m Masks) []Piece {
	tokens, _ := canon.SplitPointer(pointer)
	w := writer{}
	w.value(v, tokens, m)
	return w.done()
}

func (w *writer) value(v canon.Value, at []string, m Masks) {
	switch v.Kind() {
	case canon.Object:
		w.object(v, at, m)
	case canon.Array:
		w.array(v, at, m)
	default:
		w.scalar(v, at, m)
	}
}

func (w *writer) scalar(v canon.Value, at []string, m Masks) {
	if m.hides(at, v) {
		w.mark(Masked, maskText(v))
		return
	}
	switch v.Kind() {
	case canon.String:
		w.quoted(v.Text())
	case canon.Number:
		w.plain.WriteString(v.NumberText())
	default:
		w.plain.Write(v.Canonical())
	}
}

// maskText says what is hidden without saying anything about its content.
func maskText(v canon.Value) string {
	if v.Kind() == canon.String {
		return fmt.Sprintf("[secret text, %d characters]", utf8.RuneCountInString(v.Text()))
	}
	return "[secret " + v.Kind().String() + "]"
}

func (w *writer) quoted(s string) {
	w.plain.WriteByte('"')
	w.text(s)
	w.plain.WriteByte('"')
}

func (w *writer) object(v canon.Value, at []string, m Masks) {
	w.plain.WriteByte('{')
	for i, member := range v.Members() {
		if i > 0 {
			w.plain.WriteString(", ")
		}
		w.name(member.Name, m)
		w.plain.WriteString(": ")
		w.value(member.Value, append(at[:len(at):len(at)], member.Name), m)
	}
	w.plain.WriteByte('}')
}

// name writes a member name; one that holds a secret is masked too.
func (w *writer) name(name string, m Masks) {
	if m.Holds(name) {
		w.mark(Masked, "[secret name]")
		return
	}
	w.quoted(name)
}

func (w *writer) array(v canon.Value, at []string, m Masks) {
	w.plain.WriteByte('[')
	for i, e := range v.Elements() {
		if i > 0 {
			w.plain.WriteString(", ")
		}
		w.value(e, append(at[:len(at):len(at)], fmt.Sprint(i)), m)
	}
	w.plain.WriteByte(']')
}
