package canon

import (
	"slices"
	"strings"
)

// memory hands out what a tree is made of, cut from larger pieces: one
// allocation serves many containers. A piece has at most largePiece entries
// more than are needed, so that memory stays linear in the input.
type memory struct {
	elems   []Value
	members []Member
	kids    []children
	texts   strings.Builder

	// How many entries the rest of the input is likely to need.
	moreElems, moreMembers, moreKids int
}

const (
	largePiece = 256
	textPiece  = 256 // bytes
)

// expect estimates what the text s holds from its punctuation: n members have
// n colons and n-1 commas, n elements have n-1 commas. Punctuation inside
// strings makes the estimate wrong, which costs a piece more or a larger one.
func (m *memory) expect(s string) {
	arrays, objects := strings.Count(s, "["), strings.Count(s, "{")
	m.moreKids = arrays + objects
	m.moreMembers = strings.Count(s, ":")
	if arrays > 0 {
		m.moreElems = max(arrays, strings.Count(s, ",")+arrays+objects-m.moreMembers)
	}
}

// Trees of one ordinary call are one allocation.
type (
	tinyTree struct {
		kids    [2]children
		members [6]Member
	}
	smallTree struct {
		kids    [4]children
		members [10]Member
		elems   [4]Value
	}
	commonTree struct {
		kids    [4]children
		members [16]Member
		elems   [4]Value
	}
	mediumTree struct {
		kids    [8]children
		members [24]Member
		elems   [8]Value
	}
)

// reserve makes the first pieces, if the text is likely to need no others. It
// returns room for all members of such a text, nil of any other.
func (m *memory) reserve() []Member {
	fit := func(kids, members, elems int) bool {
		return m.moreKids <= kids && m.moreMembers <= members && m.moreElems <= elems
	}
	switch {
	case m.moreMembers == 0:
	case fit(2, 6, 0):
		t := new(tinyTree)
		m.kids = t.kids[:]
		return t.members[:0]
	case fit(4, 10, 4):
		t := new(smallTree)
		m.kids, m.elems = t.kids[:], t.elems[:]
		return t.members[:0]
	case fit(4, 16, 4):
		t := new(commonTree)
		m.kids, m.elems = t.kids[:], t.elems[:]
		return t.members[:0]
	case fit(8, 24, 8):
		t := new(mediumTree)
		m.kids, m.elems = t.kids[:], t.elems[:]
		return t.members[:0]
	}
	return nil
}

// piece returns how many entries to allocate where n are needed at once and
// more are likely to be needed in all.
func piece(n, more int) int { return max(n, min(more, largePiece)) }

// doubled returns s with room for one more. It doubles where append would grow
// large slices by a quarter, which asks for five times the memory in all.
func doubled[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	return slices.Grow(s, max(len(s), 8))
}

// roomFor is doubled for a stack that will hold no more than about more: it
// grows up to fourfold to just that.
func roomFor[T any](s []T, more int) []T {
	if n := len(s); n == cap(s) && n >= largePiece && more > n {
		return slices.Grow(s, min(more-n, 3*n))
	}
	return doubled(s)
}

// handsOver reports whether a stack that is one large container can become a
// part of the tree as it is, with little memory left over.
func handsOver[T any](s []T) bool { return len(s) >= largePiece && cap(s)-len(s) <= len(s)/4 }

// keepElems moves from, the top of a stack, into the tree.
func (m *memory) keepElems(from []Value) *children {
	n := len(from)
	if len(m.elems) < n {
		m.elems = make([]Value, piece(n, m.moreElems))
	}
	m.moreElems -= n
	kept := m.elems[:n:n]
	m.elems = m.elems[n:]
	copy(kept, from)
	clear(from)
	kids := m.container()
	kids.elems = kept
	return kids
}

// keepMembers moves from, the top of a stack, into the tree.
func (m *memory) keepMembers(from []Member) *children {
	n := len(from)
	if len(m.members) < n {
		m.members = make([]Member, piece(n, m.moreMembers))
	}
	m.moreMembers -= n
	kept := m.members[:n:n]
	m.members = m.members[n:]
	copy(kept, from)
	clear(from)
	kids := m.container()
	kids.members = kept
	return kids
}

// keepBehind moves the top of a stack that is a part of the tree itself, from
// base on, to the end of its memory. It returns what is left of the stack.
func (m *memory) keepBehind(stack []Member, base int) ([]Member, *children) {
	whole := stack[:cap(stack)]
	free := len(whole) - (len(stack) - base)
	kids := m.container()
	kids.members = whole[free:]
	copy(kids.members, stack[base:])
	return whole[:base:free], kids
}

func (m *memory) container() *children {
	if len(m.kids) == 0 {
		m.kids = make([]children, piece(1, m.moreKids))
	}
	m.moreKids--
	c := &m.kids[0]
	m.kids = m.kids[1:]
	return c
}

// keepText returns b as a string. The pieces share a buffer that is only ever
// appended to.
func (m *memory) keepText(b []byte) string {
	if m.texts.Cap()-m.texts.Len() < len(b) {
		grown := min(2*m.texts.Cap(), 16*textPiece)
		m.texts = strings.Builder{}
		m.texts.Grow(max(len(b), grown, textPiece))
	}
	at := m.texts.Len()
	m.texts.Write(b)
	return m.texts.String()[at:]
}
