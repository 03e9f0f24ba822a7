package canon

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// pair is one member in the output of a [Decoder]. Places in the output fit:
// the longest text is CeilingBytes, and a number grows less than eightfold.
type pair struct {
	// prefix is the beginning of the name; pairs with different ones are
	// ordered as these are.
	prefix uint64
	// start and end enclose the name and the value.
	start, end int32
	// name is where the name is in the text, or, if it is negative, ^name
	// where it is among the names.
	name, size int32
	// slot and after enclose the objects in the value.
	slot, after int32
}

// object is one object in the output of a [Decoder]. One whose members are in
// order as they stand has no places.
type object struct {
	start, end  int32 // in the output
	first, last int32 // of the members in kept, in the order to write them
	after       int32 // behind the objects in it
}

// object reads an object and its members.
func (d *Decoder) object(p, o int) (int, int) {
	if d.depth--; d.depth < 0 {
		return fault, o
	}
	d.out[o] = '{'
	if p = skip(d.src, p+1); p < len(d.src) && d.src[p] == '}' {
		d.out[o+1] = '}'
		d.depth++
		return p + 1, o + 2
	}
	slot, base, names, start := len(d.objects), len(d.open), len(d.names), o
	o++
	d.objects = append(doubled(d.objects), object{})
	var traits trait
	sorted := true
	for {
		at := len(d.open)
		if p, o = d.name(p, o); p == fault {
			return fault, o
		}
		traits |= d.found
		if sorted && at > base {
			sorted = d.compare(&d.open[at-1], &d.open[at]) < 0
		}
		if p, o = d.value(p, o); p == fault {
			return fault, o
		}
		d.open[at].end, d.open[at].after = int32(o), int32(len(d.objects))
		if p = skip(d.src, p); p >= len(d.src) {
			return fault, o
		}
		c := d.src[p]
		d.out[o] = c
		p, o = p+1, o+1
		if c == '}' {
			break
		}
		if c != ',' {
			return fault, o
		}
		p = skip(d.src, p)
	}
	if !d.close(slot, d.open[base:], object{start: int32(start), end: int32(o)}, sorted, traits) {
		return fault, o
	}
	d.open, d.names = d.open[:base], d.names[:names]
	d.depth++
	return p, o
}

// name reads a name and the colon and puts the member on the stack.
func (d *Decoder) name(p, o int) (int, int) {
	if p >= len(d.src) || d.src[p] != '"' {
		return fault, o
	}
	m := pair{start: int32(o), name: int32(p + 1), slot: int32(len(d.objects))}
	d.found = 0
	if p, o = d.text(p, o); p == fault {
		return fault, o
	}
	m.size = int32(p-1) - m.name
	if d.found&escaped != 0 {
		m.name = int32(^len(d.names))
		d.names = appendUnescaped(d.names, d.out[m.start+1:o-1])
		m.size = int32(len(d.names) - int(^m.name))
	}
	d.head(&m)
	d.open = append(doubled(d.open), m)
	if p = skip(d.src, p); p >= len(d.src) || d.src[p] != ':' {
		return fault, o
	}
	d.out[o] = ':'
	return skip(d.src, p+1), o + 1
}

// textOf returns the name of m without escapes.
func (d *Decoder) textOf(m *pair) []byte {
	if m.name < 0 {
		return d.names[^m.name:][:m.size]
	}
	return d.src[m.name:][:m.size]
}

// head sets the prefix of m and looks for ASCII capitals in the name.
func (d *Decoder) head(m *pair) {
	if m.name >= 0 && len(d.src)-int(m.name) >= 8 {
		m.prefix = binary.BigEndian.Uint64(d.src[m.name:])
		if m.size < 8 {
			m.prefix &= ^uint64(0) << (64 - 8*uint(m.size))
		}
	} else {
		m.prefix = part(d.textOf(m))
	}
	if hasCapital(m.prefix) || m.size > 8 && hasCapitals(d.textOf(m)[8:]) {
		d.found |= capital
	}
	m.prefix = utf16Order(m.prefix)
}

// part returns the first eight bytes of name, with zeros behind a shorter one,
// so that names with different parts are ordered as these are.
func part[T text](name T) uint64 {
	if len(name) >= 8 {
		return utf16Order(bits.ReverseBytes64(word(name, 0)))
	}
	return utf16Order(bits.ReverseBytes64(shortWord(name)))
}

// utf16Order moves the bytes EE and EF, which begin U+E000 to U+FFFF, behind
// those that begin the characters that need surrogates: F0 to F4. Nothing
// else in UTF-8 is EE or above.
func utf16Order(w uint64) uint64 {
	if w&highBits == 0 {
		return w
	}
	for shift := 0; shift < 64; shift += 8 {
		if c := byte(w >> shift); c == 0xEE || c == 0xEF {
			w |= 0x10 << shift
		}
	}
	return w
}

// hasCapitals reports an ASCII capital in name.
func hasCapitals(name []byte) bool {
	for len(name) >= 8 {
		if hasCapital(binary.LittleEndian.Uint64(name)) {
			return true
		}
		name = name[8:]
	}
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}

// hasCapital reports a byte from A to Z.
func hasCapital(w uint64) bool {
	low := w &^ highBits
	fromA := low + (0x80-'A')*lowBits
	behindZ := low + (0x80-'Z'-1)*lowBits
	return fromA&^behindZ&^w&highBits != 0
}

// close settles an object whose members have been read.
func (d *Decoder) close(slot int, members []pair, whole object, sorted bool, traits trait) bool {
	if d.fold && traits&(capital|wide) != 0 && d.hasTwins(members, traits) {
		return false
	}
	if sorted {
		if slot == len(d.objects)-1 {
			d.objects = d.objects[:slot]
		}
		return true
	}
	if slot == len(d.objects)-1 && len(members) <= insertFew && whole.end-whole.start <= movable {
		d.objects = d.objects[:slot]
		return d.sortFew(members) && d.arrangeNow(members, whole)
	}
	whole.first, whole.after = int32(len(d.kept)), int32(len(d.objects))
	if !d.keepSorted(members) {
		return false
	}
	whole.last = int32(len(d.kept))
	d.objects[slot] = whole
	return true
}

// appendUnescaped appends a text that appendEscape has escaped, without its
// escapes.
func appendUnescaped(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		if text[1] == 'u' {
			c, _ := hexDigit(text[5])
			dst = utf8.AppendRune(dst, rune(text[4]-'0')<<4|c)
			text = text[6:]
			continue
		}
		dst = append(dst, escapeBytes[bytes.IndexByte([]byte(escapeLetters), text[1])])
		text = text[2:]
	}
}
