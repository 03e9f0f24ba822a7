package canon

// Difference returns the pointer of the first place where b differs from a:
// in the member order of b, then members that only a has. same is true where
// there is none.
func Difference(a, b Value) (pointer string, same bool) {
	path, same := difference(a, b)
	for i := len(path) - 1; i >= 0; i-- {
		pointer += path[i].join()
	}
	return pointer, same
}

// difference returns the path to the first difference, innermost first.
func difference(a, b Value) ([]token, bool) {
	switch {
	case a.Kind() != b.Kind() || a.text != b.text:
		return nil, false
	case a.Kind() == Object:
		return memberDifference(a.members(), b.members())
	default:
		return elementDifference(a.elems(), b.elems())
	}
}

func memberDifference(a, b []Member) ([]token, bool) {
	index := make(map[string]int, len(a))
	for i := range a {
		index[a[i].Name] = i
	}
	for _, m := range b {
		here := token{name: m.Name, index: -1}
		i, found := index[m.Name]
		if !found {
			return []token{here}, false
		}
		if path, same := difference(a[i].Value, m.Value); !same {
			return append(path, here), false
		}
		delete(index, m.Name)
	}
	for _, m := range a {
		if _, left := index[m.Name]; left {
			return []token{{name: m.Name, index: -1}}, false
		}
	}
	return nil, true
}

func elementDifference(a, b []Value) ([]token, bool) {
	for i := range min(len(a), len(b)) {
		if path, same := difference(a[i], b[i]); !same {
			return append(path, token{index: i}), false
		}
	}
	if len(a) != len(b) {
		return []token{{index: min(len(a), len(b))}}, false
	}
	return nil, true
}
