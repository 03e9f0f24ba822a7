package keys

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Shelf is what sealed bytes share a life with: bytes of one class and one
// day. The keys of whole days are forgotten at the price of one
// ([Ring.Forget]). The zero Shelf is for what is kept until it is erased.
type Shelf struct {
	Class byte
	Day   uint16 // since 1970, UTC
}

// DayOf is the day of a time, for a [Shelf]: up to the year 2149. Times before
// 1970 and after it count as its ends.
func DayOf(t time.Time) uint16 {
	return uint16(min(max(t.Unix()/(24*60*60), 0), 1<<16-1))
}

const (
	shelfSize  = 3 // bytes of a place that are the shelf's
	tenantSize = 4 // bytes of a place that are the tenant's
)

// The two shapes. Before there were shelves, a place began with the tenant.
func oldShape() shape   { return shape{tenantSize + rowSize} }
func shelfShape() shape { return shape{shelfSize + tenantSize + rowSize} }

func (s Shelf) number() uint32 { return uint32(s.Class)<<16 | uint32(s.Day) }

// put writes the shelf into the first bytes of b.
func (s Shelf) put(b []byte) {
	b[0] = s.Class
	binary.BigEndian.PutUint16(b[1:], s.Day)
}

func shelfOf(b []byte) Shelf { return Shelf{b[0], binary.BigEndian.Uint16(b[1:])} }

// oldPath is where the key of a row is in a tree without shelves.
func oldPath(tenant, row string) (out path) {
	var room [256]byte
	t := sha256.Sum256(append(append(room[:0], "verbatim tenant "...), tenant...))
	place := binary.BigEndian.AppendUint64(room[:0], uint64(len(tenant)))
	h := sha256.Sum256(append(append(place, tenant...), row...))
	copy(out[:tenantSize], t[:])
	copy(out[tenantSize:], h[:rowSize])
	return out
}

// shelfPath is where the key of a row is.
func shelfPath(on Shelf, tenant, row string) (out path) {
	old := oldPath(tenant, row)
	on.put(out[:])
	copy(out[shelfSize:], old[:tenantSize+rowSize])
	return out
}

// fileKey is one key of the file.
type fileKey struct {
	id     [keyIDSize]byte
	secret []byte // of a key of which nothing was erased; else nil
	old    *tree  // of rows that were sealed before there were shelves; nil if there are none
	shelf  *tree
}

// newFileKey derives a key from its secret. One that is made today has no
// rows without a shelf.
func newFileKey(secret []byte, old bool) (*fileKey, error) {
	id, err := hkdf.Key(sha256.New, secret, nil, "verbatim seal key id", keyIDSize)
	if err != nil {
		return nil, err
	}
	root, err := hkdf.Key(sha256.New, secret, nil, "verbatim seal shelves", keySize)
	if err != nil {
		return nil, err
	}
	k := &fileKey{id: [keyIDSize]byte(id), secret: append([]byte(nil), secret...), shelf: newTree(shelfShape(), seed(root))}
	if old {
		k.old = newTree(oldShape(), seed(secret))
	}
	return k, nil
}

// leaf derives the seed of one row; false where it was erased.
func (k *fileKey) leaf(on where, tenant, row string) (seed, bool) {
	if !on.old {
		return k.shelf.leaf(shelfPath(on.shelf, tenant, row))
	}
	if k.old == nil {
		return seed{}, false
	}
	return k.old.leaf(oldPath(tenant, row))
}

// with is the key with other trees. The secret leads to all of both, so it
// goes; it is the root of the old tree, too.
func (k *fileKey) with(old, shelf *tree) *fileKey {
	if old == k.old && shelf == k.shelf {
		return k
	}
	if old != nil {
		if root, whole := old.nodes[node{}]; whole && k.secret != nil {
			nodes := map[node]seed{}
			for d := range byte(arity) {
				nodes[node{}.below(d)] = root.child(d)
			}
			old = &tree{shape: old.shape, nodes: nodes}
		}
	}
	return &fileKey{id: k.id, old: old, shelf: shelf}
}

// erased is the key without the seeds of one row.
func (k *fileKey) erased(row Place) *fileKey {
	old := k.old
	if old != nil {
		old = old.erased(oldPath(row.Tenant, row.Row))
	}
	return k.with(old, k.shelf.erased(shelfPath(row.Shelf, row.Tenant, row.Row)))
}

// forgotten is the key without the seeds of the days of each class before the
// given ones, but for the rows that are held.
func (k *fileKey) forgotten(before []Shelf, old bool, held []Place) *fileKey {
	paths, oldPaths := make([]path, len(held)), make([]path, len(held))
	for i, row := range held {
		paths[i], oldPaths[i] = shelfPath(row.Shelf, row.Tenant, row.Row), oldPath(row.Tenant, row.Row)
	}
	shelf, rest := k.shelf, k.old
	for _, b := range before {
		shelf = shelf.without(Shelf{Class: b.Class}.number(), b.number(), within(paths, b))
	}
	if old && rest != nil {
		rest = rest.without(0, 1<<(8*shelfSize), oldPaths)
	}
	return k.with(rest, shelf)
}

// within are the places of the class on days before the given one.
func within(all []path, before Shelf) (out []path) {
	for _, p := range all {
		if s := shelfOf(p[:]); s.Class == before.Class && s.Day < before.Day {
			out = append(out, p)
		}
	}
	return out
}
