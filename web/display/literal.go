package display

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Masks says what is never shown: the members at some pointers, and the same
// texts where they turn up again, such as in a preview.
//
// Whoever proposes a call chooses its secrets too. So masking by text is for
// what does not run: otherwise a secret "VENDOR" would hide the member
// "VENDOR-001" from the approver.
type Masks struct {
	pointers [][]string
	values   map[string]bool
	long     []string // values that are looked for inside other texts
	all      bool
}

// The limits of masking by text.
const (
	shortSecret  = 3   // bytes up to which a text is not looked for: too common
	insideSecret = 8   // bytes from which it is looked for inside others
	maxInside    = 256 // texts that are looked for inside others
)

// PointersOnly returns masks that mask by place alone.
func (m Masks) PointersOnly() Masks { return Masks{pointers: m.pointers, all: m.all} }

// NewMasks returns the masks of a tool whose secrets stand at pointers ("*"
// for every element or member), for values in which they may stand.
func NewMasks(pointers []string, values ...canon.Value) Masks {
	m := Masks{values: map[string]bool{}}
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
		if below {
			m.remember(scalarText(v))
		}
	}
}

func (m *Masks) remember(text string) {
	if len(text) <= shortSecret || m.values[text] {
		return
	}
	m.values[text] = true
	if len(text) >= insideSecret && len(m.long) < maxInside {
		m.long = append(m.long, text)
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

// Holds reports whether a text is a masked value or has a long one inside.
func (m Masks) Holds(text string) bool {
	if m.values[text] {
		return true
	}
	return slices.ContainsFunc(m.long, func(secret string) bool { return strings.Contains(text, secret) })
}

// Masks reports whether the member at a pointer is masked by its place. Array
// elements below it are masked with it.
func (m Masks) Masks(pointer string) bool {
	tokens, ok := canon.SplitPointer(pointer)
	return m.all || !ok || m.named(tokens)
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
