package canon

import (
	"slices"
	"unicode/utf8"
)

// AppendTo appends the RFC 8785 form of v to dst. It is meant for values that
// [Decode] returned or [Check] accepted. Of others it still makes one valid
// text, which then is not the whole value: invalid values become null, bytes
// that are not UTF-8 become U+FFFD, and of equal names the first stays.
func (v Value) AppendTo(dst []byte) []byte {
	switch v.kind {
	case Bool, Number:
		return append(dst, v.text...)
	case String:
		return appendString(dst, v.text)
	case Array:
		return appendArray(dst, v.elems())
	case Object:
		return appendObject(dst, v.members())
	default:
		return append(dst, "null"...)
	}
}

// Canonical returns the RFC 8785 form of v.
func (v Value) Canonical() []byte { return v.AppendTo(nil) }

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
func appendObject(dst []byte, members []Member) []byte {
	members = validNames(members)
	if !sortedNames(members) {
		members = slices.Clone(members)
		slices.SortStableFunc(members, func(a, b Member) int { return compareNames(a.Name, b.Name) })
	}
	dst = append(dst, '{')
	for i := range members {
		if i > 0 {
			if members[i].Name == members[i-1].Name {
				continue
			}
			dst = append(dst, ',')
		}
		dst = appendString(dst, members[i].Name)
		dst = append(dst, ':')
		dst = members[i].Value.AppendTo(dst)
	}
	return append(dst, '}')
}

// validNames returns members with names that appendString writes unchanged, so
// that names which become equal are seen to be.
func validNames(members []Member) []Member {
	for i := range members {
		if utf8.ValidString(members[i].Name) {
			continue
		}
		members = slices.Clone(members)
		for j := range members {
			members[j].Name = string([]rune(members[j].Name))
		}
		return members
	}
	return members
}

func sortedNames(members []Member) bool {
	for i := 1; i < len(members); i++ {
		if compareNames(members[i-1].Name, members[i].Name) > 0 {
			return false
		}
	}
	return true
}

// compareNames orders two UTF-8 texts by their UTF-16 code units. That is the
// order of the bytes, except that U+E000 to U+FFFF (first byte EE or EF) sort
// behind the characters that need surrogates (first byte F0 and up).
func compareNames(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string with the fewest escapes (RFC 8785
// §3.2.2.2).
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
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
