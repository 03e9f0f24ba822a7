package schema

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// maxView bounds the typed view. What lies beyond is shown as a union, which
// nobody may decide on.
const maxView = 20_000

// view builds the typed view of a schema: the shape that is certain after
// Apply, whatever branches hold.
type view struct {
	s     *Schema
	ids   map[*node]int
	built map[string]*Node
	open  map[string]bool // being built: a recursive schema comes back here
}

func newView(s *Schema) *view {
	w := &view{s: s, ids: make(map[*node]int, len(s.order)), built: map[string]*Node{}, open: map[string]bool{}}
	for i, n := range s.order {
		w.ids[n] = i
	}
	return w
}

func (w *view) root() *Node { return w.of([]part{{n: w.s.root}}) }

// part is a subschema that certainly applies, at least where the value is not
// null.
type part struct {
	n          *node
	noDefaults bool // it or a node above is in anyOf: defaults are not filled
}

// of returns the view of a value that all subschemas of set judge.
func (w *view) of(set []part) *Node {
	key := w.key(set)
	if n, ok := w.built[key]; ok {
		return n
	}
	types := TypeAny
	for _, p := range set {
		types &= p.n.wants
	}
	if w.open[key] || len(w.built) > maxView {
		return &Node{Types: types, Union: true, Open: true}
	}
	w.open[key] = true
	parts, union := w.parts(set)
	out := &Node{Types: types, Union: union}
	out.describe(parts)
	out.narrowTypes()
	if out.Types&TypeObject != 0 {
		w.members(out, parts)
	}
	if out.Types&TypeArray != 0 {
		w.elements(out, parts)
	}
	delete(w.open, key)
	w.built[key] = out
	return out
}

