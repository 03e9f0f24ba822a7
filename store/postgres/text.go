package postgres

import (
	"strings"
	"unicode/utf8"
)

// PostgreSQL keeps no NUL and no invalid UTF-8 in a text, and names that a
// model chose may hold either. They are written with a backslash, and a
// backslash as two; every text has exactly one such form.

const hexDigits = "0123456789abcdef"

func escape(s string) string {
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\\\x00") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == 0, r == utf8.RuneError && size == 1:
			b.WriteByte('\\')
			b.WriteByte(hexDigits[s[i]>>4])
			b.WriteByte(hexDigits[s[i]&15])
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unescape reads what escape wrote. It fails on anything else.
func unescape(s string) (string, bool) {
	first := strings.IndexByte(s, '\\')
	if first < 0 {
		return s, true
	}
	out := append(make([]byte, 0, len(s)), s[:first]...)
	for i := first; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		c, size := escaped(s[i+1:])
		if size == 0 {
			return "", false
		}
		out = append(out, c)
		i += 1 + size
	}
	return string(out), true
}

// escaped reads what follows a backslash.
func escaped(s string) (c byte, size int) {
	if strings.HasPrefix(s, `\`) {
		return '\\', 1
	}
	if len(s) < 2 {
		return 0, 0
	}
	high, low := strings.IndexByte(hexDigits, s[0]), strings.IndexByte(hexDigits, s[1])
	if high < 0 || low < 0 {
		return 0, 0
	}
	return byte(high<<4 | low), 2
}
