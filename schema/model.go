package schema

import "github.com/seed-de4804fb/verbatim/canon"

// UnknownMode says what happens to members that a schema does not declare.
type UnknownMode string

// The modes. Reject is the default where the schema is silent.
const (
	UnknownReject UnknownMode = "reject"
	UnknownStrip  UnknownMode = "strip"
	UnknownKeep   UnknownMode = "keep"
)

// TransformFunc changes one value. It must be pure.
type TransformFunc func(canon.Value) (canon.Value, error)

// Transform is one named change of the value at a pointer. The token "*"
// stands for every element of an array.
type Transform struct {
	Pointer string
	Name    string        // trim, lower, upper, nfc, collapseSpace, or the name of Func
	Func    TransformFunc // nil for the built-in names
}

// Options say how arguments are normalized, per tool (semantics §2).
type Options struct {
	NullMeansAbsent bool
	Coerce          bool
	Unknown         UnknownMode // "" lets the schema say, else reject
	Transforms      []Transform
}

// TypeSet is the set of JSON types that a node admits.
type TypeSet uint8

// The JSON types; Integer is a Number with an integral value.
const (
	TypeNull TypeSet = 1 << iota
	TypeBoolean
	TypeInteger
	TypeNumber
	TypeString
	TypeArray
	TypeObject
	TypeAny = TypeNull | TypeBoolean | TypeInteger | TypeNumber | TypeString | TypeArray | TypeObject
)

// Node is the typed view of one subschema: what policy types, the approval
// page and type inference need. Combinations that give no single shape
// (anyOf, oneOf, if) leave Types as the union and set Union.
type Node struct {
	Types       TypeSet
	Union       bool // shape depends on the value; not visible to policy
	Title       string
	Description string
	Format      string
	Enum        []canon.Value // nil if any value of the types
	Properties  []Property    // declared members, in schema order
	Items       *Node         // element shape; nil if unknown
	Open        bool          // undeclared members are possible after Apply
	HasDefault  bool
	Minimum     string // decimal text; "" if none
	Maximum     string
}

// Property is one declared member of an object.
type Property struct {
	Name     string
	Node     *Node
	Required bool // always present after Apply
}

// Property returns the declared member called name.
func (n *Node) Property(name string) (Property, bool) {
	for _, p := range n.Properties {
		if p.Name == name {
			return p, true
		}
	}
	return Property{}, false
}
