package keys

import (
	"crypto/sha256"
	"sync"
)

// A sealing key is the root of trees of seeds, four below each (Goldreich,
// Goldwasser and Micali). Each row has a place in one of them. To destroy the
// key of a row, the seeds on the way to it are replaced by those beside the
// way: every other key can still be derived, and this one by nobody, from the
// file or from anything that was sealed. What lies beside each other goes at
// the price of one.
const (
	arity      = 4
	bitsALevel = 2
	rowSize    = 8 // bytes of a place that are the row's
)

// seed is the secret of one node.
type seed [keySize]byte

// shape is how the places of a tree are cut: size bytes, of which the last
// rowSize are the row's. What is above the row's is remembered.
type shape struct{ size int }

func (s shape) levels() int { return s.size * 8 / bitsALevel }
func (s shape) above() int  { return (s.size - rowSize) * 8 / bitsALevel }

// path is a place in a tree of any shape; unused bytes are zero.
type path [maxPlace]byte

// maxPlace is the size of the largest shape.
const maxPlace = shelfSize + tenantSize + rowSize

// node is a place in the tree: the first depth levels of path.
type node struct {
	depth uint8
	path  path // bits beyond depth are zero
}

// tree holds the seeds that cover every row that was not erased, each once.
// It never changes: erasing makes another one.
type tree struct {
	shape
	nodes map[node]seed

	mu    sync.Mutex
	known map[node]seed // guarded by mu; seeds right above rows
}

// maxKnown is how many seeds above rows are kept in memory.
const maxKnown = 1024

func newTree(s shape, root seed) *tree { return &tree{shape: s, nodes: map[node]seed{{}: root}} }

// digit is the way to go at one level.
func (p *path) digit(level int) byte {
	return p[level*bitsALevel/8] >> (8 - bitsALevel - level*bitsALevel%8) & (arity - 1)
}

// at is the node at a depth on the way to a place.
func (p *path) at(depth int) node {
	n := node{depth: uint8(depth)}
	bits := depth * bitsALevel
	copy(n.path[:], p[:bits/8])
	if rest := bits % 8; rest > 0 {
		n.path[bits/8] = p[bits/8] & (0xff << (8 - rest))
	}
	return n
}

// below is one of the nodes below.
func (n node) below(d byte) node {
	level := int(n.depth)
	n.depth++
	n.path[level*bitsALevel/8] |= d << (8 - bitsALevel - level*bitsALevel%8)
	return n
}

// nodeLabel and a seed and a digit are 55 bytes: one block of SHA-256.
const nodeLabel = "verbatim seal node v1\x00"

// child derives a seed one level below.
func (s seed) child(digit byte) seed {
	var block [len(nodeLabel) + keySize + 1]byte
	copy(block[:], nodeLabel)
	copy(block[len(nodeLabel):], s[:])
	block[len(block)-1] = digit
	return sha256.Sum256(block[:])
}

// cover finds the node that stands for a place; false where it was erased.
func (t *tree) cover(p *path) (node, bool) {
	for depth := range t.levels() + 1 {
		n := p.at(depth)
		if _, ok := t.nodes[n]; ok {
			return n, true
		}
	}
	return node{}, false
}

// leaf derives the seed of one row; false where it was erased.
func (t *tree) leaf(p path) (seed, bool) {
	above := p.at(t.above())
	s, known := t.lookAbove(above)
	level := t.above()
	if !known {
		n, ok := t.cover(&p)
		if !ok {
			return seed{}, false
		}
		s, level = t.nodes[n], int(n.depth)
		if level <= t.above() {
			for ; level < t.above(); level++ {
				s = s.child(p.digit(level))
			}
			t.remember(above, s)
		}
	}
	for ; level < t.levels(); level++ {
		s = s.child(p.digit(level))
	}
	return s, true
}

func (t *tree) lookAbove(n node) (s seed, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok = t.known[n]
	return s, ok
}

func (t *tree) remember(n node, s seed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxKnown {
		t.known = map[node]seed{}
	}
	t.known[n] = s
}

// erased is the tree without the seed of one row, and nothing that leads
// there; the same tree where it was erased before.
func (t *tree) erased(p path) *tree {
	n, ok := t.cover(&p)
	if !ok {
		return t
	}
	out := &tree{shape: t.shape, nodes: make(map[node]seed, len(t.nodes)+t.levels()*(arity-1))}
	for other, s := range t.nodes {
		if other != n {
			out.nodes[other] = s
		}
	}
	s := t.nodes[n]
	for level := int(n.depth); level < t.levels(); level++ {
		way, from := p.digit(level), p.at(level)
		for d := range byte(arity) {
			if d != way {
				out.nodes[from.below(d)] = s.child(d)
			}
		}
		s = s.child(way)
	}
	return out
}

// span is which shelves a node stands for, or is part of: from lo up to hi.
func (n node) span() (lo, hi uint32) {
	lo = uint32(n.path[0])<<16 | uint32(n.path[1])<<8 | uint32(n.path[2])
	return lo, lo + 1<<(8*shelfSize-bitsALevel*min(int(n.depth), shelfLevels))
}

const shelfLevels = 8 * shelfSize / bitsALevel

// without is the tree without what stands from lo up to hi, but for the rows
// that are held; the same tree where nothing of it was left.
func (t *tree) without(lo, hi uint32, held []path) *tree {
	out := &tree{shape: t.shape, nodes: make(map[node]seed, len(t.nodes))}
	keep := map[node]seed{}
	for _, p := range held {
		if s, ok := t.leaf(p); ok {
			keep[p.at(t.levels())] = s
		}
	}
	gone := false
	var take func(node, seed)
	take = func(n node, s seed) {
		from, to := n.span()
		switch {
		case to <= lo || hi <= from:
			out.nodes[n] = s
		case lo <= from && to <= hi:
			if kept, ok := keep[n]; !ok || kept != s {
				gone = true
			}
		default:
			for d := range byte(arity) {
				take(n.below(d), s.child(d))
			}
		}
	}
	for n, s := range t.nodes {
		take(n, s)
	}
	if !gone {
		return t
	}
	for n, s := range keep {
		out.nodes[n] = s
	}
	return out
}