func (w *view) key(set []part) string {
	var b strings.Builder
	for _, p := range set {
		b.WriteString(strconv.Itoa(w.ids[p.n]))
		if p.noDefaults {
			b.WriteByte('-')
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// parts lists what certainly applies. union is true if a branch could add to
// the shape.
func (w *view) parts(set []part) (parts []part, union bool) {
	have := map[*node]int{}
	add := func(n *node, noDefaults bool) {
		for _, x := range n.flat {
			i, twice := have[x]
			if twice {
				parts[i].noDefaults = parts[i].noDefaults && noDefaults
				continue
			}
			have[x] = len(parts)
			parts = append(parts, part{x, noDefaults})
		}
	}
	for _, p := range set {
		add(p.n, p.noDefaults)
	}
	var branches []*node
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		for _, list := range [][]*node{p.n.anyOf, p.n.oneOf} {
			if only := nullable(list); only != nil {
				add(only, p.noDefaults || len(p.n.anyOf) > 0)
				continue
			}
			branches = append(branches, list...)
		}
		branches = append(branches, p.n.conditionals()...)
	}
	for _, b := range branches {
		union = union || !narrows(b, parts)
	}
	return parts, union
}

func (n *node) conditionals() []*node {
	var out []*node
	if n.cond != nil {
		for _, x := range []*node{n.cond.test, n.cond.then, n.cond.otherwise} {
			if x != nil {
				out = append(out, x)
			}
		}
	}
	for i := range n.dependents {
		if n.dependents[i].node != nil {
			out = append(out, n.dependents[i].node)
		}
	}
	return out
}

// nullable returns T of the pair [T, null].
func nullable(list []*node) *node {
	if len(list) != 2 {
		return nil
	}
	for i, n := range list {
		if n.wants == TypeNull && list[1-i].wants != TypeNull {
			return list[1-i]
		}
	}
	return nil
}

// narrows reports whether a branch only constrains members that parts declare.
func narrows(b *node, parts []part) bool {
	for _, x := range reach([]*node{b}) {
		for _, rest := range x.leftovers() {
			if rest != nil && rest.truth != never {
				return false
			}
		}
		if x.obj == nil {
			continue
		}
		if len(x.obj.patterns) > 0 {
			return false
		}
		for name := range x.obj.slots {
			if !declaredBy(parts, name) {
				return false
			}
		}
	}
	return true
}

func declaredBy(parts []part, name string) bool {
	for _, p := range parts {
		if p.n.obj != nil {
			if _, ok := p.n.obj.slots[name]; ok {
				return true
			}
		}
	}
	return false
}

// describe takes over what is not shape.
func (out *Node) describe(parts []part) {
	var low, high *bound
	for _, p := range parts {
		n := p.n
		out.Title = first(out.Title, n.title)
		out.Description = first(out.Description, n.description)
		out.Format = first(out.Format, n.format)
		out.HasDefault = out.HasDefault || n.hasDefault
		if n.enum != nil {
			out.Enum = meet(out.Enum, n.enum)
		}
		if n.num == nil {
			continue
		}
		for i := range n.num.bounds {
			b := &n.num.bounds[i]
			upper := b.keyword == "maximum" || b.keyword == "exclusiveMaximum"
			if upper && (high == nil || b.limit.compare(&high.limit) < 0) {
				high = b
			}
			if !upper && (low == nil || b.limit.compare(&low.limit) > 0) {
				low = b
			}
		}
	}
	if low != nil {
		out.Minimum = low.text
	}
	if high != nil {
		out.Maximum = high.text
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// meet returns the values that are in both enums; a nil enum is all values.
func meet(a, b []canon.Value) []canon.Value {
	if a == nil {
		return b
	}
	out := []canon.Value{}
	for _, v := range a {
		if contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

// narrowTypes drops the types that no enum value has, and says whether the
// rest is one shape.
func (out *Node) narrowTypes() {
	if out.Enum != nil {
		out.Types &= typesOf(out.Enum)
	}
	one := out.Types &^ TypeNull
	if one&TypeNumber != 0 {
		one &^= TypeInteger
	}
	if out.Types != TypeAny && bits.OnesCount8(uint8(one)) > 1 {
		out.Union = true
	}
}

func typesOf(list []canon.Value) (t TypeSet) {
	for _, v := range list {
		t |= typeOf(v)
	}
	return t
}

func typeOf(v canon.Value) TypeSet {
	switch v.Kind() {
	case canon.Null:
		return TypeNull
	case canon.Bool:
		return TypeBoolean
	case canon.Number:
		if integral(v) {
			return TypeInteger
		}
		return TypeNumber | TypeInteger
	case canon.String:
		return TypeString
	case canon.Array:
		return TypeArray
	default:
		return TypeObject
	}
}

func (w *view) members(out *Node, parts []part) {
	set := make([]*node, len(parts))
	for i, p := range parts {
		set[i] = p.n
	}
	u := unknowns{r: w.s.newRun(false), mode: w.s.opt.Unknown}
	policy := u.policy(set)
	out.Open = !policy.applies || policy.keeps
	have := map[string]bool{}
	for _, n := range set {
		for _, rest := range n.leftovers() {
			out.Open = out.Open || rest != nil && rest.truth == rules
		}
		if n.obj == nil {
			continue
		}
		out.Open = out.Open || len(n.obj.patterns) > 0
		for i := range n.obj.props {
			w.property(out, parts, n.obj.props[i].name, have)
		}
		for _, name := range n.obj.required {
			w.property(out, parts, name, have)
		}
	}
}

// property adds the declared member name, once.
func (w *view) property(out *Node, parts []part, name string, have map[string]bool) {
	if have[name] {
		return
	}
	have[name] = true
	var kids []part
	required := false
	for _, p := range parts {
		if p.n.obj == nil {
			continue
		}
		s, listed := p.n.obj.slots[name]
		required = required || listed && s.req >= 0
		matched := listed && s.prop >= 0
		if matched {
			kid := p.n.obj.props[s.prop].node
			kids = append(kids, part{kid, p.noDefaults})
			_, filled := kid.defaultValue()
			required = required || filled && !p.noDefaults
		}
		for i := range p.n.obj.patterns {
			if p.n.obj.patterns[i].re.MatchString(name) {
				matched = true
				kids = append(kids, part{p.n.obj.patterns[i].node, p.noDefaults})
			}
		}
		if !matched && p.n.obj.additional != nil {
			kids = append(kids, part{p.n.obj.additional, p.noDefaults})
		}
	}
	out.Properties = append(out.Properties, Property{Name: name, Node: w.of(kids), Required: required})
}

// elements sets the element shape; a tuple has none.
func (w *view) elements(out *Node, parts []part) {
	var kids []part
	for _, p := range parts {
		if p.n.arr == nil {
			continue
		}
		if len(p.n.arr.prefix) > 0 {
			return
		}
		if p.n.arr.items != nil {
			kids = append(kids, part{p.n.arr.items, p.noDefaults})
		}
	}
	if len(kids) > 0 {
		out.Items = w.of(kids)
	}
}
