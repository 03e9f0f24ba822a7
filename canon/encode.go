package canon

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendTo appends the RFC 8785 form of v to dst. It is meant for values that
// [Decode] returned or [Check] accepted. Of others it still makes one valid
// text, which then is not the whole value: invalid values become null, bytes
// that are not UTF-8 become U+FFFD, and of equal names the first stays.
func (v Value) AppendTo(dst []byte) []byte {
	switch v.Kind() {
	case Bool, Number:
		return append(dst, v.text...)
	case String:
		if v.kids == &bareText {
			return appendBare(dst, v.text)
		}
		return appendString(dst, v.text)
	case Array:
		return appendArray(dst, v.elems())
	case Object:
		return appendObject(dst, v.kids)
	default:
		return append(dst, "null"...)
	}
}

// Canonical returns the RFC 8785 form of v.
func (v Value) Canonical() []byte {
	if v.Kind() == Array && v.Len() > 0 || v.Kind() == Object && v.Len() > 0 {
		return v.AppendTo(make([]byte, 0, likelyForm))
	}
	return v.AppendTo(nil)
}

// likelyForm is the room that the form of most small values needs, in bytes.
const likelyForm = 128

func appendArray(dst []byte, elems []Value) []byte {
	dst = append(dst, '[')
	for i := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = elems[i].AppendTo(dst)
	}
	return append(dst, ']')
}

// appendObject writes the members sorted by the UTF-16 code units of their
// names (RFC 8785 §3.2.3).
func appendObject(dst []byte, kids *children) []byte {
	if kids.trust == untrusted {
		return appendUntrusted(dst, validNames(kids.members))
	}
	var few [fewNames]int32
	var order []int32
	if kids.form&ordered == 0 {
		order = sortNames(few[:0], kids.members)
	}
	dst = append(dst, '{')
	for at := range kids.members {
		m := &kids.members[nth(order, at)]
		if at > 0 {
			dst = append(dst, ',')
		}
		if kids.form&bare != 0 {
			dst = appendBare(dst, m.Name)
		} else {
			dst = appendString(dst, m.Name)
		}
		dst = append(dst, ':')
		dst = m.Value.AppendTo(dst)
	}
	return append(dst, '}')
}

// appendUntrusted writes members of which two may have the same name, of which
// the first stays.
func appendUntrusted(dst []byte, members []Member) []byte {
	var few [fewNames]int32
	order := sortNames(few[:0], members)
	dst = append(dst, '{')
	for at := range members {
		i := nth(order, at)
		if at > 0 && members[i].Name == members[nth(order, at-1)].Name {
			continue
		}
		if at > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, members[i].Name)
		dst = append(dst, ':')
		dst = members[i].Value.AppendTo(dst)
	}
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"

// plain tells which bytes of a string stand for themselves: ASCII that needs
// no escape (RFC 8785 §3.2.2.2).
var plain = plainBytes()

func plainBytes() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}

// appendString writes a JSON string with the fewest escapes.
func appendString(dst []byte, s string) []byte {
	if len(s) <= shortText {
		if out, plain := putPlain(dst, s); plain {
			return out
		}
	}
	dst = append(dst, '"')
	same := 0
	for len(s)-same >= 8 && special(word(s, same)) == 0 {
		same += 8
	}
	dst = append(dst, s[:same]...)
	dst = appendEscaped(dst, s[same:])
	return append(dst, '"')
}

// appendBare writes a string that needs no escape.
func appendBare(dst []byte, s string) []byte {
	n := len(dst)
	if cap(dst)-n < len(s)+2 {
		dst = slices.Grow(dst, len(s)+2)
	}
	out := dst[n : n+len(s)+2]
	out[0], out[len(s)+1] = '"', '"'
	copy(out[1:], s)
	return dst[:n+len(s)+2]
}

// isBare reports that s, which is valid UTF-8, needs no escape.
func isBare(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] && s[i] < utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shortText is up to how many bytes a text is likely to be plain.
const shortText = 32

// putPlain writes a string of which every byte stands for itself. It reports
// false if one does not. It looks at what it copies, and short texts take the
// same way whatever their length: wrong guesses of the processor cost more.
func putPlain(dst []byte, s string) ([]byte, bool) {
	n, size := len(dst), len(s)
	if cap(dst)-n < size+2 {
		dst = slices.Grow(dst, size+2)
	}
	out := dst[n : n+size+2]
	out[0], out[size+1] = '"', '"'
	switch body := out[1 : size+1]; {
	case size >= 8:
		last := word(s, size-8)
		stop := special(last)
		for i := 0; i+8 < size; i += 8 {
			w := word(s, i)
			binary.LittleEndian.PutUint64(body[i:i+8], w)
			stop |= special(w)
		}
		binary.LittleEndian.PutUint64(body[size-8:], last)
		return dst[:n+size+2], stop == 0
	case size >= 4:
		low, high := half(s, 0), half(s, size-4)
		binary.LittleEndian.PutUint32(body, low)
		binary.LittleEndian.PutUint32(body[size-4:], high)
		return dst[:n+size+2], special(uint64(low)|uint64(high)<<32) == 0
	case size > 0:
		first, middle, last := s[0], s[size/2], s[size-1]
		body[0], body[size/2], body[size-1] = first, middle, last
		return dst[:n+size+2], plain[first] && plain[middle] && plain[last]
	}
	return dst[:n+2], true
}

