package schema

import (
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// objectEdit is an object under change. It copies the members at the first
// change only, and every operation takes constant time over all calls.
type objectEdit struct {
	v       canon.Value
	members []canon.Member
	copied  bool
	added   bool
	gone    []bool              // members that are to go; nil if none
	names   map[string]struct{} // of large objects, once somebody asks
}

func (e *objectEdit) len() int {
	if e.copied {
		return len(e.members)
	}
	return e.v.Len()
}

func (e *objectEdit) at(i int) (string, canon.Value) {
	if e.copied {
		return e.members[i].Name, e.members[i].Value
	}
	return e.v.Member(i)
}

// has reports whether there is a member called name. It must not be called
// between remove and compact.
func (e *objectEdit) has(name string) bool {
	if e.len() > 2*fewValues {
		return e.inIndex(name)
	}
	for i := range e.len() {
		if got, _ := e.at(i); got == name {
			return true
		}
	}
	return false
}

func (e *objectEdit) inIndex(name string) bool {
	if e.names == nil {
		e.names = make(map[string]struct{}, e.len())
		for i := range e.len() {
			got, _ := e.at(i)
			e.names[got] = struct{}{}
		}
	}
	_, ok := e.names[name]
	return ok
}

func (e *objectEdit) own() {
	if !e.copied {
		e.members, e.copied = e.v.Members(), true
	}
}

func (e *objectEdit) add(name string, x canon.Value) {
	e.own()
	e.added = true
	e.members = append(e.members, canon.Member{Name: name, Value: x})
	if e.names != nil {
		e.names[name] = struct{}{}
	}
}

func (e *objectEdit) set(i int, x canon.Value) {
	e.own()
	e.members[i].Value = x
}

// remove marks member i to go; indexes stay as they are until compact.
func (e *objectEdit) remove(i int) {
	if e.gone == nil {
		e.gone = make([]bool, e.len())
	}
	e.gone[i] = true
}

// compact takes out what was removed.
func (e *objectEdit) compact() {
	if e.gone == nil {
		return
	}
	e.own()
	kept := e.members[:0]
	for i, m := range e.members {
		if !e.gone[i] {
			kept = append(kept, m)
		}
	}
	e.members, e.gone, e.names = kept, nil, nil
}

// value ends the edit. An object with new members has all of them in the order
// of the canonical form, in which it is written next.
func (e *objectEdit) value() canon.Value {
	e.compact()
	switch {
	case !e.copied:
		return e.v
	case e.added:
		slices.SortStableFunc(e.members, func(a, b canon.Member) int { return canon.CompareNames(a.Name, b.Name) })
	}
	return canon.ObjectValue(e.members...)
}
