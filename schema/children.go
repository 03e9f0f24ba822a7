package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// below judges the members or elements of v.
func (r *run) below(n *node, v canon.Value, sc *scope, out *seen) bool {
	switch {
	case v.Kind() == canon.Object && n.obj != nil:
		return r.members(n.obj, v, sc, out)
	case v.Kind() == canon.Array && n.arr != nil:
		return r.elements(n.arr, v, sc, out)
	default:
		return true
	}
}

func (r *run) members(o *objectRules, v canon.Value, sc *scope, out *seen) bool {
	ok := true
	if v.Len() < o.min {
		ok = r.report("minProperties", atLeast(o.min, "member"))
	}
	if o.max >= 0 && v.Len() > o.max {
		ok = r.report("maxProperties", atMost(o.max, "member"))
	}
	var small [64]bool
	have := small[:]
	if len(o.required) > len(small) {
		have = make([]bool, len(o.required))
	}
	for i := range v.Len() {
		if !ok && r.full() {
			return false
		}
		name, member := v.Member(i)
		s, listed := o.slots[name]
		if listed && s.req >= 0 {
			have[s.req] = true
		}
		if !r.spend(1) {
			return false
		}
		ok = r.member(o, s.prop, listed && s.prop >= 0, name, member, i, sc, out) && ok
	}
	for i, name := range o.required {
		if !have[i] && (ok || !r.full()) {
			r.enter(name, -1, false)
			ok = r.report("required", "the member, which is required")
			r.leave()
		}
	}
	return ok
}

// member judges one member against properties, patternProperties and
// additionalProperties, and its name against propertyNames.
func (r *run) member(o *objectRules, prop int, isProp bool, name string, v canon.Value, i int, sc *scope, out *seen) bool {
	ok, matched := true, isProp
	r.enter(name, -1, !isProp && !r.declaresName(o, name))
	defer r.leave()
	if o.names != nil && !r.nameHolds(o.names, name, sc) {
		ok = r.report("propertyNames", "a member name that the schema admits")
	}
	if isProp {
		ok = r.eval(o.props[prop].node, v, sc, nil) && ok
	}
	for j := range o.patterns {
		if p := &o.patterns[j]; p.match(r, name) {
			matched = true
			ok = r.eval(p.node, v, sc, nil) && ok
		}
	}
	if !matched && o.additional != nil {
		matched = true
		if o.additional.truth == never {
			return r.report("additionalProperties", "no member beyond the declared ones")
		}
		ok = r.eval(o.additional, v, sc, nil) && ok
	}
	if matched {
		out.mark(i)
	}
	return ok
}

// nameHolds judges a member name, which is a value at a place of its own.
func (r *run) nameHolds(n *node, name string, sc *scope) bool {
	was := r.place
	if r.s.remembers {
		r.place = r.numberPlace(placeKey{was, asName, name})
	}
	ok := r.holds(n, canon.StringValue(name), sc, nil)
	r.place = was
	return ok
}

// declaresName reports whether a name comes from the schema and may be shown.
func (r *run) declaresName(o *objectRules, name string) bool {
	if _, ok := o.slots[name]; ok {
		return true
	}
	_, ok := r.s.names[name]
	return ok
}

func (r *run) elements(a *arrayRules, v canon.Value, sc *scope, out *seen) bool {
	ok := true
	if v.Len() < a.min {
		ok = r.report("minItems", atLeast(a.min, "element"))
	}
	if a.max >= 0 && v.Len() > a.max {
		ok = r.report("maxItems", atMost(a.max, "element"))
	}
	if a.unique && (ok || !r.full()) && !r.distinct(v) {
		ok = r.report("uniqueItems", "elements that all differ")
	}
	for i := range v.Len() {
		if !ok && r.full() {
			return false
		}
		x := a.items
		if i < len(a.prefix) {
			x = a.prefix[i]
		}
		if x == nil {
			break
		}
		out.mark(i)
		ok = r.element(a, x, v.At(i), i, sc) && ok
	}
	if a.contains != nil && (ok || !r.full()) {
		ok = r.contains(a, v, sc, out) && ok
	}
	return ok
}

func (r *run) element(a *arrayRules, x *node, v canon.Value, i int, sc *scope) bool {
	r.enter("", i, false)
	defer r.leave()
	if x.truth == never && i >= len(a.prefix) {
		return r.report(a.itemsName, "no element beyond the declared ones")
	}
	return r.eval(x, v, sc, nil)
}

func (r *run) contains(a *arrayRules, v canon.Value, sc *scope, out *seen) bool {
	count := 0
	for i := range v.Len() {
		r.enter("", i, false)
		if r.holds(a.contains, v.At(i), sc, nil) {
			count++
			if a.marks {
				out.mark(i)
			}
		}
		r.leave()
	}
	ok := true
	if count < a.minContain {
		ok = r.report("contains", atLeast(a.minContain, "element")+" of the wanted kind")
	}
	if a.maxContain >= 0 && count > a.maxContain {
		ok = r.report("maxContains", atMost(a.maxContain, "element")+" of the wanted kind")
	}
	return ok
}

// distinct reports whether no two elements are equal; linear in their size.
func (r *run) distinct(v canon.Value) bool {
	if v.Len() <= fewValues {
		for i := range v.Len() {
			for j := range i {
				if !r.spend(1+v.At(i).Len()) || canon.Equal(v.At(i), v.At(j)) {
					return false
				}
			}
		}
		return true
	}
	forms := make(map[string]struct{}, v.Len())
	var buf []byte
	for i := range v.Len() {
		buf = v.At(i).AppendTo(buf[:0])
		if _, twice := forms[string(buf)]; twice || !r.spend(1+len(buf)/16) {
			return false
		}
		forms[string(buf)] = struct{}{}
	}
	return true
}

// unevaluated judges what no other subschema of n has evaluated.
func (r *run) unevaluated(n *node, v canon.Value, sc *scope, marks *seen) bool {
	rule, sub := "unevaluatedProperties", n.unevaluatedMem
	if v.Kind() == canon.Array {
		rule, sub = "unevaluatedItems", n.unevaluatedEl
	}
	if sub == nil || v.Kind() != canon.Array && v.Kind() != canon.Object {
		return true
	}
	ok := true
	for i := range v.Len() {
		if marks.has(i) {
			continue
		}
		if !ok && r.full() {
			return false
		}
		ok = r.leftover(rule, sub, v, i, sc) && ok
	}
	marks.markAll()
	return ok
}

func (r *run) leftover(rule string, sub *node, v canon.Value, i int, sc *scope) bool {
	var x canon.Value
	if v.Kind() == canon.Array {
		x = v.At(i)
		r.enter("", i, false)
	} else {
		var name string
		name, x = v.Member(i)
		_, known := r.s.names[name]
		r.enter(name, -1, !known)
	}
	defer r.leave()
	if sub.truth == never {
		return r.report(rule, "nothing beyond what the schema declares")
	}
	return r.eval(sub, x, sc, nil)
}
