package canon

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text scans the string whose quote is at pos and moves pos behind it.
func (d *scanner) text() (string, bool) {
	start := d.pos + 1
	s, i := d.s, 0
	if d.bare {
		i = quoteFrom(s, start)
	} else {
		i = afterText(s, start)
	}
	d.pos = i
	if d.dirty && !d.validUTF8(start) {
		return "", false
	}
	switch d.peek() {
	case '"':
		d.pos++
		return s[start:i], true
	case '\\':
		return d.escaped(start)
	}
	return "", d.badText()
}

// afterText returns the place of the first byte of s from i on that ends the
// plain part of a string: a control character, a quote or a backslash.
func afterText(s string, i int) int {
	for ; len(s)-i >= 8; i += 8 {
		if stop := ending(word(s, i)); stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(s) && (plain[s[i]] || s[i] >= utf8.RuneSelf) {
		i++
	}
	return i
}

// badText refuses what ends a string at pos without closing it.
func (d *scanner) badText() bool {
	if d.pos < len(d.s) {
		return d.refuse(d.pos, RuleControlCharacter)
	}
	return d.refuse(len(d.s), RuleTruncated)
}

// escaped goes on with a string that has escapes; the first is at pos.
func (d *scanner) escaped(start int) (string, bool) {
	d.buf = append(d.buf[:0], d.s[start:d.pos]...)
	for d.peek() == '\\' {
		if !d.escape() {
			return "", false
		}
		from := d.pos
		s, i := d.s, afterText(d.s, from)
		d.pos = i
		if d.dirty && !d.validUTF8(from) {
			return "", false
		}
		d.buf = append(d.buf, s[from:i]...)
	}
	if d.peek() != '"' {
		return "", d.badText()
	}
	d.pos++
	return d.mem.keepText(d.buf), true
}

// validUTF8 checks the bytes from start to pos.
func (d *scanner) validUTF8(start int) bool {
	for i := start; i < d.pos; {
		r, n := utf8.DecodeRuneInString(d.s[i:d.pos])
		if r == utf8.RuneError && n == 1 {
			return d.refuse(i, RuleInvalidUTF8)
		}
		i += n
	}
	return true
}

// Escapes of one letter and what they stand for, at the same index.
const (
	escapeLetters = `"\/bfnrt`
	escapeBytes   = "\"\\/\b\f\n\r\t"
)

// escape decodes the escape at pos into buf.
func (d *scanner) escape() bool {
	if d.pos+1 >= len(d.s) {
		return d.refuse(len(d.s), RuleTruncated)
	}
	c := d.s[d.pos+1]
	if i := strings.IndexByte(escapeLetters, c); i >= 0 {
		d.buf = append(d.buf, escapeBytes[i])
		d.pos += 2
		return true
	}
	if c != 'u' {
		return d.refuse(d.pos, RuleInvalidEscape)
	}
	r, ok := d.hex(d.pos)
	if !ok {
		return false
	}
	size := 6
	if utf16.IsSurrogate(r) {
		if !strings.HasPrefix(d.s[d.pos+6:], `\u`) {
			return d.refuse(d.pos, RuleLoneSurrogate)
		}
		low, ok := d.hex(d.pos + 6)
		if !ok {
			return false
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return d.refuse(d.pos, RuleLoneSurrogate)
		}
		size = 12
	}
	d.buf = utf8.AppendRune(d.buf, r)
	d.pos += size
	return true
}

// hex reads the four digits of the \u escape at i.
func (d *scanner) hex(i int) (rune, bool) {
	end := i + 6
	if end > len(d.s) {
		end = len(d.s)
	}
	var r rune
	for _, c := range []byte(d.s[i+2 : end]) {
		n, ok := hexDigit(c)
		if !ok {
			return 0, d.refuse(i, RuleInvalidEscape)
		}
		r = r<<4 | n
	}
	if end != i+6 {
		return 0, d.refuse(len(d.s), RuleTruncated)
	}
	return r, true
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10, true
	default:
		return 0, false
	}
}
