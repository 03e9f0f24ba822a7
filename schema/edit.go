package schema

import "github.com/seed-de4804fb/verbatim/canon"

// objectEdit is an object under change. It copies the members at the first
// change only.
type objectEdit struct {
	v       canon.Value
	members []canon.Member
	copied  bool
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

func (e *objectEdit) has(name string) bool {
	for i := range e.len() {
		if got, _ := e.at(i); got == name {
			return true
		}
	}
	return false
}

func (e *objectEdit) own() {
	if !e.copied {
		e.members, e.copied = e.v.Members(), true
	}
}

func (e *objectEdit) add(name string, x canon.Value) {
	e.own()
	e.members = append(e.members, canon.Member{Name: name, Value: x})
}

func (e *objectEdit) remove(i int) {
	e.own()
	e.members = append(e.members[:i], e.members[i+1:]...)
}

func (e *objectEdit) set(i int, x canon.Value) {
	e.own()
	e.members[i].Value = x
}

func (e *objectEdit) value() canon.Value {
	if !e.copied {
		return e.v
	}
	return canon.ObjectValue(e.members...)
}
