package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special returns a word whose lowest set bit is the highest bit of the first
// byte of w, in little-endian order, that does not stand for itself in a
// string or is not ASCII.
func special(w uint64) uint64 { return ending(w) | w&highBits }

// ending is special for a control character, a quote or a backslash alone.
func ending(w uint64) uint64 {
	quote := w ^ '"'*lowBits
	slash := w ^ '\\'*lowBits
	// Subtracting borrows from higher bytes only, so the lowest bit is right.
	return ((w-' '*lowBits)&^w | (quote-lowBits)&^quote | (slash-lowBits)&^slash) & highBits
}

// controls marks the control characters of w by their highest bits, if all of
// w is ASCII.
func controls(w uint64) uint64 { return ^(w + (0x80-' ')*lowBits) & highBits }

// escapes marks the quotes and backslashes of w by their highest bits, if all
// of w is ASCII. No sum below carries into another byte.
func escapes(w uint64) uint64 {
	quote := w ^ '"'*lowBits
	slash := w ^ '\\'*lowBits
	return ^((quote + 0x7F*lowBits) & (slash + 0x7F*lowBits)) & highBits
}

// escapesAmong is escapes for any w: where a byte is 0, adding leaves its highest
// bit alone.
func escapesAmong(w uint64) uint64 {
	quote := w ^ '"'*lowBits
	slash := w ^ '\\'*lowBits
	return ^((quote&^highBits + 0x7F*lowBits | quote) & (slash&^highBits + 0x7F*lowBits | slash)) & highBits
}

// text copies the string whose quote is at p. It writes eight bytes at once,
// of which those behind the plain ones are overwritten.
func (d *Decoder) text(p, o int) (int, int) {
	src, out := d.src, d.out
	out[o] = '"'
	p, o = p+1, o+1
	for {
		if len(src)-p >= 8 {
			w := binary.LittleEndian.Uint64(src[p:])
			binary.LittleEndian.PutUint64(out[o:], w)
			stop := special(w)
			if stop == 0 {
				p, o = p+8, o+8
				continue
			}
			n := bits.TrailingZeros64(stop) / 8
			p, o = p+n, o+n
		} else {
			for p < len(src) && plain[src[p]] {
				out[o] = src[p]
				p, o = p+1, o+1
			}
			if p == len(src) {
				return fault, o
			}
		}
		switch c := src[p]; {
		case c == '"':
			out[o] = '"'
			return p + 1, o + 1
		case c == '\\':
			p, o = d.escape(p, o)
		case c >= utf8.RuneSelf:
			p, o = d.wide(p, o)
		default:
			return fault, o
		}
		if p == fault {
			return fault, o
		}
	}
}

// wide copies characters beyond ASCII. Those of two and three bytes, which are
// almost all, are told by their first bytes (RFC 3629 §4).
func (d *Decoder) wide(p, o int) (int, int) {
	d.found |= wide
	src, out := d.src, d.out
	for p < len(src) && src[p] >= utf8.RuneSelf {
		c := src[p]
		switch rest := src[p:]; {
		case len(rest) >= 2 && 0xC2 <= c && c <= 0xDF && rest[1]&0xC0 == 0x80:
			out[o], out[o+1] = c, rest[1]
			p, o = p+2, o+2
		case len(rest) >= 3 && 0xE1 <= c && c <= 0xEF && c != 0xED && rest[1]&0xC0 == 0x80 && rest[2]&0xC0 == 0x80:
			out[o], out[o+1], out[o+2] = c, rest[1], rest[2]
			p, o = p+3, o+3
		default:
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 {
				return fault, o
			}
			p, o = p+n, o+copy(out[o:], rest[:n])
		}
	}
	return p, o
}

// escape writes the character of the escape at p as RFC 8785 §3.2.2.2 does.
func (d *Decoder) escape(p, o int) (int, int) {
	if len(d.src)-p < 2 {
		return fault, o
	}
	d.found |= escaped
	switch c := d.src[p+1]; c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't': // RFC 8785 writes them so, too
		d.out[o], d.out[o+1] = '\\', c
		return p + 2, o + 2
	case '/':
		d.out[o] = c
		return p + 2, o + 1
	case 'u':
		return d.unicode(p, o)
	default:
		return fault, o
	}
}

// unicode writes the character of the \u escape at p, or of the pair of them.
func (d *Decoder) unicode(p, o int) (int, int) {
	c := d.unit(p)
	p += 6
	if utf16.IsSurrogate(c) {
		c = utf16.DecodeRune(c, d.unit(p))
		if p += 6; c == utf8.RuneError {
			return fault, o
		}
	}
	switch {
	case c < 0:
		return fault, o
	case c >= utf8.RuneSelf:
		d.found |= wide
		return p, o + utf8.EncodeRune(d.out[o:], c)
	case plain[c]:
		d.out[o] = byte(c)
		return p, o + 1
	default:
		return p, len(appendEscape(d.out[:o], byte(c)))
	}
}

// unit returns the code unit of the \u escape at p, -1 if there is none.
func (d *Decoder) unit(p int) rune {
	if len(d.src)-p < 6 || d.src[p] != '\\' || d.src[p+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range d.src[p+2 : p+6] {
		r = r<<4 | hexValue[c]
	}
	return r
}

// hexValue is the value of a hex digit; -1, which stays negative when shifted
// and joined, of all other bytes.
var hexValue = hexValues()

func hexValues() (table [256]rune) {
	for c := range table {
		table[c] = -1
		if n, ok := hexDigit(byte(c)); ok {
			table[c] = n
		}
	}
	return table
}
