package schema

import (
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// unknowns is step 5: it strips or refuses members that no subschema in force
// declares. v is the value of one walk and does not change under it.
type unknowns struct {
	r       *run
	mode    UnknownMode
	changes []canon.Change
	refused bool
	sets    []*node
}

// value walks v with the subschemas that apply to it.
func (u *unknowns) value(v canon.Value, set []*node) canon.Value {
	if len(set) == 0 || v.Len() == 0 || v.Kind() != canon.Object && v.Kind() != canon.Array {
		return v
	}
	if !u.r.spend(1 + len(set)) {
		return v
	}
	base := len(u.sets)
	set = u.inForce(set, v)
	if v.Kind() == canon.Object {
		v = u.object(v, set)
	} else {
		v = u.array(v, set)
	}
	u.sets = u.sets[:base]
	return v
}

// inForce adds to set what also judges v: references, allOf, and the branches
// that hold. Where no branch holds v is refused anyway; then all of them
// count as declaring, so that the refusal gives the real reason.
func (u *unknowns) inForce(set []*node, v canon.Value) []*node {
	if len(set) == 1 && !u.r.s.alternates {
		return set[0].flat
	}
	base := len(u.sets)
	add := func(list ...*node) {
		for _, x := range list {
			u.r.spend((len(u.sets) - base) / 16)
			if x != nil && !holdsNode(u.sets[base:], x) {
				u.sets = append(u.sets, x)
			}
		}
	}
	add(set...)
	for i := base; i < len(u.sets); i++ {
		n := u.sets[i]
		add(n.ref)
		add(n.allOf...)
		add(u.holding(n.anyOf, v)...)
		add(u.holding(n.oneOf, v)...)
		if n.cond != nil {
			if u.r.holds(n.cond.test, v, nil, nil) {
				add(n.cond.test, n.cond.then)
			} else {
				add(n.cond.otherwise)
			}
		}
		for j := range n.dependents {
			if _, present := v.Get(n.dependents[j].name); present {
				add(n.dependents[j].node)
			}
		}
	}
	return u.sets[base:len(u.sets):len(u.sets)]
}

func (u *unknowns) holding(list []*node, v canon.Value) []*node {
	var out []*node
	for _, x := range list {
		if u.r.holds(x, v, nil, nil) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

func (u *unknowns) object(v canon.Value, set []*node) canon.Value {
	e := objectEdit{v: v}
	policy := u.policy(set)
	for i := range e.len() {
		name, x := e.at(i)
		base := len(u.sets)
		found := u.find(set, name)
		switch {
		case !found.literal && policy.declares && isTwin(set, name):
			u.refuse(canon.RuleCaseTwin, "the declared spelling of the name")
		case found.declared || !policy.applies || policy.keeps:
			before := len(u.changes)
			u.r.enter(name, -1, !found.literal)
			y := u.value(x, u.sets[base:len(u.sets):len(u.sets)])
			u.r.leave()
			if len(u.changes) > before {
				e.set(i, y)
			}
		case policy.strips:
			e.remove(i)
			u.changes = append(u.changes, canon.Change{
				Pointer: canon.JoinPointer(u.r.pointer(), name), Kind: canon.ChangeStripped,
			})
		default:
			u.refuse(RuleUnknown, "declared members only")
		}
		u.sets = u.sets[:base]
	}
	return e.value()
}

func (u *unknowns) refuse(rule, expected string) {
	u.refused = true
	u.r.enter("", -1, true)
	u.r.report(rule, expected)
	u.r.leave()
}

func (u *unknowns) array(v canon.Value, set []*node) canon.Value {
	var elems []canon.Value
	for i := range v.Len() {
		base := len(u.sets)
		for _, n := range set {
			u.sets = n.elementNodes(u.sets, i)
		}
		before := len(u.changes)
		u.r.enter("", i, false)
		x := u.value(v.At(i), u.sets[base:len(u.sets):len(u.sets)])
		u.r.leave()
		u.sets = u.sets[:base]
		if len(u.changes) == before {
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

// memberPolicy says what happens to undeclared members of one object.
type memberPolicy struct {
	declares bool // some subschema lists members
	applies  bool // undeclared members are not simply data
	keeps    bool
	strips   bool
}

// policy joins what the subschemas of one object say (semantics §2 step 5).
func (u *unknowns) policy(set []*node) memberPolicy {
	p := memberPolicy{keeps: u.mode == UnknownKeep, strips: u.mode == UnknownStrip}
	for _, n := range set {
		for _, rest := range n.leftovers() {
			p.applies = p.applies || rest != nil && rest.truth == never
			p.keeps = p.keeps || u.mode == "" && rest != nil && rest.truth == anything
		}
		if n.obj != nil {
			p.declares = p.declares || len(n.obj.slots) > 0
			p.applies = p.applies || n.obj.declares
		}
	}
	return p
}

// leftovers are the subschemas for members that n does not name: what
// additionalProperties and unevaluatedProperties hold, or nil.
func (n *node) leftovers() [2]*node {
	if n.obj == nil {
		return [2]*node{nil, n.unevaluatedMem}
	}
	return [2]*node{n.obj.additional, n.unevaluatedMem}
}

type lookup struct {
	literal  bool // the name stands in properties or required
	declared bool // that, or a pattern or a schema for further members covers it
}

// find pushes the subschemas of the member name on the stack.
func (u *unknowns) find(set []*node, name string) lookup {
	var l lookup
	for _, n := range set {
		matched := false
		if n.obj != nil {
			if s, ok := n.obj.slots[name]; ok {
				l.literal, l.declared = true, true
				if s.prop >= 0 {
					matched = true
					u.sets = append(u.sets, n.obj.props[s.prop].node)
				}
			}
			for i := range n.obj.patterns {
				if p := &n.obj.patterns[i]; p.match(u.r, name) {
					matched, l.declared = true, true
					u.sets = append(u.sets, p.node)
				}
			}
		}
		if matched {
			continue
		}
		for _, rest := range n.leftovers() {
			if rest != nil && rest.truth == rules {
				l.declared = true
				u.sets = append(u.sets, rest)
			}
		}
	}
	return l
}

// elementNodes appends the subschemas of n for element i.
func (n *node) elementNodes(to []*node, i int) []*node {
	switch {
	case n.arr != nil && i < len(n.arr.prefix):
		return append(to, n.arr.prefix[i])
	case n.arr != nil && n.arr.items != nil:
		return append(to, n.arr.items)
	case n.unevaluatedEl != nil && n.unevaluatedEl.truth == rules:
		return append(to, n.unevaluatedEl)
	}
	return to
}

// isTwin reports whether name is a declared name in another case.
func isTwin(set []*node, name string) bool {
	key := ""
	for _, n := range set {
		if n.obj == nil || len(n.obj.folded) == 0 {
			continue
		}
		if key == "" {
			key = fold(name)
		}
		if _, ok := n.obj.folded[key]; ok {
			return true
		}
	}
	return false
}

// fold returns the text that names equal under simple case folding share.
func fold(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		low := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			low = min(low, next)
		}
		out = utf8.AppendRune(out, low)
	}
	return string(out)
}
