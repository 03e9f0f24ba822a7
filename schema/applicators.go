package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

func buildRef(b *builder, v canon.Value) error {
	b.keyword = "$ref"
	if v.Kind() != canon.String {
		return b.fail("must be a string")
	}
	at, err := b.c.resolve(v.Text(), b.n.where, b.keyword, b.n.res)
	if err != nil {
		return err
	}
	b.n.ref = b.c.node(at)
	b.n.ref.shared = true
	return nil
}

// buildDynamicRef follows 2020-12 core §8.2.3.2: it behaves like $ref unless
// its first target was made by $dynamicAnchor.
func buildDynamicRef(b *builder, v canon.Value) error {
	if v.Kind() != canon.String {
		return b.fail("must be a string")
	}
	at, err := b.c.resolve(v.Text(), b.n.where, b.keyword, b.n.res)
	if err != nil {
		return err
	}
	target := b.c.node(at)
	target.shared = true
	for name, anchor := range target.res.dynamic {
		if anchor == at && endsWithAnchor(v.Text(), name) {
			b.n.dynamic = &dynamicRef{initial: target, anchor: name}
			b.c.dynamic = append(b.c.dynamic, b.n)
			return nil
		}
	}
	if b.n.ref != nil {
		b.n.allOf = append(b.n.allOf, target) // beside $ref
		return nil
	}
	b.n.ref = target
	return nil
}

func endsWithAnchor(ref, name string) bool {
	cut := len(ref) - len(name) - 1
	return cut >= 0 && ref[cut] == '#' && ref[cut+1:] == name
}

// buildForeign refuses a keyword of another draft that would constrain, and
// that this dialect would pass over in silence.
func buildForeign(b *builder, _ canon.Value) error {
	return b.fail("belongs to another dialect; 2020-12 has $dynamicRef")
}

func buildAllOf(b *builder, v canon.Value) error {
	nodes, err := b.list(v)
	b.n.allOf = append(b.n.allOf, nodes...)
	return err
}

func buildAnyOf(b *builder, v canon.Value) (err error) {
	b.c.choices = true
	b.n.anyOf, err = b.list(v)
	return err
}

func buildOneOf(b *builder, v canon.Value) (err error) {
	b.c.choices = true
	b.n.oneOf, err = b.list(v)
	return err
}

func buildNot(b *builder, v canon.Value) (err error) {
	b.c.choices = true
	b.n.not, err = b.child(v, b.keyword)
	return err
}

// buildIf reads then and else too: alone they mean nothing.
func buildIf(b *builder, v canon.Value) (err error) {
	b.c.choices = true
	b.n.cond = &condition{}
	if b.n.cond.test, err = b.child(v, b.keyword); err != nil {
		return err
	}
	for _, branch := range []struct {
		name string
		to   **node
	}{{"then", &b.n.cond.then}, {"else", &b.n.cond.otherwise}} {
		sub, found := b.v.Get(branch.name)
		if !found {
			continue
		}
		if *branch.to, err = b.child(sub, branch.name); err != nil {
			return err
		}
	}
	return nil
}

// buildSchemaOnly checks a keyword that another one reads.
func buildSchemaOnly(b *builder, v canon.Value) error {
	_, err := b.child(v, b.keyword)
	return err
}

func buildTable(b *builder, v canon.Value) error {
	return b.table(v, func(string, *node) error { return nil })
}

func buildDependentSchemas(b *builder, v canon.Value) error {
	b.c.choices = true
	return b.table(v, func(name string, n *node) error {
		b.n.dependents = append(b.n.dependents, dependent{name: name, node: n})
		return nil
	})
}

// buildDependencies is draft-07's mix of dependentRequired and
// dependentSchemas. Authors still write it in 2020-12; enforcing it there can
// only refuse more.
func buildDependencies(b *builder, v canon.Value) error {
	if v.Kind() != canon.Object {
		return b.fail("must be an object")
	}
	b.c.choices = true
	for i := range v.Len() {
		name, sub := v.Member(i)
		if sub.Kind() == canon.Array {
			names, err := b.strings(sub)
			if err != nil {
				return err
			}
			b.n.dependents = append(b.n.dependents, dependent{name: name, required: names})
			continue
		}
		n, err := b.child(sub, b.keyword, name)
		if err != nil {
			return err
		}
		b.n.dependents = append(b.n.dependents, dependent{name: name, node: n})
	}
	return nil
}

func buildProperties(b *builder, v canon.Value) error {
	o := b.n.object()
	o.declares = true
	return b.table(v, func(name string, n *node) error {
		s, ok := o.slots[name]
		if !ok {
			s.req = -1
		}
		s.prop = len(o.props)
		o.slots[name] = s
		o.props = append(o.props, declared{name, n})
		return nil
	})
}

func buildPatternProperties(b *builder, v canon.Value) error {
	o := b.n.object()
	o.declares = true
	return b.table(v, func(name string, n *node) error {
		re, err := compilePattern(name)
		if err != nil {
			return &CompileError{Pointer: b.n.where.ptr, Keyword: b.keyword, Reason: err.Error(), Err: err}
		}
		o.patterns = append(o.patterns, patternRule{re, n})
		return nil
	})
}

func buildAdditional(b *builder, v canon.Value) (err error) {
	b.n.object().additional, err = b.child(v, b.keyword)
	return err
}

func buildNames(b *builder, v canon.Value) (err error) {
	b.n.object().names, err = b.child(v, b.keyword)
	return err
}

func buildPrefix(b *builder, v canon.Value) (err error) {
	b.n.array().prefix, err = b.list(v)
	return err
}

// buildItems reads additionalItems beside draft-07's array form.
func buildItems(b *builder, v canon.Value) (err error) {
	a := b.n.array()
	if v.Kind() != canon.Array {
		a.items, err = b.child(v, b.keyword)
		return err
	}
	if b.n.res.dialect.draft != draft7 {
		return b.fail("must be a schema; 2020-12 writes the array form as prefixItems")
	}
	if v.Len() > 0 {
		if a.prefix, err = b.list(v); err != nil {
			return err
		}
	}
	if rest, found := b.v.Get("additionalItems"); found {
		a.itemsName = "additionalItems"
		a.items, err = b.child(rest, a.itemsName)
	}
	return err
}

func buildContains(b *builder, v canon.Value) (err error) {
	b.c.choices = true
	a := b.n.array()
	a.marks = b.n.res.dialect.draft == draft2020
	a.contains, err = b.child(v, b.keyword)
	return err
}

func buildUnevaluatedMembers(b *builder, v canon.Value) (err error) {
	b.c.tracks = true
	b.n.unevaluatedMem, err = b.child(v, b.keyword)
	return err
}

func buildUnevaluatedElements(b *builder, v canon.Value) (err error) {
	b.c.tracks = true
	b.n.unevaluatedEl, err = b.child(v, b.keyword)
	return err
}
