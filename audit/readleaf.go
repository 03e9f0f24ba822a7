package audit

import (
	"math"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// readPlain reads a leaf as plainLeaf writes it, if all of it is printable
// ASCII and every name is where that puts it: what it reads is written back
// byte for byte. ok is false where ParseLeaf has to look at the
// text as any JSON. Where texts are not kept, they are looked at, but the record
// comes without facts and commitments.
func readPlain(leaf []byte, keep texts) (r Record, ok bool) {
	if len(leaf) > MaxLeaf {
		return Record{}, false
	}
	in := leafReader{rest: string(leaf), ok: true}
	in.skip("{")
	in.text("action", &r.Action)
	in.text("agent", &r.Agent)
	in.at(&r.At)
	in.text("by", &r.By)
	in.text("code", &r.Code)
	r.Commitments = in.texts("commitments", keep)
	in.text("event", &r.Event)
	r.Facts = in.texts("facts", keep)
	in.text("from", &r.From)
	in.text("id", &r.ID)
	in.seq(&r.Seq)
	in.text("tenant", &r.Tenant)
	in.text("to", &r.To)
	in.text("tool", &r.Tool)
	in.skip(versionEnd)
	if !in.ok || in.rest != "" || !known(r.Event) {
		return Record{}, false
	}
	return r, true
}

// texts says whether facts and commitments are kept.
type texts bool

// versionEnd is how each leaf of leafVersion ends.
const versionEnd = `,"v":1}`

// leafReader reads the members of one object in the order of the calls. Once
// something is not as it should be, ok is false and stays so.
type leafReader struct {
	rest  string
	begun bool // a member was read
	ok    bool
}

func (in *leafReader) skip(text string) {
	in.ok = in.ok && len(in.rest) >= len(text) && in.rest[:len(text)] == text
	if in.ok {
		in.rest = in.rest[len(text):]
	}
}

// member goes on to the value of a member, if that comes next.
func (in *leafReader) member(name string) bool {
	at := 0
	if in.begun {
		at = 1 // a comma
	}
	end := at + len(name) + 3
	if !in.ok || len(in.rest) < end || in.begun && in.rest[0] != ',' ||
		in.rest[at] != '"' || in.rest[at+1:end-2] != name || in.rest[end-2:end] != `":` {
		return false
	}
	in.rest, in.begun = in.rest[end:], true
	return true
}

// text reads an optional text, which is not empty.
func (in *leafReader) text(name string, value *string) {
	if in.member(name) {
		*value = in.value()
		in.ok = in.ok && *value != ""
	}
}

// value reads a text that is written as it is, but for quotes and backslashes,
// which have a backslash before them (RFC 8785 §3.2.2.2).
func (in *leafReader) value() string {
	in.skip(`"`)
	escaped := false
	for i := 0; in.ok && i < len(in.rest); i++ {
		switch c := in.rest[i]; {
		case c == '"':
			text := in.rest[:i]
			in.rest = in.rest[i+1:]
			if escaped {
				return unescaped(text)
			}
			return text
		case c == '\\':
			i++
			escaped, in.ok = true, i < len(in.rest) && (in.rest[i] == '"' || in.rest[i] == '\\')
		case c < ' ' || c > '~':
			in.ok = false
		}
	}
	in.ok = false
	return ""
}

func unescaped(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		}
		out = append(out, text[i])
	}
	return string(out)
}

// texts reads an optional object of texts, which is not empty, in the order of
// its names.
func (in *leafReader) texts(name string, keep texts) (out map[string]string) {
	if !in.member(name) {
		return nil
	}
	in.skip("{")
	if keep {
		out = make(map[string]string, likelyTexts)
	}
	for last := ""; ; {
		n := in.value()
		in.skip(":")
		value := in.value()
		if in.ok = in.ok && n > last; !in.ok { // nor the empty name
			return nil
		}
		if last = n; keep {
			out[n] = value
		}
		if in.rest != "" && in.rest[0] == '}' {
			in.rest = in.rest[1:]
			return out
		}
		in.skip(",")
	}
}

// likelyTexts is how many facts or commitments most records have at most.
const likelyTexts = 16

// at reads the moment, in the one form that is written.
func (in *leafReader) at(at *time.Time) {
	if !in.member("at") {
		in.ok = false
		return
	}
	text := in.value()
	t, err := time.Parse(time.RFC3339Nano, text)
	var room [40]byte
	in.ok = in.ok && err == nil && string(t.UTC().AppendFormat(room[:0], time.RFC3339Nano)) == text
	*at = t
}

// seq reads the number, in the one form that is written.
func (in *leafReader) seq(seq *int64) {
	if !in.member("seq") {
		in.ok = false
		return
	}
	digits := 0
	for ; digits < len(in.rest) && in.rest[digits] >= '0' && in.rest[digits] <= '9'; digits++ {
		if *seq = *seq*10 + int64(in.rest[digits]-'0'); *seq > math.MaxInt64/100 {
			in.ok = false
			return
		}
	}
	in.ok = in.ok && digits > 0 && (digits == 1 || in.rest[0] != '0') && *seq <= canon.MaxSafeInteger
	in.rest = in.rest[digits:]
}
