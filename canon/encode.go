package canon

import (
	"cmp"
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
	members := kids.members
	if kids.trust == untrusted {
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
		if kids.trust == untrusted && at > 0 && members[i].Name == members[before(order, at)].Name {
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
	if len(members) > cap(order) {
		return sortManyNames(members)
	}
	var parts [fewNames]uint64
	sorted := true
	for i := range members {
		parts[i] = part(members[i].Name)
		if i > 0 && parts[i] <= parts[i-1] && sorted {
			sorted = parts[i] == parts[i-1] && compareNames(members[i-1].Name, members[i].Name) <= 0
		}
	}
	if sorted {
		return nil
	}
	if ranked(order[:len(members)], parts[:len(members)]) {
		return order[:len(members)]
	}
	for i := range members {
		at := len(order)
		order = append(order, int32(i))
		for ; at > 0; at-- {
			j := order[at-1]
			if parts[j] < parts[i] || parts[j] == parts[i] && compareNames(members[j].Name, members[i].Name) <= 0 {
				break
			}
			order[at] = j
		}
		order[at] = int32(i)
	}
	return order
}

// ranked writes the order of parts that differ, and reports false if two are
// the same. It compares each with all, because that needs no jump that depends
// on the names: wrong guesses of the processor would cost more.
func ranked(order []int32, parts []uint64) bool {
	taken := uint32(0)
	for i := 0; i < len(parts); i += 2 {
		j := min(i+1, len(parts)-1) // two at a time; of an odd number the last one twice
		p, q := parts[i], parts[j]
		rank, next := 0, 0
		for _, other := range parts {
			if other < p {
				rank++
			}
			if other < q {
				next++
			}
		}
		order[rank], order[next] = int32(i), int32(j)
		taken |= 1<<rank | 1<<next
	}
	return taken == 1<<len(parts)-1
}

func sortManyNames(members []Member) []int32 {
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = compareNames(members[i-1].Name, members[i].Name) <= 0
	}
	if sorted {
		return nil
	}
	keys := make([]key, len(members))
	for i := range members {
		keys[i] = key{part(members[i].Name), int32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.part != b.part {
			return cmp.Compare(a.part, b.part)
		}
		return cmp.Or(compareNames(members[a.index].Name, members[b.index].Name), int(a.index-b.index))
	})
	order := make([]int32, len(keys))
	for i := range keys {
		order[i] = keys[i].index
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
func compareNames[T text](a, b T) int {
	i, n := 0, min(len(a), len(b))
	for ; i+8 <= n; i += 8 {
		if x := word(a, i) ^ word(b, i); x != 0 {
			i += bits.TrailingZeros64(x) / 8
			return compareUnits(a[i], b[i])
		}
	}
	for ; i < n; i++ {
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
