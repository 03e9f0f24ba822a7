package audit

import (
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/seed-de4804fb/verbatim/canon"
)

// ErrProof is returned for a proof that does not lead from what it is about
// to the root.
var ErrProof = errors.New("the proof does not hold")

// Hashes reads stored hashes of the tree by their position (the layout of
// golang.org/x/mod/sumdb/tlog: hashes in the order in which they become known
// while leaves are added). It returns one for each position, in their order.
type Hashes func(positions []int64) ([]canon.Digest, error)

func (h Hashes) reader() tlog.HashReader {
	return tlog.HashReaderFunc(func(positions []int64) ([]tlog.Hash, error) {
		if len(positions) == 0 {
			return nil, nil
		}
		found, err := h(positions)
		if err != nil {
			return nil, err
		}
		if len(found) != len(positions) {
			return nil, errors.New("the tree gave another number of hashes than were asked for")
		}
		return raw(found), nil
	})
}

func raw(list []canon.Digest) []tlog.Hash {
	out := make([]tlog.Hash, len(list))
	for i, d := range list {
		out[i] = tlog.Hash(d)
	}
	return out
}

func digests(list []tlog.Hash) []canon.Digest {
	out := make([]canon.Digest, len(list))
	for i, h := range list {
		out[i] = canon.Digest(h)
	}
	return out
}

// Head is a tree: how many leaves it has, and its root (RFC 6962 §2.1).
type Head struct {
	Size int64
	Root canon.Digest
}

// EmptyHead is the tree without leaves. Its root is the digest of nothing.
func EmptyHead() Head { return Head{Root: canon.Sum(nil)} }

// StoredHashes is how many hashes a tree of size leaves stores.
func StoredHashes(size int64) int64 { return tlog.StoredHashCount(size) }

// Grow adds leaves to a tree of size leaves: it returns the hashes to be
// stored from position StoredHashes(size) on, and the head of the tree as it
// then is. from reads those that are stored already.
func Grow(size int64, leaves []canon.Digest, from Hashes) ([]canon.Digest, Head, error) {
	t, err := treeOf(size, from)
	if err != nil {
		return nil, Head{}, fmt.Errorf("grow the tree: %w", err)
	}
	after := size + int64(len(leaves))
	added := make([]canon.Digest, 0, StoredHashes(after)-StoredHashes(size))
	for _, leaf := range leaves {
		added = t.add(leaf, added)
	}
	return added, t.Head(), nil
}

// treeOf is the tree of size leaves, from stored hashes: those of the perfect
// subtrees that it consists of, the largest first.
func treeOf(size int64, from Hashes) (Tree, error) {
	var positions []int64
	for level, leaves := bits.Len64(uint64(size))-1, int64(0); level >= 0; level-- {
		if size>>level&1 == 1 {
			positions = append(positions, tlog.StoredHashIndex(level, leaves>>level))
			leaves += 1 << level
		}
	}
	peaks, err := from.reader().ReadHashes(positions)
	return Tree{size: size, peaks: peaks}, err
}

func headOf(size int64, r tlog.HashReader) (Head, error) {
	if size == 0 {
		return EmptyHead(), nil
	}
	root, err := tlog.TreeHash(size, r)
	return Head{Size: size, Root: canon.Digest(root)}, err
}

// HeadAt computes the head of the first size leaves from stored hashes.
func HeadAt(size int64, from Hashes) (Head, error) { return headOf(size, from.reader()) }

// ProveInclusion proves that the tree of size leaves has the leaf at index
// (RFC 6962 §2.1.1).
func ProveInclusion(size, index int64, from Hashes) ([]canon.Digest, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("%w: the tree has no such leaf", ErrProof)
	}
	p, err := tlog.ProveRecord(size, index, from.reader())
	return digests(p), err
}

// CheckInclusion checks that the tree of head has a leaf with that hash at
// index. It fails with ErrProof.
func CheckInclusion(head Head, index int64, leaf canon.Digest, proof []canon.Digest) error {
	if index < 0 || index >= head.Size {
		return fmt.Errorf("%w: the tree has no such leaf", ErrProof)
	}
	if err := tlog.CheckRecord(raw(proof), head.Size, tlog.Hash(head.Root), index, tlog.Hash(leaf)); err != nil {
		return ErrProof
	}
	return nil
}

// ProveConsistency proves that the tree of size leaves begins with the tree
// of old leaves (RFC 6962 §2.1.2). About the empty tree there is no proof.
func ProveConsistency(size, old int64, from Hashes) ([]canon.Digest, error) {
	if old < 1 || old > size {
		return nil, fmt.Errorf("%w: the older tree is empty or the larger one", ErrProof)
	}
	if old == size {
		return nil, nil
	}
	p, err := tlog.ProveTree(size, old, from.reader())
	return digests(p), err
}

// CheckConsistency checks that the tree of head begins with the tree of old.
// It fails with ErrProof.
func CheckConsistency(head, old Head, proof []canon.Digest) error {
	switch {
	case old.Size < 1 || old.Size > head.Size:
		return fmt.Errorf("%w: the older tree is empty or the larger one", ErrProof)
	case old.Size == head.Size:
		if old.Root != head.Root || len(proof) > 0 {
			return ErrProof
		}
		return nil
	}
	if err := tlog.CheckTree(raw(proof), head.Size, tlog.Hash(head.Root), old.Size, tlog.Hash(old.Root)); err != nil {
		return ErrProof
	}
	return nil
}

// Tree computes the root of leaves that are read one after the other. It
// keeps one hash for each bit of its size. Its zero value has no leaves.
type Tree struct {
	size  int64
	peaks []tlog.Hash // of the perfect subtrees, the largest first
}

// Add adds the next leaf.
func (t *Tree) Add(leaf canon.Digest) {
	var room [64]canon.Digest
	t.add(leaf, room[:0])
}

// add adds the next leaf, and to known the hashes that are known with it: its
// own, then those of the subtrees that it completes, as they are stored.
func (t *Tree) add(leaf canon.Digest, known []canon.Digest) []canon.Digest {
	h := tlog.Hash(leaf)
	known = append(known, leaf)
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.peaks) - 1
		h = tlog.NodeHash(t.peaks[last], h)
		t.peaks = t.peaks[:last]
		known = append(known, canon.Digest(h))
	}
	t.peaks = append(t.peaks, h)
	t.size++
	return known
}

// Head is the tree of what was added.
func (t *Tree) Head() Head {
	if t.size == 0 {
		return EmptyHead()
	}
	root := t.peaks[len(t.peaks)-1]
	for i := len(t.peaks) - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.peaks[i], root)
	}
	return Head{Size: t.size, Root: canon.Digest(root)}
}
