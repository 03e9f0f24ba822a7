package canon

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// twinSet finds names that are equal under simple case folding among many. It
// is a table with open addressing that one object at a time uses. The seed is
// random, so that nobody can choose names that meet in it.
type twinSet struct {
	seed   maphash.Seed
	seeded bool
	table  []entry
	buf    []byte
}

// entry is one name: part of its hash, and its index in the object plus 1.
type entry struct {
	hash  uint32
	index int32
}

// hasTwins reports two members whose names are equal under simple case
// folding. Equal names are twins as well.
func (d *Decoder) hasTwins(members []pair, traits trait) bool {
	if len(members) > fewNames {
		return d.hasTwinsAmongMany(members)
	}
	for i := range members {
		a := &members[i]
		for j := range members[:i] {
			b := &members[j]
			if traits&wide == 0 && (a.size != b.size || (a.prefix^b.prefix)&^(0x20*lowBits) != 0) {
				continue
			}
			if x, y := d.textOf(a), d.textOf(b); mayFold(x, y) && bytes.EqualFold(x, y) {
				return true
			}
		}
	}
	return false
}

func (d *Decoder) hasTwinsAmongMany(members []pair) bool {
	t := &d.twins
	t.prepare(len(members))
	mask := len(t.table) - 1
	for i := range members {
		t.buf = appendFold(t.buf[:0], d.textOf(&members[i]))
		sum := maphash.Bytes(t.seed, t.buf)
		at := int(sum) & mask
		for ; t.table[at].index != 0; at = (at + 1) & mask {
			if e := t.table[at]; e.hash == uint32(sum>>32) &&
				bytes.EqualFold(d.textOf(&members[e.index-1]), d.textOf(&members[i])) {
				return true
			}
		}
		t.table[at] = entry{uint32(sum >> 32), int32(i + 1)}
	}
	return false
}

// prepare makes an empty table for n names.
func (t *twinSet) prepare(n int) {
	if !t.seeded {
		t.seed, t.seeded = maphash.MakeSeed(), true
	}
	size := 1 << bits.Len(uint(2*n))
	if size > cap(t.table) {
		t.table = make([]entry, size)
		return
	}
	t.table = t.table[:size]
	clear(t.table)
}
