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

// maxMemberDepth ends the walk of a schema that contains itself.
const maxMemberDepth = 12

// Members walks the members that a schema declares, outside in.
func Members(root *schema.Node) iter.Seq[Member] {
	return func(yield func(Member) bool) { walkMembers(root, "", 0, yield) }
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
