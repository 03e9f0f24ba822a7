package schema

import (
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Knows reports whether the schema declares the member at an RFC 6901
// pointer: under properties or patternProperties of any branch. An array
// index matches the schema of that element. Members that only
// additionalProperties covers are not declared.
func (s *Schema) Knows(pointer string) bool {
	tokens, ok := canon.SplitPointer(pointer)
	return ok && (len(tokens) == 0 || len(s.nodesAt(tokens, false)) > 0)
}

// Known is [Schema.Knows], made once: handing it on costs nothing.
func (s *Schema) Known() func(pointer string) bool { return s.known }

// nodesAt returns the subschemas that may apply at the tokens of a pointer.
// star says whether everyElement stands for the elements of arrays.
func (s *Schema) nodesAt(tokens []string, star bool) []*node {
	set := reach([]*node{s.root})
	for _, t := range tokens {
		var next []*node
		for _, n := range set {
			next = append(next, n.declaredAt(t)...)
			if star && t == everyElement && n.arr != nil && n.arr.items != nil {
				next = append(next, n.arr.items)
			}
		}
		if set = reach(next); len(set) == 0 {
			return nil
		}
	}
	return set
}

// reach adds every subschema that can judge the same value, in any branch.
func reach(set []*node) []*node {
	var out []*node
	seen := map[*node]bool{}
	add := func(list []*node) {
		for _, n := range list {
			if n != nil && !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	add(set)
	for i := 0; i < len(out); i++ {
		for _, n := range out[i].sameInstance() {
			if n != out[i].not {
				add([]*node{n})
			}
		}
	}
	return out
}

func (n *node) declaredAt(token string) []*node {
	var out []*node
	if n.obj != nil {
		if s, ok := n.obj.slots[token]; ok && s.prop >= 0 {
			out = append(out, n.obj.props[s.prop].node)
		}
		for i := range n.obj.patterns {
			if n.obj.patterns[i].re.MatchString(token) {
				out = append(out, n.obj.patterns[i].node)
			}
		}
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && strconv.Itoa(i) == token {
		out = n.elementNodes(out, i)
	}
	return out
}
