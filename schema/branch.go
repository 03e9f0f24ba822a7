package schema

import (
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// inPlace judges v against the subschemas of n that apply to v itself.
func (r *run) inPlace(n *node, v canon.Value, sc *scope, out *seen) bool {
	ok := true
	if n.ref != nil {
		ok = r.eval(n.ref, v, sc, out) && ok
	}
	if n.dynamic != nil && (ok || !r.quiet) {
		ok = r.eval(n.dynamic.target(sc), v, sc, out) && ok
	}
	for _, x := range n.allOf {
		if !ok && r.full() {
			return false
		}
		ok = r.eval(x, v, sc, out) && ok
	}
	if len(n.anyOf) > 0 && (ok || !r.full()) {
		ok = r.any(n, v, sc, out) && ok
	}
	if len(n.oneOf) > 0 && (ok || !r.full()) {
		ok = r.one(n, v, sc, out) && ok
	}
	if n.not != nil && (ok || !r.full()) && r.holds(n.not, v, sc, nil) {
		ok = r.report("not", "a value that the schema under not refuses")
	}
	if n.cond != nil && (ok || !r.full()) {
		ok = r.conditional(n.cond, v, sc, out) && ok
	}
	if len(n.dependents) > 0 && v.Kind() == canon.Object && (ok || !r.full()) {
		ok = r.dependent(n, v, sc, out) && ok
	}
	return ok
}

func (d *dynamicRef) target(sc *scope) *node {
	found := d.initial
	for ; sc != nil; sc = sc.outer {
		if n, ok := sc.res.dynNodes[d.anchor]; ok {
			found = n
		}
	}
	return found
}

func (r *run) any(n *node, v canon.Value, sc *scope, out *seen) bool {
	ok := false
	for _, x := range n.anyOf {
		if r.holds(x, v, sc, out) {
			ok = true
			if out == nil {
				break
			}
		}
	}
	return ok || r.alternatives(n.anyOf, v, sc, "anyOf", "at least one")
}

func (r *run) one(n *node, v canon.Value, sc *scope, out *seen) bool {
	count := 0
	for _, x := range n.oneOf {
		if r.holds(x, v, sc, out) {
			count++
		}
		if count > 1 {
			return r.report("oneOf", "exactly one of "+strconv.Itoa(len(n.oneOf))+" alternatives; the value fits several")
		}
	}
	return count == 1 || r.alternatives(n.oneOf, v, sc, "oneOf", "exactly one")
}

// alternatives reports that no branch holds. Where only one branch is about
// values of this kind, its own violations say more.
func (r *run) alternatives(list []*node, v canon.Value, sc *scope, rule, how string) bool {
	if r.quiet {
		return false
	}
	var close *node
	near := 0
	for _, x := range list {
		if x.wants.has(v) && r.constantsFit(x, v) {
			close = x
			near++
		}
	}
	before := len(r.found)
	if near == 1 && !r.eval(close, v, sc, nil) && len(r.found) > before {
		return false
	}
	if types := union(list); near == 0 && types != TypeAny && types != 0 && !types.has(v) {
		return r.report("type", types.String())
	}
	if near == 0 && r.wrongTag(list, v) {
		return false
	}
	return r.report(rule, how+" of "+plural(len(list), "alternative"))
}

// wrongTag reports the member that tells the branches of a tagged union
// apart, if there is one and v holds a value there that no branch has.
func (r *run) wrongTag(list []*node, v canon.Value) bool {
	for i := range v.Len() {
		if v.Kind() != canon.Object {
			return false
		}
		name, got := v.Member(i)
		tags := &node{}
		if !r.spend(1 + len(list)) {
			return false
		}
		for _, x := range list {
			if tag, ok := x.tag(name); ok {
				tags.enum = append(tags.enum, tag)
			}
		}
		if len(tags.enum) == len(list) && !contains(tags.enum, got) {
			r.enter(name, -1, false)
			r.report("enum", enumText(tags))
			r.leave()
			return true
		}
	}
	return false
}

// tag returns the value that n fixes with const for the member name.
func (n *node) tag(name string) (canon.Value, bool) {
	for _, x := range n.flat {
		if x.obj == nil {
			continue
		}
		if s, ok := x.obj.slots[name]; ok && s.prop >= 0 && x.obj.props[s.prop].node.fixed() {
			return x.obj.props[s.prop].node.enum[0], true
		}
	}
	return canon.Value{}, false
}

func union(list []*node) (t TypeSet) {
	for _, x := range list {
		t |= x.wants
	}
	return t
}

// constantsFit reports whether the members of v that a branch fixes with
// const have those values: the discriminator of a tagged union.
func (r *run) constantsFit(n *node, v canon.Value) bool {
	for _, x := range n.flat {
		if x.obj == nil || v.Kind() != canon.Object {
			continue
		}
		for i := range x.obj.props {
			p := &x.obj.props[i]
			if !p.node.fixed() || !r.spend(1+v.Len()/8) {
				continue
			}
			if got, found := v.Get(p.name); found && !canon.Equal(got, p.node.enum[0]) {
				return false
			}
		}
	}
	return true
}

func (r *run) conditional(c *condition, v canon.Value, sc *scope, out *seen) bool {
	branch := c.otherwise
	if r.holds(c.test, v, sc, out) {
		branch = c.then
	}
	return branch == nil || r.eval(branch, v, sc, out)
}

func (r *run) dependent(n *node, v canon.Value, sc *scope, out *seen) bool {
	ok := true
	for i := range n.dependents {
		d := &n.dependents[i]
		if _, present := v.Get(d.name); !present || !r.spend((1+v.Len()/8)*(1+len(d.required))) {
			continue
		}
		for _, name := range d.required {
			if _, present := v.Get(name); !present {
				r.enter(name, -1, false)
				ok = r.report("dependentRequired", "the member, because "+clip(d.name)+" is there")
				r.leave()
			}
		}
		if d.node != nil && (ok || !r.full()) {
			ok = r.eval(d.node, v, sc, out) && ok
		}
	}
	return ok
}

// fixed reports whether const names the one value that n admits.
func (n *node) fixed() bool { return n.isConst && len(n.enum) == 1 }
