package schema

import "github.com/seed-de4804fb/verbatim/canon"

// Enforced returns the schema document in RFC 8785 form, with
// "additionalProperties": false where Apply refuses undeclared members and the
// schema does not say so. A model that is shown this is shown what is
// enforced. Objects that several subschemas describe together are left as
// they are: no single keyword can say there what Apply does.
func (s *Schema) Enforced() []byte {
	if s.opt.Unknown != "" && s.opt.Unknown != UnknownReject {
		return s.Source()
	}
	above := map[*node][]*node{}
	for _, n := range s.order {
		for _, x := range n.sameInstance() {
			above[x] = append(above[x], n)
		}
	}
	close := map[string]bool{}
	for _, n := range s.order {
		if s.closable(n) && standsAlone(n, above) {
			close[n.where.ptr] = true
		}
	}
	return tighten(s.doc.root, "", close).Canonical()
}

// closable reports whether n alone lists all the members of its objects, and
// is silent or overruled about others.
func (s *Schema) closable(n *node) bool {
	if n.obj == nil || !n.obj.declares {
		return false
	}
	for _, rest := range n.leftovers() {
		if rest != nil && (rest.truth != anything || s.opt.Unknown != UnknownReject) {
			return false
		}
	}
	for _, name := range n.obj.required {
		if n.obj.slots[name].prop < 0 {
			return false
		}
	}
	for _, x := range reach([]*node{n}) {
		if x != n && (x.obj != nil || x.unevaluatedMem != nil) {
			return false
		}
	}
	return true
}

// standsAlone reports whether nothing but bare references leads to n at the
// same value. References cannot loop there, so this ends.
func standsAlone(n *node, above map[*node][]*node) bool {
	for _, p := range above[n] {
		bare := p.ref == n && len(p.sameInstance()) == 1 && p.obj == nil && p.unevaluatedMem == nil
		if !bare || !standsAlone(p, above) {
			return false
		}
	}
	return true
}

// tighten rebuilds v with additionalProperties false at the pointers in close.
func tighten(v canon.Value, ptr string, close map[string]bool) canon.Value {
	switch v.Kind() {
	case canon.Array:
		elems := v.Elements()
		for i := range elems {
			elems[i] = tighten(elems[i], canon.JoinIndex(ptr, i), close)
		}
		return canon.ArrayValue(elems...)
	case canon.Object:
		members := make([]canon.Member, 0, v.Len()+1)
		for _, m := range v.Members() {
			if close[ptr] && m.Name == "additionalProperties" {
				continue
			}
			members = append(members, canon.Member{Name: m.Name, Value: tighten(m.Value, canon.JoinPointer(ptr, m.Name), close)})
		}
		if close[ptr] {
			members = append(members, canon.Member{Name: "additionalProperties", Value: canon.BoolValue(false)})
		}
		return canon.ObjectValue(members...)
	default:
		return v
	}
}
