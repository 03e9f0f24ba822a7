package canon

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text scans the string whose quote is at pos and moves pos behind it.
func (d *scanner) text() (string, bool) {
	d.pos++
	start := d.pos
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; {
		case c == '"':
			s := d.s[start:d.pos]
			if d.dirty && !d.validUTF8(start) {
				return "", false
			}
			d.pos++
			return s, true
		case c == '\\':
			return d.escaped(start)
		case c < 0x20:
			return "", d.refuse(d.pos, RuleControlCharacter)
		default:
			d.pos++
		}
	}
	if d.dirty && !d.validUTF8(start) {
		return "", false
	}
	return "", d.refuse(len(d.s), RuleTruncated)
}

// escaped goes on with a string that has escapes; the first is at pos.
func (d *scanner) escaped(start int) (string, bool) {
	d.buf = append(d.buf[:0], d.s[start:d.pos]...)
	if d.dirty && !d.validUTF8(start) {
		return "", false
	}
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; {
		case c == '"':
			d.pos++
			return string(d.buf), true
		case c == '\\':
			if !d.escape() {
				return "", false
			}
		case c < 0x20:
			return "", d.refuse(d.pos, RuleControlCharacter)
		case d.dirty && c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(d.s[d.pos:])
			if r == utf8.RuneError && n == 1 {
				return "", d.refuse(d.pos, RuleInvalidUTF8)
			}
			d.buf = append(d.buf, d.s[d.pos:d.pos+n]...)
			d.pos += n
		default:
			d.buf = append(d.buf, c)
			d.pos++
		}
	}
	return "", d.refuse(len(d.s), RuleTruncated)
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
