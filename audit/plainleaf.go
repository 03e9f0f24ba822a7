package audit

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// plainLeaf writes the leaf of a record whose names are ASCII, as all of this
// program's are: their order (RFC 8785 §3.2.3) is then known, and no tree of
// values is needed. Beside it, it adds the members to a short form that is begun,
// each in the same step as to the leaf; kept is nil where something does not fit
// into one, or none is begun. With words, values that others have are said by them.
// ok is false where anyLeaf has to say.
func (r *Record) plainLeaf(short []byte, words *Words) (leaf, kept []byte, ok bool) {
	if r.Seq < 0 || r.Seq > canon.MaxSafeInteger {
		return nil, nil, false
	}
	w := leafWriter{out: append(make([]byte, 0, r.room()), '{'), short: short, words: words, ok: true}
	if r.Action != "" {
		w.name(nameAction)
		w.plain(r.Action) // whatever it is, so that it is found
	}
	w.text(nameAgent, r.Agent)
	w.at(r.At)
	w.text(nameBy, r.By)
	w.text(nameCode, r.Code)
	w.texts(nameCommitments, r.Commitments)
	w.text(nameEvent, r.Event)
	w.texts(nameFacts, r.Facts)
	w.text(nameFrom, r.From)
	w.text(nameID, r.ID)
	w.name(nameSeq)
	w.out = strconv.AppendInt(w.out, r.Seq, 10)
	if w.short != nil {
		w.short = binary.AppendUvarint(w.short, uint64(r.Seq))
	}
	w.text(nameTenant, r.Tenant)
	w.text(nameTo, r.To)
	w.text(nameTool, r.Tool)
	w.out = append(w.out, versionEnd...)
	if w.long {
		w.short = nil
	}
	return w.out, w.short, w.ok && len(w.out) <= MaxLeaf
}

// room is about how long the leaf is, in bytes: most commitments are digests, and
// most facts are short.
func (r *Record) room() int {
	const (
		perRecord     = 200 // the names, the moment and the numbers
		perCommitment = 88
		perFact       = 26
	)
	return perRecord + len(r.ID) + len(r.Tenant) + len(r.Action) + len(r.Tool) + len(r.Agent) + len(r.By) +
		perCommitment*len(r.Commitments) + perFact*len(r.Facts)
}

// leafWriter writes the members of one object in the order of the calls, and
// the same into a short form, where one is begun.
type leafWriter struct {
	out, short []byte
	words      *Words
	ok         bool
	long       bool // something does not fit into a short form
}

// name begins a member that has a place among the names.
func (w *leafWriter) name(place int) {
	w.comma()
	w.out = append(w.out, names.said[place]...)
	w.keep(byte(place))
}

// keep adds a byte to the short form.
func (w *leafWriter) keep(b byte) {
	if w.short != nil {
		w.short = append(w.short, b)
	}
}

func (w *leafWriter) comma() {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
}

// anyName begins a fact or a commitment, and says the place of its name; that of
// nameOther has no other.
func (w *leafWriter) anyName(name string) (place int) {
	if place, ok := names.find(name); ok && place > nameOther {
		w.name(place)
		return place
	}
	w.ok = w.ok && ascii(name)
	w.comma()
	from := len(w.out) + 1
	w.out = canon.AppendText(w.out, name)
	if w.short != nil {
		text := w.out[from : len(w.out)-1]
		w.long = w.long || len(text) > math.MaxUint8
		w.short = append(append(w.short, nameOther, byte(len(text))), text...)
	}
	w.out = append(w.out, ':')
	return nameOther
}

// text writes an optional text.
func (w *leafWriter) text(name int, value string) {
	if value == "" {
		return
	}
	w.name(name)
	from := len(w.short)
	w.value(value)
	w.share(name, from)
}

// at writes the moment.
func (w *leafWriter) at(at time.Time) {
	w.name(nameAt)
	w.out = append(at.UTC().AppendFormat(append(w.out, '"'), time.RFC3339Nano), '"')
	if w.short == nil {
		return
	}
	ns := at.UnixNano()
	w.long = w.long || !time.Unix(0, ns).Equal(at)
	from := len(w.short)
	w.short = binary.BigEndian.AppendUint64(append(w.short, valueMoment), uint64(ns))
	w.share(nameAt, from)
}

// value writes a text.
func (w *leafWriter) value(text string) {
	if place, ok := values.find(text); ok {
		w.out = append(w.out, values.said[place]...)
		w.keep(byte(valueWord + place))
		return
	}
	if d, ok := digestOf(text); ok {
		w.out = append(append(append(w.out, '"'), text...), '"')
		if w.short != nil {
			w.short = append(append(w.short, valueDigest), d[:]...)
		}
		return
	}
	w.plain(text)
}

// plain writes a text that is nothing special.
func (w *leafWriter) plain(text string) {
	from := len(w.out) + 1
	w.ok = w.ok && utf8.ValidString(text)
	w.out = canon.AppendText(w.out, text)
	if w.short == nil {
		return
	}
	written := w.out[from : len(w.out)-1]
	switch n := len(written); {
	case n < valueLong:
		w.short = append(w.short, byte(n))
	default:
		w.long = w.long || n > MaxLeaf
		w.short = binary.BigEndian.AppendUint16(append(w.short, valueLong), uint16(n))
	}
	w.short = append(w.short, written...)
}

// texts writes an optional object of texts.
func (w *leafWriter) texts(name int, values map[string]string) {
	if len(values) == 0 {
		return
	}
	type member struct{ name, value string }
	var room [24]member
	members := room[:0]
	for n, v := range values {
		members = append(members, member{n, v})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	w.name(name)
	w.out = append(w.out, '{')
	for _, m := range members {
		place := w.anyName(m.name)
		from := len(w.short)
		w.value(m.value)
		w.share(place, from)
	}
	w.out = append(w.out, '}')
	w.keep(nameEnd)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
