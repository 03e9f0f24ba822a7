package schema

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// CompileError says why a schema is refused: the place of the subschema as an
// RFC 6901 pointer into the document, the keyword, and what is wrong.
type CompileError struct {
	Pointer string
	Keyword string
	Reason  string
	Err     error // the cause, if there is one
}

// Error names place, keyword and reason.
func (e *CompileError) Error() string {
	where := e.Pointer
	if where == "" {
		where = "(root)"
	}
	return fmt.Sprintf("schema at %s: %s %s", where, e.Keyword, e.Reason)
}

// Unwrap returns the cause.
func (e *CompileError) Unwrap() error { return e.Err }

func refuse(at location, keyword, reason string) error {
	return &CompileError{Pointer: at.ptr, Keyword: keyword, Reason: reason}
}

// compiler turns documents into nodes. Nodes wait in order until they are built, so that
// the depth of a schema never becomes depth of recursion here.
type compiler struct {
	load      func(uri string) ([]byte, bool) // nil: nothing outside the document
	documents map[string]*document
	resources map[string]*resource
	all       []*resource
	nodes     map[location]*node
	order     []*node
	next      int     // order[next:] waits to be built
	dynamic   []*node // nodes with a $dynamicRef
	tracks    bool    // some node has unevaluated*
	choices   bool    // some node has a branch that may or may not hold
}

func newCompiler(load func(string) ([]byte, bool)) *compiler {
	return &compiler{
		load: load, documents: map[string]*document{}, resources: map[string]*resource{},
		nodes: map[location]*node{},
	}
}

// maxFlat bounds the sum over all schemas of what always applies with each.
const maxFlat = 2_000_000

// compile builds every schema of the document, reachable or not: a mistake in
// an unused definition is still a mistake.
func (c *compiler) compile(src []byte) (*node, *document, error) {
	doc, err := c.parse(src, rootURI)
	if err != nil {
		return nil, nil, err
	}
	root := c.node(location{doc: doc})
	for _, ptr := range doc.order {
		c.node(location{doc, ptr})
	}
	if err := c.drain(); err != nil {
		return nil, nil, err
	}
	if err := c.bindDynamic(); err != nil {
		return nil, nil, err
	}
	if err := c.checkLoops(); err != nil {
		return nil, nil, err
	}
	total := 0
	for _, n := range c.order {
		n.flat = flatten(n)
		if total += len(n.flat); total > maxFlat {
			return nil, nil, refuse(n.where, "allOf", "joins too many subschemas")
		}
	}
	memo := make(admitted, len(c.order))
	for _, n := range c.order {
		n.wants = memo.of(n)
	}
	return root, doc, nil
}

func (c *compiler) node(at location) *node {
	if n, ok := c.nodes[at]; ok {
		return n
	}
	n := &node{where: at, res: at.doc.owner(at.ptr)}
	c.nodes[at] = n
	c.order = append(c.order, n)
	return n
}

func (c *compiler) drain() error {
	for ; c.next < len(c.order); c.next++ {
		n := c.order[c.next]
		v, _ := n.where.doc.root.Lookup(n.where.ptr)
		if err := c.build(n, v); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) build(n *node, v canon.Value) error {
	switch v.Kind() {
	case canon.Bool:
		n.truth = never
		if v.Bool() {
			n.truth = anything
		}
		return nil
	case canon.Object:
		if v.Len() == 0 {
			n.truth = anything
			return nil
		}
	default:
		return refuse(n.where, "schema", "must be an object or a boolean")
	}
	b := builder{c: c, n: n, v: v}
	if ref, found := v.Get("$ref"); found && n.res.dialect.draft == draft7 {
		return buildRef(&b, ref)
	}
	for i := range v.Len() {
		name, value := v.Member(i)
		k, known := keywords[name]
		if !known || k.drafts&n.res.dialect.draft == 0 || k.vocab&n.res.dialect.vocabs == 0 {
			continue
		}
		b.keyword = name
		if err := k.build(&b, value); err != nil {
			return err
		}
	}
	return b.finish()
}

// bindDynamic prepares every $dynamicRef. Where one resource only declares
// the anchor, the path of evaluation cannot matter and the reference is plain.
func (c *compiler) bindDynamic() error {
	for i := 0; i < len(c.dynamic); i++ {
		n := c.dynamic[i]
		name := n.dynamic.anchor
		count := 0
		for j := 0; j < len(c.all); j++ {
			res := c.all[j]
			at, ok := res.dynamic[name]
			if !ok {
				continue
			}
			count++
			res.dynNodes[name] = c.node(at)
			res.dynNodes[name].shared = true
			if err := c.drain(); err != nil {
				return err
			}
		}
		if count == 1 {
			n.allOf = append(n.allOf, n.dynamic.initial)
			n.dynamic = nil
		}
	}
	return nil
}

// isDynamic reports whether the path of evaluation matters, and where.
func (c *compiler) isDynamic() (*node, bool) {
	for _, n := range c.dynamic {
		if n.dynamic != nil {
			return n, true
		}
	}
	return nil, false
}
