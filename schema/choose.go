package schema

import (
	"maps"

	"github.com/seed-de4804fb/verbatim/canon"
)

// branches normalizes v under the branches of n that apply to it.
func (z *normalizer) branches(n *node, v canon.Value, m *mark, f *mark) canon.Value {
	if len(n.oneOf) > 0 {
		v = z.oneBranch(n, v, m, f)
	}
	if n.cond != nil {
		z.r.forget()
		branch := n.cond.otherwise
		if z.r.holds(n.cond.test, v, nil, nil) {
			branch = n.cond.then
		}
		if branch != nil {
			v = z.value(v, branch.flat[:1], m, f)
		}
	}
	for i := range n.dependents {
		d := &n.dependents[i]
		if d.node == nil {
			continue
		}
		if _, present := v.Get(d.name); present {
			v = z.value(v, d.node.flat[:1], m, f)
		}
	}
	return v
}

// oneBranch finds the branch of oneOf that holds. A branch that v fits as it
// is wins; else one that v fits once it has been normalized under it, first
// without coercion. Two that fit are no choice: validation refuses the value.
func (z *normalizer) oneBranch(n *node, v canon.Value, m *mark, f *mark) canon.Value {
	var hit *node
	count := 0
	z.r.forget()
	for _, x := range n.oneOf {
		if z.r.holds(x, v, nil, nil) {
			hit = x
			count++
		}
	}
	if count == 1 {
		return z.value(v, hit.flat[:1], m, f)
	}
	if count > 1 {
		return v
	}
	if w, ok := z.oneTrial(n, v, m, f, false); ok || !z.coerce {
		return w
	}
	w, _ := z.oneTrial(n, v, m, f, true)
	return w
}

// oneTrial normalizes v under each branch on its own. It returns the result
// of the only one that then holds. ok is false if none does.
func (z *normalizer) oneTrial(n *node, v canon.Value, m *mark, f *mark, coerce bool) (_ canon.Value, ok bool) {
	var won normalizer
	var result canon.Value
	count := 0
	for _, x := range n.oneOf {
		if !z.r.constantsFit(x, v) {
			continue
		}
		t := *z
		t.coerce, t.trial, t.failed, t.changes = coerce, true, false, nil
		t.done, t.supplied = maps.Clone(z.done), maps.Clone(z.supplied)
		w := t.value(v, x.flat[:1], m, f)
		z.r.forget()
		if !t.failed && z.r.holds(x, w, nil, nil) {
			won, result = t, w
			count++
		}
	}
	if count != 1 {
		return v, count > 1
	}
	z.changes = append(z.changes, won.changes...)
	z.done, z.supplied = won.done, won.supplied
	return result, true
}
