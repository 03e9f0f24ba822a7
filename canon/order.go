package canon

import (
	"cmp"
	"slices"
)

// compare orders two members of one object by the UTF-16 code units of their
// names (RFC 8785 §3.2.3).
func (d *Decoder) compare(a, b *pair) int {
	if a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	return compareNames(d.textOf(a), d.textOf(b))
}

// keepSorted appends the members to kept in order; it reports false for equal
// names.
func (d *Decoder) keepSorted(members []pair) bool {
	if len(members) > insertFew {
		return d.keepMany(members)
	}
	if !d.sortFew(members) {
		return false
	}
	if cap(d.kept)-len(d.kept) < len(members) {
		d.kept = slices.Grow(d.kept, max(len(d.kept), len(members)))
	}
	d.kept = append(d.kept, members...)
	return true
}

// sortFew puts the members in order; it reports false for equal names.
func (d *Decoder) sortFew(members []pair) bool {
	for i := 1; i < len(members); i++ {
		m := members[i]
		at := i
		for ; at > 0 && members[at-1].prefix >= m.prefix; at-- {
			if members[at-1].prefix == m.prefix {
				order := d.compare(&members[at-1], &m)
				if order == 0 {
					return false
				}
				if order < 0 {
					break
				}
			}
			members[at] = members[at-1]
		}
		members[at] = m
	}
	return true
}

const (
	insertFew  = 24  // up to so many members insertion is the fastest sort
	compareFew = 128 // up to so many names comparing is
	// movable is the longest object in bytes whose members are moved when it
	// ends. Objects inside of it are moved with it again, so this bounds how
	// often; those of larger ones are all moved at the end, once.
	movable = 1024
)

// key is eight bytes of a name, as pair.prefix, and the index of its member.
type key struct {
	part  uint64
	index int32
}

func (d *Decoder) keepMany(members []pair) bool {
	n := len(members)
	if cap(d.keys) < 2*n {
		d.keys = make([]key, 2*n)
	}
	keys := d.keys[:n]
	for i := range members {
		keys[i] = key{members[i].prefix, int32(i)}
	}
	if !d.sortKeys(members, keys, d.keys[n:2*n], 0) {
		return false
	}
	d.kept = slices.Grow(d.kept, n)
	for i := range keys {
		d.kept = append(d.kept, members[keys[i].index])
	}
	return true
}

// sortKeys sorts keys, whose parts begin at byte at of names that are equal
// before it. Many names are sorted by their bytes, part by part, so that the
// work is linear in the text; scratch is as long as keys.
func (d *Decoder) sortKeys(members []pair, keys, scratch []key, at int) bool {
	d.twins.work += len(keys)
	if len(keys) <= compareFew {
		return d.sortKeysFew(members, keys, at)
	}
	sortParts(keys, scratch)
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j].part == keys[i].part {
			j++
		}
		if j > i+1 && !d.sortAlike(members, keys[i:j], scratch[i:j], at+8) {
			return false
		}
		i = j
	}
	return true
}

// sortAlike sorts names that are equal up to byte at, where shorter ones count
// as if they went on with zeros.
func (d *Decoder) sortAlike(members []pair, keys, scratch []key, at int) bool {
	longer := false
	for i := range keys {
		name := d.textOf(&members[keys[i].index])
		keys[i].part = part(name[min(at, len(name)):])
		longer = longer || len(name) > at
	}
	if !longer { // they differ in length, or not at all
		return d.sortKeysFew(members, keys, at)
	}
	return d.sortKeys(members, keys, scratch, at)
}

// sortFew compares the names from byte at on.
func (d *Decoder) sortKeysFew(members []pair, keys []key, at int) bool {
	distinct := true
	slices.SortFunc(keys, func(a, b key) int {
		d.twins.work++
		if a.part != b.part {
			return cmp.Compare(a.part, b.part)
		}
		x, y := d.textOf(&members[a.index]), d.textOf(&members[b.index])
		order := cmp.Or(compareNames(x[min(at, len(x)):], y[min(at, len(y)):]), len(x)-len(y))
		distinct = distinct && (order != 0 || a.index == b.index)
		return order
	})
	return distinct
}

// sortParts sorts keys by their parts, byte by byte from the last.
func sortParts(keys, scratch []key) {
	var counts [8][256]int32
	for i := range keys {
		for b := range counts {
			counts[b][byte(keys[i].part>>(8*b))]++
		}
	}
	from, to := keys, scratch
	for b := range counts {
		count := &counts[b]
		if count[byte(keys[0].part>>(8*b))] == int32(len(keys)) {
			continue // all have the same byte here
		}
		var sum int32
		for c := range count {
			sum, count[c] = sum+count[c], sum
		}
		for i := range from {
			c := byte(from[i].part >> (8 * b))
			to[count[c]] = from[i]
			count[c]++
		}
		from, to = to, from
	}
	copy(keys, from)
}

// arrangeNow moves the members of a short object, which are in order, to where
// they belong in the output.
func (d *Decoder) arrangeNow(members []pair, whole object) bool {
	if cap(d.final) < movable {
		d.final = make([]byte, 2*movable)
	}
	buf, n := d.final[:movable], 0
	for i := range members {
		m := &members[i]
		n += copy(buf[n:], d.out[m.start:m.end])
		buf[n] = ',' // behind the last one it is left out
		n++
	}
	copy(d.out[whole.start+1:whole.end-1], buf)
	return true
}

// arrange appends the output from place from to place to, in which the
// objects from slot to end are, with their members in order.
func (d *Decoder) arrange(dst []byte, from, to, slot, end int) []byte {
	for slot < end {
		whole := &d.objects[slot]
		if whole.end == 0 {
			slot++
			continue
		}
		dst = append(dst, d.out[from:whole.start]...)
		begin := len(dst)
		for _, m := range d.kept[whole.first:whole.last] {
			at := len(dst)
			if m.slot == m.after {
				dst = append(dst, d.out[m.start-1:m.end]...)
			} else {
				dst = d.arrange(dst, int(m.start-1), int(m.end), int(m.slot), int(m.after))
			}
			dst[at] = ',' // or the bracket, wherever the member stood
		}
		dst[begin] = '{'
		dst = append(dst, '}')
		from, slot = int(whole.end), int(whole.after)
	}
	return append(dst, d.out[from:to]...)
}
