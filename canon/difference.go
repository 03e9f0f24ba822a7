package canon

// Difference returns the pointer of the first place where b differs from a:
// in the member order of b, then members that only a has. same is true where
// there is none.
func Difference(a, b Value) (pointer string, same bool) { return difference("", a, b) }

func difference(at string, a, b Value) (string, bool) {
	if Equal(a, b) {
		return "", true
	}
	if a.kind != b.kind {
		return at, false
	}
	switch a.kind {
	case Object:
		return memberDifference(at, a, b)
	case Array:
		return elementDifference(at, a, b)
	default:
		return at, false
	}
}

func memberDifference(at string, a, b Value) (string, bool) {
	for _, m := range b.members {
		old, found := a.Get(m.Name)
		if !found {
			return JoinPointer(at, m.Name), false
		}
		if p, same := difference(JoinPointer(at, m.Name), old, m.Value); !same {
			return p, false
		}
	}
	for _, m := range a.members {
		if _, found := b.Get(m.Name); !found {
			return JoinPointer(at, m.Name), false
		}
	}
	return at, false
}

func elementDifference(at string, a, b Value) (string, bool) {
	for i := range b.elems {
		if i >= len(a.elems) {
			return JoinIndex(at, i), false
		}
		if p, same := difference(JoinIndex(at, i), a.elems[i], b.elems[i]); !same {
			return p, false
		}
	}
	return JoinIndex(at, len(b.elems)), false
}
