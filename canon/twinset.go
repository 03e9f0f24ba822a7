package canon

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// nameTable is the set of the names of one object, with open addressing. It
// knows hashes and indexes; the names are with the members.
type nameTable struct {
	entries []entry
	count   int
}

// entry is one name: its hash, and its index in the object plus 1.
type entry struct {
	hash  uint32
	index int32
}

// reset makes the table empty, with room for n names.
func (t *nameTable) reset(n int) {
	size := 1 << bits.Len(uint(2*n))
	t.count = 0
	if size > cap(t.entries) {
		t.entries = make([]entry, size)
		return
	}
	t.entries = t.entries[:size]
	clear(t.entries)
}

// add puts in the name at index. If one before it is the same, it returns
// that one.
func (t *nameTable) add(hash uint32, index int, same func(other int) bool) (other int, found bool) {
	if 2*t.count >= len(t.entries) {
		t.grow()
	}
	mask := uint32(len(t.entries) - 1)
	at := hash & mask
	for ; t.entries[at].index != 0; at = (at + 1) & mask {
		e := t.entries[at]
		if e.hash == hash && same(int(e.index)-1) {
			return int(e.index) - 1, true
		}
	}
	t.entries[at] = entry{hash, int32(index) + 1}
	t.count++
	return 0, false
}

func (t *nameTable) grow() {
	old := t.entries
	t.entries = make([]entry, 2*len(old))
	mask := uint32(len(t.entries) - 1)
	for _, e := range old {
		if e.index == 0 {
			continue
		}
		at := e.hash & mask
		for t.entries[at].index != 0 {
			at = (at + 1) & mask
		}
		t.entries[at] = e
	}
}

// hashName returns a hash that equal names share. The seed is random, so that
// nobody can choose names that meet in the table.
func hashName[T text](t *twins, name T, fold bool) uint32 {
	t.work++
	if !t.seeded {
		t.seed, t.seeded = maphash.MakeSeed(), true
	}
	if fold {
		t.buf = appendFold(t.buf[:0], name, t)
	} else {
		t.buf = append(t.buf[:0], name...)
	}
	return uint32(maphash.Bytes(t.seed, t.buf))
}

// fewWide is up to how many names beyond ASCII are compared one by one, for
// which there is no quick test.
const fewWide = 4

// hasTwins reports two members whose names are equal under simple case
// folding.
func (d *Decoder) hasTwins(members []pair, traits trait) bool {
	if len(members) > fewNames || traits&wide != 0 && len(members) > fewWide {
		return d.hasTwinsAmongMany(members)
	}
	for i := range members {
		a := &members[i]
		for j := range members[:i] {
			b := &members[j]
			if traits&wide == 0 && (a.size != b.size || (a.prefix^b.prefix)&^(0x20*lowBits) != 0) {
				continue
			}
			if bytes.EqualFold(d.textOf(a), d.textOf(b)) {
				return true
			}
		}
	}
	return false
}

func (d *Decoder) hasTwinsAmongMany(members []pair) bool {
	d.twins.table.reset(len(members))
	for i := range members {
		name := d.textOf(&members[i])
		same := func(other int) bool { return bytes.EqualFold(name, d.textOf(&members[other])) }
		if _, found := d.twins.table.add(hashName(&d.twins, name, true), i, same); found {
			return true
		}
	}
	return false
}
