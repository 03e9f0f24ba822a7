package schema

import (
	"math/bits"
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// quick is a subschema whose verdict and defaults need one look at the value:
// no branches, no names by pattern, nothing that depends on other subschemas.
// Most tools have no other. What quick accepts, the full walk accepts with
// the same result and the same changes; about everything else quick says
// nothing, and the full walk finds out.
type quick struct {
	types  TypeSet // 0 is any
	kinds  uint8   // bits of the kinds that types admits whatever the value
	enum   []canon.Value
	set    textSet  // of an enum that holds strings only
	any    []*quick // one must accept; of scalars only
	num    *quickNumber
	str    *stringRules
	format func(string) bool
	obj    *quickObject
	arr    *quickArray
}

// textSet holds the strings of an enum; nil is every value.
type textSet map[string]struct{}

func (s textSet) admits(text string) bool {
	if s == nil {
		return true
	}
	_, ok := s[text]
	return ok
}

// quickNumber are bounds. Integers are compared with low and high where whole.
type quickNumber struct {
	whole     bool
	low, high int64
	rules     *numberRules
}

type quickObject struct {
	props     []quickMember
	order     []uint8 // the props by the order of their names in the canonical form
	required  uint64  // bits of the props that must be there
	defaulted uint64  // bits of the props that have a default
	min, max  int     // max < 0 is none
	rest      *quick  // for all members, where there are no props; nil is anything
}

type quickMember struct {
	name    string
	ready   canon.Ready // the name, with the default
	pointer string      // "/name"
	sub     *quick
	def     canon.Value
	joined  []string // of the members of sub, "/name/below" by their index
}

// lead returns the pointer of a change below the member.
func (m *quickMember) lead(pointer string) string {
	if m.joined != nil {
		for i := range m.sub.obj.props {
			if m.sub.obj.props[i].pointer == pointer {
				return m.joined[i]
			}
		}
	}
	return m.pointer + pointer
}

type quickArray struct {
	items    *quick // nil is anything
	min, max int    // max < 0 is none
	unique   bool
}

// maxQuickSteps bounds the work of the quick walk. The full walk spends at
// most ten times as much, which is within its own bound.
const maxQuickSteps = canon.DefaultMaxNodes

// maxProps is how many declared members quick knows by bit.
const maxProps = 64

// quickWalk is one walk over one value.
type quickWalk struct {
	steps   int
	depth   int
	changes []canon.Change // with pointers from the container that is being left
}

// applyQuick tries the quick walk. It says no more than yes.
func (s *Schema) applyQuick(v canon.Value) (canon.Value, []canon.Change, bool) {
	if s.quick == nil || !v.Decoded() {
		return canon.Value{}, nil, false
	}
	var w quickWalk
	out, _, ok := w.value(s.quick, v)
	return out, w.changes, ok
}

// spend reports whether the work is within the bound.
func (w *quickWalk) spend(n int) bool {
	w.steps += n
	return w.steps <= maxQuickSteps
}

// value judges v and returns what it becomes.
func (w *quickWalk) value(q *quick, v canon.Value) (out canon.Value, changed, ok bool) {
	kind := v.Kind()
	switch {
	case !w.spend(1) || kind == canon.Invalid || w.depth >= maxPath:
		return v, false, false
	case q == nil:
		return v, false, w.inside(v, w.depth+1)
	case !w.itself(q, v, kind):
		return v, false, false
	case kind == canon.Object && q.obj != nil:
		return w.object(q.obj, v)
	case kind == canon.Array && q.arr != nil:
		return w.array(q.arr, v)
	default:
		return v, false, w.inside(v, w.depth+1)
	}
}

// below judges a member or an element.
func (w *quickWalk) below(q *quick, v canon.Value) (out canon.Value, changed, ok bool) {
	if kind := v.Kind(); kind < canon.Array {
		return v, false, w.spend(1) && kind != canon.Invalid && (q == nil || w.itself(q, v, kind))
	}
	w.depth++
	out, changed, ok = w.value(q, v)
	w.depth--
	return out, changed, ok
}

// lead puts step in front of the pointers of the changes from index from on.
func (w *quickWalk) lead(from int, step string) bool {
	for i := from; i < len(w.changes); i++ {
		w.changes[i].Pointer = step + w.changes[i].Pointer
	}
	return w.spend(len(w.changes) - from)
}

// inside counts what no subschema judges, for the limits hold there too.
func (w *quickWalk) inside(v canon.Value, depth int) bool {
	n := v.Len()
	if n == 0 {
		return true
	}
	if depth > maxPath || !w.spend(n) {
		return false
	}
	for i := range n {
		var x canon.Value
		if v.Kind() == canon.Array {
			x = v.At(i)
		} else {
			_, x = v.Member(i)
		}
		if !w.inside(x, depth+1) {
			return false
		}
	}
	return true
}

func (w *quickWalk) array(a *quickArray, v canon.Value) (canon.Value, bool, bool) {
	n := v.Len()
	if n < a.min || a.max >= 0 && n > a.max || a.unique && !w.distinct(v) {
		return v, false, false
	}
	var draft canon.Draft
	for i := range n {
		before := len(w.changes)
		x, changed, ok := w.below(a.items, v.At(i))
		if !ok {
			return v, false, false
		}
		if changed {
			if !w.lead(before, canon.JoinIndex("", i)) {
				return v, false, false
			}
			if !draft.Begun() {
				draft.Begin(v)
			}
			draft.Set(i, x)
		}
	}
	if !draft.Begun() {
		return v, false, true
	}
	return draft.Value(), true, true
}

// distinct reports that all elements of a short array differ.
func (w *quickWalk) distinct(v canon.Value) bool {
	if v.Len() > 2*fewValues {
		return false
	}
	for i := range v.Len() {
		x := v.At(i)
		for j := range i {
			if !w.spend(x.Len()) || canon.Equal(x, v.At(j)) {
				return false
			}
		}
	}
	return true
}

func (w *quickWalk) object(o *quickObject, v canon.Value) (canon.Value, bool, bool) {
	if len(o.props) == 0 {
		return w.table(o, v)
	}
	n := v.Len()
	if n > len(o.props) {
		return v, false, false // not all of them are declared
	}
	var props [maxProps]uint8
	have := uint64(0)
	next := 0
	for i := range n {
		name, _ := v.Member(i)
		p := o.find(name, next)
		if p < 0 {
			return v, false, false
		}
		props[i], next = uint8(p), p+1
		have |= 1 << p
	}
	absent := o.defaulted &^ have
	if o.required&^(have|absent) != 0 || !o.admits(n+bits.OnesCount64(absent)) {
		return v, false, false
	}
	w.note(o, absent)
	return w.members(o, v, props[:n], absent)
}

// find returns the index of the prop called name; most come in the order in
// which they are declared.
func (o *quickObject) find(name string, next int) int {
	for p := next; p < len(o.props); p++ {
		if o.props[p].name == name {
			return p
		}
	}
	for p := range min(next, len(o.props)) {
		if o.props[p].name == name {
			return p
		}
	}
	return -1
}

func (o *quickObject) admits(n int) bool { return n >= o.min && (o.max < 0 || n <= o.max) }

// note records the defaults of one object, which come before those below it.
func (w *quickWalk) note(o *quickObject, absent uint64) {
	if absent == 0 {
		return
	}
	n, more := len(w.changes), bits.OnesCount64(absent)
	if w.changes == nil {
		w.changes = make([]canon.Change, 0, max(more, 4))
	} else {
		w.changes = slices.Grow(w.changes, more)
	}
	for ; absent != 0; absent &= absent - 1 {
		w.changes = w.changes[:n+1]
		w.changes[n].Pointer, w.changes[n].Kind = o.props[bits.TrailingZeros64(absent)].pointer, canon.ChangeDefault
		n++
	}
}

// members judges the members and puts the result together. props are the
// indexes of the declared ones in document order.
func (w *quickWalk) members(o *quickObject, v canon.Value, props []uint8, absent uint64) (canon.Value, bool, bool) {
	var draft canon.Draft
	var places [maxProps]uint8
	if absent != 0 {
		o.fill(&draft, v, props, absent, &places)
	}
	for i, p := range props {
		_, x := v.Member(i)
		before := len(w.changes)
		y, changed, ok := w.below(o.props[p].sub, x)
		if !ok {
			return v, false, false
		}
		if changed {
			for j := before; j < len(w.changes); j++ {
				w.changes[j].Pointer = o.props[p].lead(w.changes[j].Pointer)
			}
			if !w.spend(len(w.changes) - before) {
				return v, false, false
			}
			if absent != 0 {
				draft.Set(int(places[p]), y)
				continue
			}
			if !draft.Begun() {
				draft.Begin(v)
			}
			draft.Set(i, y)
		}
	}
	if !draft.Begun() {
		return v, false, true
	}
	return draft.Value(), true, true
}

// fill puts the members of v and the defaults of the absent ones in the order
// of the canonical form, so that nobody needs to sort them. places becomes
// where the props are then.
func (o *quickObject) fill(draft *canon.Draft, v canon.Value, props []uint8, absent uint64, places *[maxProps]uint8) {
	have := uint64(0)
	for i, p := range props {
		places[p&(maxProps-1)] = uint8(i)
		have |= 1 << p
	}
	n := uint8(0)
	draft.Rebuild(v, len(props)+bits.OnesCount64(absent))
	for _, p := range o.order {
		switch i := &places[p&(maxProps-1)]; {
		case have>>p&1 != 0:
			draft.Take(int(*i), &o.props[p].ready)
			*i = n
			n++
		case absent>>p&1 != 0:
			draft.Put(&o.props[p].ready)
			n++
		}
	}
}

// table judges an object that declares no members.
func (w *quickWalk) table(o *quickObject, v canon.Value) (canon.Value, bool, bool) {
	if !o.admits(v.Len()) {
		return v, false, false
	}
	var draft canon.Draft
	for i := range v.Len() {
		name, x := v.Member(i)
		before := len(w.changes)
		y, changed, ok := w.below(o.rest, x)
		if !ok {
			return v, false, false
		}
		if changed {
			if !w.lead(before, canon.JoinPointer("", name)) {
				return v, false, false
			}
			if !draft.Begun() {
				draft.Begin(v)
			}
			draft.Set(i, y)
		}
	}
	if !draft.Begun() {
		return v, false, true
	}
	return draft.Value(), true, true
}
