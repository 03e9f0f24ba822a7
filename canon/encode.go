package canon

import (
	"cmp"
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
		return appendObject(dst, v.kids)
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
func appendObject(dst []byte, kids *children) []byte {
	if kids == nil {
		return append(dst, '{', '}')
	}
	members := kids.members
	if !kids.sound {
		members = validNames(members)
	}
	var few [fewNames]int32
	order := sortNames(few[:0], members)
	dst = append(dst, '{')
	for at := range members {
		i := at
		if order != nil {
			i = int(order[at])
		}
		if !kids.sound && at > 0 && members[i].Name == members[before(order, at)].Name {
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

func before(order []int32, at int) int {
	if order == nil {
		return at - 1
	}
	return int(order[at-1])
}

// sortNames returns the order in which to write members, in the memory of
// order if it fits; nil means that they are in order. Equal names stay in
// document order.
func sortNames(order []int32, members []Member) []int32 {
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = compareNames(members[i-1].Name, members[i].Name) <= 0
	}
	if sorted {
		return nil
	}
	if len(members) > cap(order) {
		order = make([]int32, 0, len(members))
		for i := range members {
			order = append(order, int32(i))
		}
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(compareNames(members[a].Name, members[b].Name), int(a-b))
		})
		return order
	}
	for i := range members {
		at := len(order)
		order = append(order, int32(i))
		for at > 0 && compareNames(members[order[at-1]].Name, members[i].Name) > 0 {
			order[at] = order[at-1]
			at--
		}
		order[at] = int32(i)
	}
	return order
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

// compareNames orders two UTF-8 texts by their UTF-16 code units. That is the
// order of the bytes, except that U+E000 to U+FFFF (first byte EE or EF) sort
// behind the characters that need surrogates (first byte F0 and up).
func compareNames(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return compareUnits(a[i], b[i])
		}
	}
	return len(a) - len(b)
}

// compareUnits orders the first bytes in which two UTF-8 texts differ.
func compareUnits(x, y byte) int {
	if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
		return int(y) - int(x)
	}
	return int(x) - int(y)
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
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
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
