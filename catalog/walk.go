package catalog

import (
	"iter"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// Member is one declared member of a tool's arguments.
type Member struct {
	Pointer string // "*" stands for each element of an array
	Name    string
	Node    *schema.Node
}

// The bounds of a walk: a schema may contain itself, or reach one definition
// in very many ways.
const (
	maxMemberDepth = 12
	MaxMembers     = 10_000
)

// Members walks the members that a schema declares, outside in, and stops
// after MaxMembers.
func Members(root *schema.Node) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		left := MaxMembers
		walkMembers(root, "", 0, func(m Member) bool {
			left--
			return left >= 0 && yield(m)
		})
	}
}

func walkMembers(n *schema.Node, at string, depth int, yield func(Member) bool) bool {
	if n == nil || depth > maxMemberDepth {
		return true
	}
	for _, p := range n.Properties {
		here := canon.JoinPointer(at, p.Name)
		if !yield(Member{Pointer: here, Name: p.Name, Node: p.Node}) || !walkMembers(p.Node, here, depth+1, yield) {
			return false
		}
	}
	return walkMembers(n.Items, at+"/"+everyElement, depth+1, yield)
}