// wordRoom is what eight bytes may need: each of them with a backslash, and
// what the last store writes behind them.
const wordRoom = 24

// appendEscaped writes eight bytes at once, of which those behind the plain
// ones are overwritten.
func appendEscaped(dst []byte, s string) []byte {
	i, n := 0, len(dst)
	for out := dst[:cap(dst)]; len(s)-i >= 8; {
		if len(out)-n < wordRoom {
			dst = slices.Grow(out[:n], len(s)-i+(len(s)-i)/4+wordRoom)
			out = dst[:cap(dst)]
		}
		w := word(s, i)
		room := (*[wordRoom]byte)(out[n:])
		binary.LittleEndian.PutUint64(room[:], w)
		if (w|controls(w))&highBits != 0 {
			same := bits.TrailingZeros64(special(w)) / 8
			dst, i = appendSpecial(out[:n+same], s, i+same)
			out, n = dst[:cap(dst)], len(dst)
			continue
		}
		i, n = i+8, n+8
		for marks, added := escapes(w), 0; marks != 0; marks &= marks - 1 {
			shift := bits.TrailingZeros64(marks) & 56
			to := (shift/8 + added) & 15
			room[to] = '\\'
			binary.LittleEndian.PutUint64(room[to+1:], w>>shift)
			added, n = added+1, n+1
		}
	}
	for dst = dst[:n]; i < len(s); {
		if plain[s[i]] {
			dst = append(dst, s[i])
			i++
			continue
		}
		dst, i = appendSpecial(dst, s, i)
	}
	return dst
}

// AppendText appends any text as a JSON string: it does what
// StringValue(text).AppendTo(dst) does, and lets dst stay on its caller's stack.
func AppendText(dst []byte, text string) []byte { return appendString(dst, text) }

// AppendQuoted appends a canonical text, as [Value.AppendTo] writes it, as a JSON
// string: it does what StringValue(text).AppendTo(dst) does, and sooner, for in
// such a text only quotes and backslashes need an escape.
func AppendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		part := text[:min(len(text), quotedPart)]
		dst = appendBackslashed(slices.Grow(dst, 2*len(part)+wordRoom), part)
		text = text[len(part):]
	}
	return append(dst, '"')
}

// quotedPart is how much text gets room at once, for twice its length.
const quotedPart = 1024

// appendBackslashed puts a backslash before the quotes and backslashes of part.
// dst has room for it and for wordRoom. Bytes are written eight at once, of which
// those behind a backslash are overwritten.
func appendBackslashed(dst []byte, part string) []byte {
	i, n, out := 0, len(dst), dst[:cap(dst)]
	for ; i+8 <= len(part); i, n = i+8, n+8 {
		w := word(part, i)
		binary.LittleEndian.PutUint64(out[n:n+8], w)
		for marks := escapesAmong(w); marks != 0; marks &= marks - 1 {
			shift := bits.TrailingZeros64(marks) & 56
			at := n + shift/8
			out[at] = '\\'
			binary.LittleEndian.PutUint64(out[at+1:at+9], w>>shift)
			n++
		}
	}
	for ; i < len(part); i, n = i+1, n+1 {
		if c := part[i]; c == '"' || c == '\\' {
			out[n] = '\\'
			n++
		}
		out[n] = part[i]
	}
	return out[:n]
}

// appendSpecial writes what begins at i and does not stand for itself, or is
// not ASCII, and returns the place behind it.
func appendSpecial(dst []byte, s string, i int) ([]byte, int) {
	c := s[i]
	if c < utf8.RuneSelf {
		return appendEscape(dst, c), i + 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && n == 1 {
		return append(dst, "\ufffd"...), i + 1
	}
	return append(dst, s[i:i+n]...), i + n
}

// word returns the eight bytes of s at i in little-endian order.
func word[T text](s T, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// half returns the four bytes of s at i in little-endian order.
func half[T text](s T, i int) uint32 {
	b := s[i : i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// shortWord returns the bytes of s, which are fewer than eight, as word does,
// with zeros behind them.
func shortWord[T text](s T) uint64 {
	switch n := len(s); {
	case n >= 4:
		return uint64(half(s, 0)) | uint64(half(s, n-4))<<(8*(n-4)&63)
	case n > 0:
		return uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)) | uint64(s[n-1])<<(8*(n-1)&63)
	}
	return 0
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
	}
}
