package schema

// sameInstance lists the subschemas that apply to the very value that n
// applies to, without going down into it.
func (n *node) sameInstance() []*node {
	var out []*node
	add := func(list ...*node) {
		for _, x := range list {
			if x != nil {
				out = append(out, x)
			}
		}
	}
	add(n.ref, n.not)
	add(n.allOf...)
	add(n.anyOf...)
	add(n.oneOf...)
	if n.cond != nil {
		add(n.cond.test, n.cond.then, n.cond.otherwise)
	}
	for i := range n.dependents {
		add(n.dependents[i].node)
	}
	return out
}

// nextInstance lists the subschemas that apply to members and elements.
func (n *node) nextInstance() []*node {
	out := []*node{n.unevaluatedMem, n.unevaluatedEl}
	if n.obj != nil {
		out = append(out, n.obj.additional)
		for i := range n.obj.props {
			out = append(out, n.obj.props[i].node)
		}
		for i := range n.obj.patterns {
			out = append(out, n.obj.patterns[i].node)
		}
	}
	if n.arr != nil {
		out = append(append(out, n.arr.items), n.arr.prefix...)
	}
	return out
}

type visit uint8

const (
	unseen visit = iota
	open
	closed
)

// maxInPlace bounds how many subschemas may follow each other at one value.
const maxInPlace = 200

// checkLoops refuses schemas that would come back to themselves without
// going down into the value, and chains that are too long. It uses its own
// stack: references can make a path as long as the schema.
func (c *compiler) checkLoops() error {
	state := make(map[*node]visit, len(c.order))
	height := make(map[*node]int, len(c.order))
	for _, start := range c.order {
		if state[start] != unseen {
			continue
		}
		if err := checkFrom(start, state, height); err != nil {
			return err
		}
	}
	return nil
}

func checkFrom(start *node, state map[*node]visit, height map[*node]int) error {
	type frame struct {
		n         *node
		all, next []*node
	}
	enter := func(n *node) frame {
		state[n] = open
		all := n.sameInstance()
		return frame{n, all, all}
	}
	stack := []frame{enter(start)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.next) == 0 {
			for _, m := range top.all {
				height[top.n] = max(height[top.n], height[m]+1)
			}
			if height[top.n] > maxInPlace {
				return refuse(top.n.where, "$ref", "starts too long a chain of references")
			}
			state[top.n] = closed
			stack = stack[:len(stack)-1]
			continue
		}
		n := top.next[0]
		top.next = top.next[1:]
		switch state[n] {
		case open:
			return refuse(n.where, "$ref", "leads back to itself without going down into the value")
		case unseen:
			stack = append(stack, enter(n))
		}
	}
	return nil
}

// flatten returns n and all that always applies with it, each once, in the
// order in which they are written. Chains are at most maxInPlace long.
func flatten(n *node) []*node {
	var out []*node
	seen := map[*node]bool{}
	var walk func(*node)
	walk = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		out = append(out, n)
		walk(n.ref)
		for _, m := range n.allOf {
			walk(m)
		}
	}
	walk(n)
	return out
}

// admitted computes for each node the types that it can accept as far as its
// type keywords say; TypeAny where none does. Alternatives join, conjunctions
// meet. Chains are at most maxInPlace long (checkLoops).
type admitted map[*node]TypeSet

func (memo admitted) of(n *node) TypeSet {
	if t, ok := memo[n]; ok {
		return t
	}
	t := TypeAny
	switch {
	case n.truth == never:
		t = 0
	case n.types != 0:
		t = widen(n.types)
	}
	if n.enum != nil {
		t &= typesOf(n.enum)
	}
	t &= memo.join(n.anyOf) & memo.join(n.oneOf)
	if n.ref != nil {
		t &= memo.of(n.ref)
	}
	for _, x := range n.allOf {
		t &= memo.of(x)
	}
	memo[n] = t
	return t
}

func (memo admitted) join(list []*node) TypeSet {
	if len(list) == 0 {
		return TypeAny
	}
	var t TypeSet
	for _, x := range list {
		t |= memo.of(x)
	}
	return t
}

// widen adds integer to number: every integer is a number.
func widen(t TypeSet) TypeSet {
	if t&TypeNumber != 0 {
		t |= TypeInteger
	}
	return t
}
