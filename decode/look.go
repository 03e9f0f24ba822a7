package decode

import "bytes"

// jsonSpace is the white space of RFC 8259 §2.
const jsonSpace = " \t\r\n"

func trimSpace(b []byte) []byte { return bytes.Trim(b, jsonSpace) }

func isFence(b []byte) bool { return bytes.HasPrefix(trimSpace(b), []byte(fence)) }

// isWordByte reports a byte of a word in any language.
func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isPunctuation(c byte) bool { return bytes.IndexByte([]byte(`{}[]:,"`), c) >= 0 }

// word returns the word at the start of b.
func word(b []byte) []byte {
	for i, c := range b {
		if !isWordByte(c) {
			return b[:i]
		}
	}
	return b
}

// foreign reports a literal of Python or JavaScript at the start of b.
func foreign(b []byte) bool {
	switch string(word(bytes.TrimPrefix(b, []byte("-")))) {
	case "None", "True", "False", "NaN", "nan", "Infinity", "inf", "undefined",
		"NULL", "Null", "TRUE", "FALSE", "nil":
		return true
	default:
		return false
	}
}

func isComment(b []byte) bool {
	return b[0] == '#' || bytes.HasPrefix(b, []byte("//")) || bytes.HasPrefix(b, []byte("/*"))
}

// isNamed reports a word and a colon at the start of b.
func isNamed(b []byte) bool {
	w := word(b)
	rest := bytes.TrimLeft(b[len(w):], jsonSpace)
	return len(w) > 0 && len(rest) > 0 && rest[0] == ':'
}

// isNumberHabit reports a number of another language around a place: a sign
// or point that starts nothing in JSON, a leading zero, or a letter glued to a digit.
func isNumberHabit(before, rest []byte) bool {
	c := rest[0]
	if (c == '+' || c == '.') && len(rest) > 1 && (isDigit(rest[1]) || rest[1] == '.') {
		return true
	}
	if c == '0' && len(rest) > 1 && isDigit(rest[1]) {
		return true
	}
	last := before[len(before)-1]
	if isDigit(last) || last == '.' {
		return isWordByte(c) || c == '.'
	}
	return last == '-' && c == '.'
}
