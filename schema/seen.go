package schema

import "github.com/seed-de4804fb/verbatim/canon"

// seen marks the members or elements of one value that some subschema has
// evaluated (2020-12 core §11). Members are counted in document order.
type seen struct {
	all  bool
	bits []uint64
}

func newSeen(v canon.Value) *seen {
	if v.Len() == 0 {
		return &seen{}
	}
	return &seen{bits: make([]uint64, (v.Len()+63)/64)}
}

func (s *seen) mark(i int) {
	if s != nil && i/64 < len(s.bits) {
		s.bits[i/64] |= 1 << (i % 64)
	}
}

func (s *seen) markAll() {
	if s != nil {
		s.all = true
	}
}

func (s *seen) has(i int) bool {
	return s.all || i/64 < len(s.bits) && s.bits[i/64]&(1<<(i%64)) != 0
}

func (s *seen) merge(from *seen) {
	s.all = s.all || from.all
	for i := range min(len(s.bits), len(from.bits)) {
		s.bits[i] |= from.bits[i]
	}
}
