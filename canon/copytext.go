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

// wide copies characters beyond ASCII.
func (d *Decoder) wide(p, o int) (int, int) {
	d.found |= wide
	src, start := d.src, p
	for p < len(src) && src[p] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(src[p:])
		if r == utf8.RuneError && n == 1 {
			return fault, o
		}
		p += n
	}
	return p, o + copy(d.out[o:], src[start:p])
}

// unescaped is what a backslash and a letter stand for; 0 where no escape of
// one letter is.
var unescaped = unescapedBytes()

func unescapedBytes() (table [256]byte) {
	for i := range escapeLetters {
		table[escapeLetters[i]] = escapeBytes[i]
	}
	return table
}

// escape writes the character of the escape at p as RFC 8785 §3.2.2.2 does.
func (d *Decoder) escape(p, o int) (int, int) {
	if len(d.src)-p < 2 {
		return fault, o
	}
	d.found |= escaped
	c := rune(unescaped[d.src[p+1]])
	p += 2
	if c == 0 {
		if c, p = d.unicode(p - 2); p == fault {
			return fault, o
		}
	}
	switch {
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

// unicode reads the \u escape at p, and the second one of a pair.
func (d *Decoder) unicode(p int) (rune, int) {
	r := d.unit(p)
	if !utf16.IsSurrogate(r) {
		if r < 0 {
			return 0, fault
		}
		return r, p + 6
	}
	if r = utf16.DecodeRune(r, d.unit(p+6)); r == utf8.RuneError {
		return 0, fault
	}
	return r, p + 12
}

// unit returns the code unit of the \u escape at p, -1 if there is none.
func (d *Decoder) unit(p int) rune {
	if len(d.src)-p < 6 || d.src[p] != '\\' || d.src[p+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range d.src[p+2 : p+6] {
		n, ok := hexDigit(c)
		if !ok {
			return -1
		}
		r = r<<4 | n
	}
	return r
}
