package audit

import (
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// plainLeaf writes the leaf of a record whose names are ASCII, as all of this
// program's are: their order (RFC 8785 §3.2.3) is then known, and no tree of
// values is needed. ok is false where anyLeaf has to say.
func (r *Record) plainLeaf() (leaf []byte, ok bool) {
	if r.Seq < 0 || r.Seq > canon.MaxSafeInteger {
		return nil, false
	}
	w := leafWriter{out: append(make([]byte, 0, r.room()), '{'), ok: true}
	w.text("action", r.Action)
	w.text("agent", r.Agent)
	w.name("at")
	w.out = append(r.At.UTC().AppendFormat(append(w.out, '"'), time.RFC3339Nano), '"')
	w.text("by", r.By)
	w.text("code", r.Code)
	w.texts("commitments", r.Commitments)
	w.text("event", r.Event)
	w.texts("facts", r.Facts)
	w.text("from", r.From)
	w.text("id", r.ID)
	w.name("seq")
	w.out = strconv.AppendInt(w.out, r.Seq, 10)
	w.text("tenant", r.Tenant)
	w.text("to", r.To)
	w.text("tool", r.Tool)
	w.name("v")
	w.out = append(strconv.AppendInt(w.out, leafVersion, 10), '}')
	return w.out, w.ok && len(w.out) <= MaxLeaf
}

// room is about how long the leaf is, in bytes.
func (r *Record) room() int {
	const perMember = 6 // quotes, colon, comma
	n := 256            // the names, the moment and the numbers
	for _, t := range r.texts() {
		n += len(*t.value)
	}
	for _, m := range []map[string]string{r.Facts, r.Commitments} {
		for name, value := range m {
			n += len(name) + len(value) + perMember
		}
	}
	return n
}

// leafWriter writes the members of one object in the order of the calls.
type leafWriter struct {
	out []byte
	ok  bool
}

// name begins a member.
func (w *leafWriter) name(name string) {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.out = append(canon.StringValue(name).AppendTo(w.out), ':')
}

// text writes an optional text.
func (w *leafWriter) text(name, value string) {
	if value == "" {
		return
	}
	w.name(name)
	w.value(value)
}

func (w *leafWriter) value(text string) {
	w.ok = w.ok && utf8.ValidString(text)
	w.out = canon.StringValue(text).AppendTo(w.out)
}

// texts writes an optional object of texts.
func (w *leafWriter) texts(name string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	var room [24]string
	names := room[:0]
	for n := range values {
		w.ok = w.ok && ascii(n)
		names = append(names, n)
	}
	slices.Sort(names)
	w.name(name)
	w.out = append(w.out, '{')
	for _, n := range names {
		w.name(n)
		w.value(values[n])
	}
	w.out = append(w.out, '}')
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
