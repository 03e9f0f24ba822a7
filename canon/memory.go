package canon

// memory hands out the slices that a tree is made of, cut from larger pieces.
// A piece is never larger than what is already in use, so that memory stays
// linear in the input.
type memory struct {
	elems   []Value
	members []Member
	kids    []children
	used    int // values and members handed out
}

const (
	firstPiece = 8
	lastPiece  = 256
	firstKids  = 4 // one container for so many values and members
)

// piece returns how many entries the next piece has, at least n.
func (m *memory) piece(n int) int {
	return max(n, min(max(m.used/2, firstPiece), lastPiece))
}

func (m *memory) children() *children {
	if len(m.kids) == 0 {
		m.kids = make([]children, m.piece(1)/firstKids)
	}
	c := &m.kids[0]
	m.kids = m.kids[1:]
	return c
}

func (m *memory) keepElems(from []Value) []Value {
	n := len(from)
	if len(m.elems) < n {
		m.elems = make([]Value, m.piece(n))
	}
	m.used += n
	kept := m.elems[:n:n]
	m.elems = m.elems[n:]
	copy(kept, from)
	return kept
}

func (m *memory) keepMembers(from []Member) []Member {
	n := len(from)
	if len(m.members) < n {
		m.members = make([]Member, m.piece(n))
	}
	m.used += n
	kept := m.members[:n:n]
	m.members = m.members[n:]
	copy(kept, from)
	return kept
}
