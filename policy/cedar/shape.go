package cedar

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"

	"github.com/seed-de4804fb/verbatim/schema"
)

// form is what a value looks like to policy.
type form uint8

const (
	formBool form = iota
	formLong
	formDecimal
	formString
	formArray
	formRecord
)

// The attributes of an array's record.
const (
	attrItems  = "items"
	attrLength = "length"
)

// maxDepth bounds how deep policy sees; maxShapes how many members one tool
// shows. What lies beyond is hidden, and lint says so.
const (
	maxDepth  = 32
	maxShapes = 5000
)

// shape is the Cedar type of one place in the arguments of a tool.
type shape struct {
	form    form
	elem    *shape            // of an array; nil if elements are hidden
	members []member          // of a record, by name
	hidden  map[string]string // members that policy cannot see, and why
	open    bool              // members that the schema does not declare are possible
}

// member is a visible member of a record.
type member struct {
	name     string
	optional bool // may be absent, or null
	shape    *shape
}

func (s *shape) member(name string) (member, bool) {
	i, ok := slices.BinarySearchFunc(s.members, name, func(m member, n string) int { return strings.Compare(m.name, n) })
	if !ok {
		return member{}, false
	}
	return s.members[i], true
}

// shaper turns typed schema nodes into shapes.
type shaper struct {
	path  []*schema.Node // from the root: a node that comes again is recursive
	count int
}

// argsShape is the shape of a tool's whole argument object. root is what the
// frozen arguments were checked against. applied is the schema that filled in
// defaults, nil if resolvers have moved members since.
func argsShape(root, applied *schema.Node) *shape {
	s := &shaper{}
	if root == nil || root.Union || root.Types&^schema.TypeNull != schema.TypeObject {
		return &shape{form: formRecord, open: true}
	}
	return s.record(root, applied)
}

// of returns the shape of a node, or why it has none.
func (s *shaper) of(n, applied *schema.Node) (*shape, string) {
	switch s.count++; {
	case n == nil:
		return nil, "the schema says nothing about it"
	case n.Union:
		return nil, "it is a union"
	case slices.Contains(s.path, n):
		return nil, "it is recursive"
	case len(s.path) >= maxDepth || s.count > maxShapes:
		return nil, "the schema is too large"
	}
	s.path = append(s.path, n)
	defer func() { s.path = s.path[:len(s.path)-1] }()
	switch n.Types &^ schema.TypeNull {
	case schema.TypeBoolean:
		return &shape{form: formBool}, ""
	case schema.TypeInteger:
		return &shape{form: formLong}, ""
	case schema.TypeNumber, schema.TypeNumber | schema.TypeInteger:
		return &shape{form: formDecimal}, ""
	case schema.TypeString:
		return &shape{form: formString}, ""
	case schema.TypeArray:
		elem, _ := s.of(n.Items, itemsOf(applied))
		return &shape{form: formArray, elem: elem}, ""
	case schema.TypeObject:
		if len(n.Properties) == 0 && n.Open {
			return nil, "it is a map"
		}
		return s.record(n, applied), ""
	case 0:
		return nil, "it is always null"
	default:
		return nil, "it has several types"
	}
}

func (s *shaper) record(n, applied *schema.Node) *shape {
	out := &shape{form: formRecord, hidden: map[string]string{}, open: n.Open}
	for _, p := range n.Properties {
		filled, always := memberOf(applied, p.Name)
		sub, why := s.of(p.Node, filled)
		if sub == nil {
			out.hidden[p.Name] = why
			continue
		}
		optional := p.Node.Types&schema.TypeNull != 0 || !always && (!p.Required || p.Node.HasDefault)
		out.members = append(out.members, member{name: p.Name, optional: optional, shape: sub})
	}
	slices.SortFunc(out.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return out
}

// memberOf returns a member of the applied schema, and whether it is always
// there afterwards. A default of a schema that was only checked fills nothing.
func memberOf(applied *schema.Node, name string) (n *schema.Node, always bool) {
	if applied == nil || applied.Union {
		return nil, false
	}
	p, ok := applied.Property(name)
	return p.Node, ok && p.Required
}

func itemsOf(applied *schema.Node) *schema.Node {
	if applied == nil || applied.Union {
		return nil
	}
	return applied.Items
}

// cedar is the type in the Cedar schema.
func (s *shape) cedar() resolved.IsType {
	switch s.form {
	case formBool:
		return resolved.BoolType{}
	case formLong:
		return resolved.LongType{}
	case formDecimal:
		return resolved.ExtensionType("decimal")
	case formString:
		return resolved.StringType{}
	case formArray:
		record := resolved.RecordType{attrLength: {Type: resolved.LongType{}}}
		if s.elem != nil {
			record[attrItems] = resolved.Attribute{Type: resolved.SetType{Element: s.elem.cedar()}}
		}
		return record
	default:
		record := resolved.RecordType{}
		for _, m := range s.members {
			record[types.String(m.name)] = resolved.Attribute{Type: m.shape.cedar(), Optional: m.optional}
		}
		return record
	}
}

// write writes the shape as deterministic text, for digests and for people.
func (s *shape) write(b *strings.Builder) {
	switch s.form {
	case formBool:
		b.WriteString("Bool")
	case formLong:
		b.WriteString("Long")
	case formDecimal:
		b.WriteString("decimal")
	case formString:
		b.WriteString("String")
	case formArray:
		b.WriteString("{")
		if s.elem != nil {
			b.WriteString("items: Set<")
			s.elem.write(b)
			b.WriteString(">, ")
		}
		b.WriteString("length: Long}")
	case formRecord:
		b.WriteString("{")
		for i, m := range s.members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(m.name))
			if m.optional {
				b.WriteString("?")
			}
			b.WriteString(": ")
			m.shape.write(b)
		}
		b.WriteString("}")
	}
}

// sight is what policy sees at a path.
type sight uint8

const (
	unknown sight = iota
	hidden
	visible
)

// look follows a path of attribute names. For a hidden place it says why.
func (s *shape) look(path []string) (sight, string) {
	if len(path) == 0 {
		return visible, ""
	}
	switch s.form {
	case formArray:
		if path[0] == attrItems && s.elem == nil {
			return hidden, "the elements have no single type"
		}
		if len(path) == 1 && (path[0] == attrItems || path[0] == attrLength) {
			return visible, ""
		}
	case formRecord:
		if m, ok := s.member(path[0]); ok {
			return m.shape.look(path[1:])
		}
		if why, ok := s.hidden[path[0]]; ok {
			return hidden, why
		}
	}
	return unknown, ""
}
