package canon

import "unicode/utf8"

// Draft is a copy of an array or object in the making: some values differ, and
// an object has members more. The zero Draft has not begun. If v counts as
// decoded and all that is new is sound as well, so does the result: see
// [Value.Decoded].
type Draft struct {
	kids *children
}

// Begun reports whether the draft has a copy.
func (d *Draft) Begun() bool { return d.kids != nil }

// Begin copies what is in v, an array or object, with room for more members.
func (d *Draft) Begin(v Value, more int) {
	members := v.members()
	if d.kids = roomy(len(members) + more); d.kids == nil {
		d.kids = &children{members: make([]Member, 0, len(members)+more)}
	}
	d.kids.members = append(d.kids.members, members...)
	if v.Kind() == Array {
		d.kids.elems = v.Elements()
	}
	d.kids.kind, d.kids.extent = v.Kind(), v.kids.extent
}

// A container with a few members is one allocation.
type (
	draft3 struct {
		children
		few [3]Member
	}
	draft6 struct {
		children
		few [6]Member
	}
	draft11 struct {
		children
		few [11]Member
	}
	draft16 struct {
		children
		few [16]Member
	}
)

// roomy returns children with room for n members; nil if n is none or many.
func roomy(n int) *children {
	switch {
	case n == 0 || n > 16:
		return nil
	case n <= 3:
		d := new(draft3)
		d.members = d.few[:0]
		return &d.children
	case n <= 6:
		d := new(draft6)
		d.members = d.few[:0]
		return &d.children
	case n <= 11:
		d := new(draft11)
		d.members = d.few[:0]
		return &d.children
	default:
		d := new(draft16)
		d.members = d.few[:0]
		return &d.children
	}
}

// Set replaces the value of member or element i.
func (d *Draft) Set(i int, x Value) {
	if d.kids.kind == Array {
		d.kids.elems[i] = x
	} else {
		d.kids.members[i].Value = x
	}
	d.kids.extend(x.known())
}

// Add puts a member behind those of an object.
func (d *Draft) Add(name string, x Value) {
	k := d.kids
	if k.trust > untrusted && (!utf8.ValidString(name) || hasName(k.members, name)) {
		k.trust = untrusted
	}
	k.members = append(k.members, Member{name, x})
	k.extend(x.known())
}

// hasName looks at the last letters first: names of one length often differ
// there.
func hasName(members []Member, name string) bool {
	for i := range members {
		other := members[i].Name
		if len(other) == len(name) && (name == "" || other[len(name)-1] == name[len(name)-1] && other == name) {
			return true
		}
	}
	return false
}

// Value ends the draft.
func (d *Draft) Value() Value {
	v := Value{kids: d.kids}
	d.kids = nil
	return v
}

// extend counts a new value. What it takes the place of stays counted: too much
// only means another walk.
func (e *extent) extend(x extent) {
	e.trust = min(e.trust, x.trust)
	e.nodes += x.nodes
	e.height = max(e.height, x.height+1)
	if e.nodes > CeilingNodes || e.height > CeilingDepth {
		e.trust = untrusted
	}
}

// known is the extent of v, of scalars too.
func (v *Value) known() extent {
	switch v.Kind() {
	case Invalid:
		return extent{}
	case String:
		e := v.kids.extent
		if e.trust == exact || utf8.ValidString(v.text) {
			e.trust = exact
		}
		return e
	case Number: // this package has written its text
		e := v.kids.extent
		if sureInteger(v.text) {
			e.trust = exact
		} else if _, rule := canonicalNumber(v.text, true); rule == "" {
			e.trust = exact
		}
		return e
	default:
		return v.kids.extent
	}
}
