package canon

import (
	"slices"
	"unicode/utf8"
)

// Draft is an array or object in the making, after one that is there: a copy in
// which some values differ ([Draft.Begin]), or an object with other members
// ([Draft.Rebuild]). The zero Draft has not begun. If the value that it comes
// from counts as decoded and all that is new is sound as well, so does the
// result: see [Value.Decoded].
type Draft struct {
	kids *children
	from *children
	part uint64 // of the name that was put in last
}

// Begun reports whether the draft has a copy.
func (d *Draft) Begun() bool { return d.kids != nil }

// Begin copies what is in v, an array or object.
func (d *Draft) Begin(v Value) {
	if v.Kind() == Array {
		d.kids = &children{elems: v.Elements()}
	} else {
		d.start(v, v.Len())
		d.kids.members = append(d.kids.members, v.members()...)
	}
	d.kids.kind, d.kids.extent, d.kids.form = v.Kind(), v.kids.extent, v.kids.form
}

// Rebuild begins an object with about n members, after the object v. It gets
// them from [Draft.Take] and [Draft.Put], in the order of their names (RFC 8785
// §3.2.3); otherwise the result does not count as decoded.
func (d *Draft) Rebuild(v Value, n int) {
	d.start(v, n)
	d.kids.kind, d.kids.extent, d.kids.form = Object, v.kids.extent, ordered|bare
}

func (d *Draft) start(v Value, n int) {
	d.from = v.kids
	if d.kids = roomy(n); d.kids == nil {
		d.kids = &children{members: make([]Member, 0, n)}
	}
}

// Ready is a member that is put into many drafts, and was looked at once.
type Ready struct {
	name  string
	value Value
	known extent // of the value
	part  uint64 // of the name
	form  form
	valid bool // the name is UTF-8
}

// MakeReady looks at a name and at the value that mostly goes with it; the
// invalid Value stands for none.
func MakeReady(name string, v Value) Ready {
	r := Ready{name: name, value: v, known: v.known(), part: part(name), valid: utf8.ValidString(name)}
	if r.valid && isBare(name) {
		r.form = bare
	}
	if v.Kind() == String && r.known.trust == exact && isBare(v.text) {
		r.value = bareValue(v.text)
	}
	return r
}

// Take puts in the value of member i of the object that the draft comes from,
// under the name of r.
func (d *Draft) Take(i int, r *Ready) { d.place(r, d.from.members[i].Value) }

// Put puts in the member that r is.
func (d *Draft) Put(r *Ready) {
	d.place(r, r.value)
	d.kids.extend(r.known)
}

// place puts a name behind the others.
func (d *Draft) place(r *Ready, x Value) {
	k, n := d.kids, len(d.kids.members)
	k.form &= r.form | ordered
	if !r.valid || n > 0 && d.part >= r.part && (d.part > r.part || compareNames(k.members[n-1].Name, r.name) >= 0) {
		k.trust = untrusted
	}
	d.part = r.part
	if n == cap(k.members) {
		k.members = slices.Grow(k.members, n+1)
	}
	k.members = k.members[:n+1]
	k.members[n].set(r.name, x)
}

// set writes the parts of m one by one, because a copy of the whole costs more
// while the collector runs.
func (m *Member) set(name string, x Value) { m.Name, m.Value = name, x }

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

// Value ends the draft.
func (d *Draft) Value() Value {
	v := Value{kids: d.kids}
	*d = Draft{}
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
