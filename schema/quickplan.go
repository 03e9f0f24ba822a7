package schema

import (
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// planner builds the quick form of a schema, if it has one.
type planner struct {
	known map[*node]*quick
	fails bool
}

// planQuick returns the quick form of the schema; nil if some subschema needs
// the full walk, or an option does.
func (s *Schema) planQuick() *quick {
	if s.opt.Coerce || s.opt.NullMeansAbsent || s.marks != nil || s.dynamic {
		return nil
	}
	p := planner{known: map[*node]*quick{}}
	root := p.plan(s.root)
	if p.fails {
		return nil
	}
	for _, q := range p.known {
		if !q.defaultsStand() {
			return nil
		}
		q.joinPointers()
	}
	return root
}

// joinPointers makes the pointers of defaults one level down, which most
// changes have.
func (q *quick) joinPointers() {
	if q.obj == nil {
		return
	}
	for i := range q.obj.props {
		p := &q.obj.props[i]
		if p.sub == nil || p.sub.obj == nil || p.sub.obj.defaulted == 0 {
			continue
		}
		for j := range p.sub.obj.props {
			p.joined = append(p.joined, p.pointer+p.sub.obj.props[j].pointer)
		}
	}
}

// defaultsStand reports that every default is accepted as it is: none of them
// gets a default inside.
func (q *quick) defaultsStand() bool {
	if q.obj == nil {
		return true
	}
	for i := range q.obj.props {
		p := &q.obj.props[i]
		if p.def.Kind() == canon.Invalid {
			continue
		}
		var w quickWalk
		if _, changed, ok := w.value(p.sub, p.def); changed || !ok {
			return false
		}
	}
	return true
}

// plan returns the quick form of n; nil admits everything.
func (p *planner) plan(n *node) *quick {
	for n.ref != nil && n.onlyRefers() {
		n = n.ref
	}
	switch {
	case n.truth == anything:
		return nil
	case n.truth == never || !n.plain():
		p.fails = true
		return nil
	}
	if q, ok := p.known[n]; ok {
		return q
	}
	q := &quick{types: n.types, kinds: n.types.kinds(), enum: n.enum, str: n.str}
	p.known[n] = q
	if f, ok := formats[n.format]; ok {
		q.format = f.holds
	}
	if n.enumSet != nil {
		p.planSet(q)
	}
	if n.num != nil {
		q.num = planNumber(n.num)
	}
	q.any = p.planAny(n.anyOf)
	if n.obj != nil {
		q.obj = p.planObject(n.obj)
	}
	if n.arr != nil {
		q.arr = &quickArray{min: n.arr.min, max: n.arr.max, unique: n.arr.unique}
		if n.arr.items != nil {
			q.arr.items = p.plan(n.arr.items)
		}
	}
	return q
}

// planSet takes long enums of strings.
func (p *planner) planSet(q *quick) {
	q.set = textSet{}
	for _, v := range q.enum {
		if v.Kind() != canon.String {
			p.fails = true
			return
		}
		q.set[v.Text()] = struct{}{}
	}
	q.enum = nil
}

// onlyRefers reports that n says nothing beside its $ref.
func (n *node) onlyRefers() bool {
	return n.truth == rules && n.types == 0 && n.enum == nil && n.num == nil && n.str == nil && n.arr == nil && n.obj == nil &&
		n.format == "" && n.anyOf == nil && n.plainBesideRef()
}

// plain reports that n has none of the keywords that need the full walk.
func (n *node) plain() bool {
	return n.ref == nil && n.plainBesideRef() && len(n.flat) == 1 &&
		(n.arr == nil || len(n.arr.prefix) == 0 && n.arr.contains == nil) &&
		(n.obj == nil || len(n.obj.patterns) == 0 && n.obj.names == nil)
}

func (n *node) plainBesideRef() bool {
	return n.dynamic == nil && len(n.allOf) == 0 && len(n.oneOf) == 0 && n.not == nil && n.cond == nil &&
		len(n.dependents) == 0 && n.unevaluatedMem == nil && n.unevaluatedEl == nil
}

// planAny takes alternatives that admit scalars only, such as "string or
// null": there nothing is filled in or left over.
func (p *planner) planAny(list []*node) []*quick {
	var out []*quick
	for _, n := range list {
		q := p.plan(n)
		if q == nil || q.types == 0 || q.types&(TypeObject|TypeArray) != 0 {
			p.fails = true
		}
		out = append(out, q)
	}
	return out
}

func planNumber(rules *numberRules) *quickNumber {
	q := &quickNumber{rules: rules, whole: rules.multiple == nil, low: -canon.MaxSafeInteger, high: canon.MaxSafeInteger}
	for i := range rules.bounds {
		b := &rules.bounds[i]
		limit, ok := smallInteger(b.text)
		if !ok || limit < -canon.MaxSafeInteger || limit > canon.MaxSafeInteger {
			q.whole = false
			continue
		}
		switch b.keyword {
		case "minimum":
			q.low = max(q.low, limit)
		case "exclusiveMinimum":
			q.low = max(q.low, limit+1)
		case "maximum":
			q.high = min(q.high, limit)
		default:
			q.high = min(q.high, limit-1)
		}
	}
	return q
}

func (p *planner) planObject(o *objectRules) *quickObject {
	q := &quickObject{min: o.min, max: o.max}
	if len(o.slots) == 0 {
		switch rest := o.additional; {
		case rest != nil && rest.truth == rules:
			q.rest = p.plan(rest)
		case o.declares || rest != nil && rest.truth == never:
			q.max = 0 // what becomes of a member, the options say
		}
		return q
	}
	if len(o.props) > maxProps {
		p.fails = true
		return q
	}
	for _, d := range o.props {
		def, _ := d.node.defaultValue()
		q.order = append(q.order, uint8(len(q.props)))
		q.props = append(q.props, quickMember{name: d.name, ready: canon.MakeReady(d.name, def),
			pointer: canon.JoinPointer("", d.name), sub: p.plan(d.node), def: def})
	}
	slices.SortFunc(q.order, func(a, b uint8) int { return canon.CompareNames(q.props[a].name, q.props[b].name) })
	for i, name := range o.required {
		s := o.slots[name]
		if s.prop < 0 || s.req != i {
			p.fails = true // it is required and not declared, or required twice
			return q
		}
		q.required |= 1 << s.prop
	}
	for _, i := range o.defaulted {
		q.defaulted |= 1 << i
	}
	return q
}
