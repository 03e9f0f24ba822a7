package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// normalizer makes the parsed value: steps 1 to 5 of the contract. It visits
// a place once with all subschemas that always apply there, then again with
// each branch that turns out to hold.
type normalizer struct {
	r          *run
	changes    []canon.Change
	coerce     bool
	everywhere bool            // the options can change any value
	failed     bool            // a transform refused; ends a trial
	trial      bool            // violations are not listed
	done       map[string]bool // pointers whose transforms have run
	supplied   map[string]bool // pointers of members that are fills or defaults
	sets       []*node         // stack of node sets, so that walking does not allocate
}

// value normalizes v under all nodes of set.
func (z *normalizer) value(v canon.Value, set []*node, m *mark, f *mark) canon.Value {
	if m == nil && f == nil && !z.acts(v, set) {
		return v
	}
	if !z.r.spend(1+len(set)) || len(z.r.path) > maxPath {
		z.r.spent = true
		return v
	}
	base := len(z.sets)
	set = z.expand(set)
	v = z.coerced(v, set)
	v = z.transformed(v, m)
	switch v.Kind() {
	case canon.Object:
		v = z.object(v, set, m, f)
	case canon.Array:
		v = z.array(v, set, m, f)
	}
	if z.r.s.branches {
		for _, n := range set {
			v = z.branches(n, v, m, f)
		}
	}
	z.sets = z.sets[:base]
	return v
}

// acts reports whether a value without transforms and fills can change under
// set at all.
func (z *normalizer) acts(v canon.Value, set []*node) bool {
	if z.everywhere {
		return len(set) > 0
	}
	if v.Kind() != canon.Object && v.Kind() != canon.Array {
		return false
	}
	for _, n := range set {
		if n.fills {
			return true
		}
	}
	return false
}

// actsBelow is acts for the members or elements of a value.
func (z *normalizer) actsBelow(set []*node) bool {
	if z.everywhere {
		return true
	}
	for _, n := range set {
		if n.deep {
			return true
		}
	}
	return false
}

// expand adds what always applies with the nodes of set.
func (z *normalizer) expand(set []*node) []*node {
	if len(set) == 1 {
		return set[0].flat
	}
	base := len(z.sets)
	for _, n := range set {
		for _, x := range n.flat {
			z.r.spend(1 + (len(z.sets)-base)/16)
			if !holdsNode(z.sets[base:], x) {
				z.sets = append(z.sets, x)
			}
		}
	}
	return z.sets[base:len(z.sets):len(z.sets)]
}

func holdsNode(list []*node, n *node) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}

// memberNodes returns the subschemas of set that apply to the member name.
func (z *normalizer) memberNodes(set []*node, name string) []*node {
	base := len(z.sets)
	for _, n := range set {
		if n.obj == nil {
			continue
		}
		matched := false
		if s, ok := n.obj.slots[name]; ok && s.prop >= 0 {
			matched = true
			z.sets = append(z.sets, n.obj.props[s.prop].node)
		}
		for i := range n.obj.patterns {
			if p := &n.obj.patterns[i]; p.match(z.r, name) {
				matched = true
				z.sets = append(z.sets, p.node)
			}
		}
		if !matched && n.obj.additional != nil {
			z.sets = append(z.sets, n.obj.additional)
		}
	}
	return z.sets[base:len(z.sets):len(z.sets)]
}

func (z *normalizer) object(v canon.Value, set []*node, m *mark, f *mark) canon.Value {
	e := objectEdit{v: v}
	if z.r.s.opt.NullMeansAbsent {
		z.dropNulls(&e, set)
	}
	fresh := e.len()
	z.fill(&e, f)
	z.defaults(&e, set)
	if m == nil && f == nil && !z.actsBelow(set) {
		return e.value()
	}
	for i := range e.len() {
		name, x := e.at(i)
		base := len(z.sets)
		kids := z.memberNodes(set, name)
		below := m.child(name)
		if below != nil && z.isSupplied(name, i >= fresh) {
			below = nil
		}
		before := len(z.changes)
		z.r.enter(name, -1, false)
		x = z.value(x, kids, below, f.child(name))
		z.r.leave()
		z.sets = z.sets[:base]
		if len(z.changes) > before {
			e.set(i, x)
		}
	}
	return e.value()
}

