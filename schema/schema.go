package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// Schema is one compiled JSON Schema with its normalization options. It is
// immutable and safe for concurrent use.
type Schema struct {
	root       *node
	doc        *document
	opt        Options
	order      []*node
	names      map[string]struct{} // every member name that the schema declares
	marks      *mark               // where transforms act; nil if nowhere
	known      func(pointer string) bool
	view       *Node
	quick      *quick // nil if every value needs the full walk
	dynamic    bool   // the path of evaluation matters ($dynamicRef)
	remembers  bool   // verdicts are kept, so that shared branches cost once
	branches   bool   // normalization depends on which branch holds
	alternates bool   // some node has branches, anyOf included
}

// Compile compiles a JSON Schema. It refuses, with a [CompileError] that
// names the keyword and its place or with the [canon.Violations] of the text,
// whatever cannot be fully enforced and bounded: texts over 4 MiB or 64 levels
// deep, dialects other than 2020-12 and draft-07, references that leave the
// document, numbers that a double does not hold, defaults that break their
// own schema.
func Compile(src []byte, opt Options) (*Schema, error) {
	s, err := compilePure(src, opt, nil)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s, nil
}

// compilePure compiles for [Schema.Validate] alone. load gives the documents
// that references may reach; nil means none.
func compilePure(src []byte, opt Options, load func(uri string) ([]byte, bool)) (*Schema, error) {
	c := newCompiler(load)
	root, doc, err := c.compile(src)
	if err != nil {
		return nil, err
	}
	s := &Schema{root: root, doc: doc, opt: opt, order: c.order, names: map[string]struct{}{}}
	s.known = s.Knows
	_, s.dynamic = c.isDynamic()
	for _, n := range c.order {
		s.remembers = s.remembers || c.choices && n.shared
		s.branches = s.branches || len(n.oneOf) > 0 || n.cond != nil || len(n.dependents) > 0
		if n.obj != nil {
			for name := range n.obj.slots {
				s.names[name] = struct{}{}
			}
		}
	}
	return s, nil
}

// Validate checks v and changes nothing: pure validation with formats as
// annotations and unknown members kept. It fails with [canon.Violations].
func (s *Schema) Validate(v canon.Value) (err error) {
	defer refusePanic(&err)
	r := s.newRun(false)
	if err := s.checkValue(v); err != nil {
		return err
	}
	return r.result(r.eval(s.root, v, nil, nil))
}

// refusePanic is the second line behind the bounds: a fault of the engine
// refuses the value and leaves the process alone.
func refusePanic(err *error) {
	if p := recover(); p != nil {
		*err = canon.Refuse("", RuleBroken, "a value that the schema can judge")
	}
}

// Root returns the typed view of the schema. It is shared; do not change it.
func (s *Schema) Root() *Node { return s.view }

// Source returns the RFC 8785 form of the schema document.
func (s *Schema) Source() []byte { return s.doc.root.Canonical() }

// checkValue bounds the recursion of everything that follows, and refuses
// values that no decoder made.
func (s *Schema) checkValue(v canon.Value) error {
	return canon.CheckWithin(v, canon.Options{MaxDepth: maxPath, Known: s.known})
}
