package audit

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// A short form begins with shortForm, as no leaf does. What follows are members:
// a name, by its place among the names or nameOther with its length in one byte
// and itself; then the value, which is one of
//
//   - 0 to 127: so many bytes follow, and stand in the leaf as they are, in quotes;
//   - valueLong: the same, with the length in two bytes before them;
//   - valueDigest: 32 bytes follow, which stand there in lowercase hex;
//   - valueMoment: 8 bytes follow, nanoseconds since 1970, which stand there as a time;
//   - valueShared: a byte follows, the place among the [Words] that are kept beside the form;
//   - valueWord and above: the place among the values.
//
// nameSeq has a uvarint for its value; nameFacts and nameCommitments have
// members, up to nameEnd. Numbers have their high byte first. The version, with
// which each leaf ends, is left out.
const (
	shortForm   = 1
	valueLong   = 128
	valueDigest = 129
	valueMoment = 130
	valueShared = 131
	valueWord   = 140
)

// Forms are the leaf of a record and, added to room, the form in which a store
// keeps it: mostly a shorter one, which [Expand] turns into the leaf again, else
// the leaf. With words, which may be nil, the shorter one refers to them. It fails
// like [Record.Leaf].
func (r *Record) Forms(room []byte, words *Words) (leaf, kept []byte, err error) {
	if !known(r.Event) {
		return nil, nil, ErrEvent
	}
	if leaf, kept, ok := r.plainLeaf(append(room, shortForm), words); ok {
		if kept == nil {
			kept = append(room, leaf...)
		}
		return leaf, kept, nil
	}
	leaf, err = r.anyLeaf()
	return leaf, append(room, leaf...), err
}

// Expand returns the leaf that a store keeps in some form, with the bytes of the
// [Words] beside it; it is in room, if that is large enough. Bytes that no writer has made are returned as they are: no leaf
// begins as they do, or it is one that was kept as it is.
func Expand(room, form, words []byte) []byte {
	if !isShort(form) {
		return append(room[:0], form...)
	}
	x := expander{rest: form[1:], words: words, out: append(room[:0], '{'), ok: true}
	for len(x.rest) > 0 && x.ok {
		x.member()
	}
	x.out = append(x.out, versionEnd...)
	if !x.ok || x.deep || len(x.out) > MaxLeaf {
		return append(x.out[:0], form...)
	}
	return x.out
}

func isShort(form []byte) bool { return len(form) > 0 && form[0] == shortForm }

// Look is a first glance at records in the forms in which they are kept.
type Look struct{ plain, short glance }

// glance are a text that a form begins with and one that is somewhere in it.
type glance struct{ begun, some []byte }

// LookFor looks for records of an action and of an event; "" is any. A leaf is
// canonical, so its first member is its action (RFC 8785 §3.2.3).
func LookFor(action, event string) (l Look) {
	if action != "" {
		l.plain.begun = canon.AppendText([]byte(`{"action":`), action)
		w := leafWriter{short: []byte{shortForm, nameAction}}
		w.plain(action)
		l.short.begun = w.short
	}
	if event != "" {
		l.plain.some = canon.AppendText([]byte(`"event":`), event)
	}
	if place, ok := values.find(event); ok {
		l.short.some = []byte{nameEvent, byte(valueWord + place)}
	}
	return l
}

// May reports whether a record is of the action, and may be of the event.
func (l Look) May(form []byte) bool {
	g := l.plain
	if isShort(form) {
		g = l.short
	}
	return bytes.HasPrefix(form, g.begun) && bytes.Contains(form, g.some)
}

// expander writes a leaf from its short form. Once something is not as it should
// be, ok is false and stays so.
type expander struct {
	rest, out []byte
	words     []byte
	deep      bool // inside of facts or commitments
	ok        bool
}

// take is the next n bytes.
func (x *expander) take(n int) []byte {
	if len(x.rest) < n {
		x.ok = false
		return make([]byte, n)
	}
	b := x.rest[:n]
	x.rest = x.rest[n:]
	return b
}

// next is the next byte.
func (x *expander) next() int {
	if len(x.rest) == 0 {
		x.ok = false
		return 0
	}
	b := x.rest[0]
	x.rest = x.rest[1:]
	return int(b)
}

func (x *expander) member() {
	name := x.next()
	if name == nameEnd {
		x.out = append(x.out, '}')
		x.ok, x.deep = x.ok && x.deep, false
		return
	}
	if x.out[len(x.out)-1] != '{' {
		x.out = append(x.out, ',')
	}
	switch {
	case name == nameOther:
		x.out = append(append(append(x.out, '"'), x.take(x.next())...), '"', ':')
	case name < len(names.said):
		x.out = append(x.out, names.said[name]...)
	default:
		x.ok = false
	}
	switch {
	case x.deep:
		x.value()
	case name == nameSeq:
		n, size := binary.Uvarint(x.rest)
		x.ok = x.ok && size > 0
		x.rest, x.out = x.rest[max(size, 0):], strconv.AppendUint(x.out, n, 10)
	case name == nameFacts, name == nameCommitments:
		x.out, x.deep = append(x.out, '{'), true
	default:
		x.value()
	}
}

func (x *expander) value() {
	kind := x.next()
	if kind == valueShared {
		word, ok := wordAt(x.words, x.next())
		if x.ok = x.ok && ok; x.ok {
			rest := x.rest
			x.rest = word
			x.value()
			x.rest = rest
		}
		return
	}
	if kind >= valueWord {
		if x.ok = x.ok && kind-valueWord < len(values.said); x.ok {
			x.out = append(x.out, values.said[kind-valueWord]...)
		}
		return
	}
	x.out = append(x.out, '"')
	switch {
	case kind < valueLong:
		x.out = append(x.out, x.take(kind)...)
	case kind == valueLong:
		x.out = append(x.out, x.take(int(binary.BigEndian.Uint16(x.take(2))))...)
	case kind == valueDigest:
		x.out = appendHex(x.out, x.take(len(canon.Digest{})))
	case kind == valueMoment:
		at := time.Unix(0, int64(binary.BigEndian.Uint64(x.take(8)))).UTC()
		x.out = at.AppendFormat(x.out, time.RFC3339Nano)
	default:
		x.ok = false
	}
	x.out = append(x.out, '"')
}

const hexDigits = "0123456789abcdef"

func appendHex(out, b []byte) []byte {
	var text [2 * len(canon.Digest{})]byte
	for i, c := range b {
		text[2*i], text[2*i+1] = hexDigits[c>>4], hexDigits[c&15]
	}
	return append(out, text[:2*len(b)]...)
}

// notHex marks what is no lowercase hex digit.
const notHex = 0x80

// hexValues are the values of lowercase hex digits, notHex for everything else.
var hexValues = func() (out [256]byte) {
	for i := range out {
		out[i] = notHex
	}
	for i := range len(hexDigits) {
		out[hexDigits[i]] = byte(i)
	}
	return out
}()

// digestOf is what a text says in lowercase hex.
func digestOf(text string) (d canon.Digest, ok bool) {
	if len(text) != 2*len(d) {
		return d, false
	}
	bad := byte(0)
	for i := range d {
		high, low := hexValues[text[2*i]], hexValues[text[2*i+1]]
		bad |= high | low
		d[i] = high<<4 | low
	}
	return d, bad < notHex
}