// isSupplied reports whether the session or a default has given the member
// name: transforms come before those, and must leave it alone in every visit.
func (z *normalizer) isSupplied(name string, now bool) bool {
	pointer := canon.JoinPointer(z.r.pointer(), name)
	if now {
		if z.supplied == nil {
			z.supplied = map[string]bool{}
		}
		z.supplied[pointer] = true
	}
	return z.supplied[pointer]
}

func (z *normalizer) array(v canon.Value, set []*node, m *mark, f *mark) canon.Value {
	if m == nil && f == nil && !z.actsBelow(set) {
		return v
	}
	var elems []canon.Value
	for i := range v.Len() {
		base := len(z.sets)
		for _, n := range set {
			if n.arr != nil {
				z.sets = n.elementNodes(z.sets, i)
			}
		}
		kids := z.sets[base:len(z.sets):len(z.sets)]
		before := len(z.changes)
		z.r.enter("", i, false)
		x := z.value(v.At(i), kids, m.index(i), f.index(i))
		z.r.leave()
		z.sets = z.sets[:base]
		if len(z.changes) == before {
			continue
		}
		if elems == nil {
			elems = v.Elements()
		}
		elems[i] = x
	}
	if elems == nil {
		return v
	}
	return canon.ArrayValue(elems...)
}

// dropNulls removes optional members that are null where null is not allowed.
func (z *normalizer) dropNulls(e *objectEdit, set []*node) {
	defer e.compact()
	for i := range e.len() {
		name, x := e.at(i)
		if !x.IsNull() || requires(set, name) {
			continue
		}
		base := len(z.sets)
		kids := z.memberNodes(set, name)
		allowed := true
		for _, n := range kids {
			z.r.forget()
			allowed = allowed && z.r.holds(n, x, nil, nil)
		}
		z.sets = z.sets[:base]
		if !allowed {
			e.remove(i)
			z.note(name, canon.ChangeNullDropped, "")
		}
	}
}

func requires(set []*node, name string) bool {
	for _, n := range set {
		if n.obj == nil {
			continue
		}
		if s, ok := n.obj.slots[name]; ok && s.req >= 0 {
			return true
		}
	}
	return false
}

// fill adds the values of the session for absent members.
func (z *normalizer) fill(e *objectEdit, f *mark) {
	if f == nil {
		return
	}
	for _, name := range f.names {
		if x := f.children[name].fill; x.Kind() != canon.Invalid && !e.has(name) {
			e.add(name, x)
			z.note(name, canon.ChangeFilled, "")
		}
	}
}

// defaults adds the defaults of absent members, in schema order.
func (z *normalizer) defaults(e *objectEdit, set []*node) {
	for _, n := range set {
		if n.obj == nil {
			continue
		}
		for _, i := range n.obj.defaulted {
			p := &n.obj.props[i]
			if !z.r.spend(1) || e.has(p.name) {
				continue
			}
			x, _ := p.node.defaultValue()
			e.add(p.name, x)
			z.note(p.name, canon.ChangeDefault, "")
		}
	}
}

// defaultValue returns the default that an absent value of n gets: its own,
// else the first one behind $ref and allOf.
func (n *node) defaultValue() (canon.Value, bool) {
	for _, x := range n.flat {
		if x.hasDefault {
			return x.def, true
		}
	}
	return canon.Value{}, false
}

// note records a change of the member called name of the present place.
func (z *normalizer) note(name string, kind canon.ChangeKind, by string) {
	z.changes = append(z.changes, canon.Change{Pointer: canon.JoinPointer(z.r.pointer(), name), Kind: kind, By: by})
}

// noteHere records a change of the present place.
func (z *normalizer) noteHere(kind canon.ChangeKind, by string) {
	z.changes = append(z.changes, canon.Change{Pointer: z.r.pointer(), Kind: kind, By: by})
}
