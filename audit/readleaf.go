package audit

import (
	"math"
	"math/bits"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// readPlain reads a leaf as plainLeaf writes it, if all of it is printable
// ASCII and every name is where that puts it: what it reads is written back
// byte for byte. ok is false where ParseLeaf has to look at the
// text as any JSON. Where texts are not kept, they are looked at, but the record
// comes without facts and commitments. It says where the digits of the number are.
func readPlain(leaf []byte, keep texts) (r Record, number span, ok bool) {
	if len(leaf) > MaxLeaf {
		return Record{}, span{}, false
	}
	if keep { // most of it is: one copy serves all
		return readPlainAs(string(leaf), keep)
	}
	return readPlainAs(leaf, keep)
}

func readPlainAs[T string | []byte](leaf T, keep texts) (r Record, number span, ok bool) {
	in := leafReader[T]{rest: leaf, ok: true}
	var t [10]T
	in.skip("{")
	t[0], t[1] = in.text("action"), in.text("agent")
	in.at(&r.At)
	t[2], t[3] = in.text("by"), in.text("code")
	r.Commitments = in.texts("commitments", keep)
	t[4] = in.text("event")
	r.Facts = in.texts("facts", keep)
	t[5], t[6] = in.text("from"), in.text("id")
	number = in.seq(&r.Seq).of(len(leaf))
	t[7], t[8], t[9] = in.text("tenant"), in.text("to"), in.text("tool")
	in.skip(versionEnd)
	if !in.ok || len(in.rest) > 0 {
		return Record{}, span{}, false
	}
	own := owned(t)
	r.Action, r.Agent, r.By, r.Code, r.Event = own[0], own[1], own[2], own[3], own[4]
	r.From, r.ID, r.Tenant, r.To, r.Tool = own[5], own[6], own[7], own[8], own[9]
	if !known(r.Event) {
		return Record{}, span{}, false
	}
	return r, number, true
}

// owned are texts that keep nothing else alive than the leaf that they are parts
// of, where that is a text; those of bytes get one memory.
func owned[T string | []byte](t [10]T) (out [10]string) {
	if _, parts := any(t[0]).(string); parts {
		for i := range t {
			out[i] = string(t[i])
		}
		return out
	}
	var room [512]byte
	all := room[:0]
	for i := range t {
		all = append(all, t[i]...)
	}
	rest := string(all)
	for i := range t {
		out[i], rest = rest[:len(t[i])], rest[len(t[i]):]
	}
	return out
}

// span is a part of a leaf.
type span struct{ from, to int }

// of turns bytes that were left of a leaf into places in it.
func (s span) of(size int) span { return span{size - s.from, size - s.to} }

// Skim is [ParseLeaf] without the facts and commitments, which are looked at
// only.
func Skim(leaf []byte) (Record, error) {
	if r, _, ok := readPlain(leaf, false); ok {
		return r, nil
	}
	r, err := readAny(leaf)
	r.Facts, r.Commitments = nil, nil
	return r, err
}

// texts says whether facts and commitments are kept.
type texts bool

// versionEnd is how each leaf of leafVersion ends.
const versionEnd = `,"v":1}`

// leafReader reads the members of one object in the order of the calls. Once
// something is not as it should be, ok is false and stays so.
type leafReader[T string | []byte] struct {
	rest  T
	begun bool // a member was read
	ok    bool
}

func (in *leafReader[T]) skip(text string) {
	in.ok = in.ok && len(in.rest) >= len(text) && string(in.rest[:len(text)]) == text
	if in.ok {
		in.rest = in.rest[len(text):]
	}
}

// member goes on to the value of a member, if that comes next.
func (in *leafReader[T]) member(name string) bool {
	at := 0
	if in.begun {
		at = 1 // a comma
	}
	end := at + len(name) + 3
	if !in.ok || len(in.rest) < end || in.begun && in.rest[0] != ',' ||
		in.rest[at] != '"' || string(in.rest[at+1:end-2]) != name || string(in.rest[end-2:end]) != `":` {
		return false
	}
	in.rest, in.begun = in.rest[end:], true
	return true
}

// text reads an optional text, which is not empty.
func (in *leafReader[T]) text(name string) (value T) {
	if in.member(name) {
		value = in.value()
		in.ok = in.ok && len(value) > 0
	}
	return value
}

// value reads a text that is written as it is, but for quotes and backslashes,
// which have a backslash before them (RFC 8785 §3.2.2.2).
func (in *leafReader[T]) value() T {
	var none T
	in.skip(`"`)
	escaped := false
	for i := 0; in.ok; i += 2 {
		i += plainText(in.rest[i:])
		if i+1 < len(in.rest) && in.rest[i] == '\\' && (in.rest[i+1] == '"' || in.rest[i+1] == '\\') {
			escaped = true
			continue
		}
		if in.ok = i < len(in.rest) && in.rest[i] == '"'; !in.ok {
			break
		}
		text := in.rest[:i]
		in.rest = in.rest[i+1:]
		if escaped {
			return unescaped(text)
		}
		return text
	}
	return none
}

// plainText is how many bytes at the start of s stand for themselves: printable
// ASCII but quotes and backslashes. It looks at eight at once: of a word's marks
// the lowest is never wrong.
func plainText[T string | []byte](s T) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quotes, slashes, deletes := w^'"'*ones, w^'\\'*ones, w^0x7f*ones
		marks := (quotes-ones)&^quotes | (slashes-ones)&^slashes | (deletes-ones)&^deletes | (w-' '*ones)&^w | w
		if marks &= high; marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

func unescaped[T string | []byte](text T) T {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		}
		out = append(out, text[i])
	}
	return T(out)
}

// texts reads an optional object of texts, which is not empty, in the order of
// its names.
func (in *leafReader[T]) texts(name string, keep texts) (out map[string]string) {
	if !in.member(name) {
		return nil
	}
	in.skip("{")
	if keep {
		out = make(map[string]string, likelyTexts)
	}
	var last T
	for {
		n := in.value()
		in.skip(":")
		value := in.value()
		if in.ok = in.ok && string(n) > string(last); !in.ok { // nor the empty name
			return nil
		}
		if last = n; keep {
			out[string(n)] = string(value)
		}
		if len(in.rest) > 0 && in.rest[0] == '}' {
			in.rest = in.rest[1:]
			return out
		}
		in.skip(",")
	}
}

// likelyTexts is how many facts or commitments most records have at most.
const likelyTexts = 16

// at reads the moment, in the one form that is written.
func (in *leafReader[T]) at(at *time.Time) {
	if !in.member("at") {
		in.ok = false
		return
	}
	text := string(in.value())
	t, err := time.Parse(time.RFC3339Nano, text)
	var room [40]byte
	in.ok = in.ok && err == nil && string(t.UTC().AppendFormat(room[:0], time.RFC3339Nano)) == text
	*at = t
}

// seq reads the number, in the one form that is written, and says how much was
// left before and behind its digits.
func (in *leafReader[T]) seq(seq *int64) (left span) {
	if !in.member("seq") {
		in.ok = false
		return span{}
	}
	digits := 0
	for ; digits < len(in.rest) && in.rest[digits] >= '0' && in.rest[digits] <= '9'; digits++ {
		if *seq = *seq*10 + int64(in.rest[digits]-'0'); *seq > math.MaxInt64/100 {
			in.ok = false
			return span{}
		}
	}
	left = span{len(in.rest), len(in.rest) - digits}
	in.ok = in.ok && digits > 0 && (digits == 1 || in.rest[0] != '0') && *seq <= canon.MaxSafeInteger
	in.rest = in.rest[digits:]
	return left
}
