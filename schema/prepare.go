package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// prepare checks what only Apply needs, and builds its tables.
func (s *Schema) prepare() error {
	if err := s.checkOptions(); err != nil {
		return err
	}
	for _, n := range s.order {
		if n.dynamic != nil {
			return refuse(n.where, "$dynamicRef", "depends on the path of evaluation, so that its defaults and members cannot be known")
		}
		s.alternates = s.alternates || s.branches || len(n.anyOf) > 0
		if n.obj != nil {
			n.obj.prepare()
		}
	}
	s.markFills()
	steps := 0
	for _, n := range s.order {
		if !n.hasDefault {
			continue
		}
		spent, err := s.checkDefault(n)
		if err != nil {
			return err
		}
		if steps += spent; steps > maxSteps {
			return refuse(n.where, "default", "takes too much work to check beside the others")
		}
	}
	if err := s.prepareTransforms(); err != nil {
		return err
	}
	if err := s.checkTransformedDefaults(); err != nil {
		return err
	}
	s.view = newView(s).root()
	s.quick = s.planQuick()
	return nil
}

func (s *Schema) checkOptions() error {
	switch s.opt.Unknown {
	case "", UnknownReject, UnknownStrip, UnknownKeep:
	default:
		return &CompileError{Keyword: "unknown", Reason: "must be reject, strip or keep"}
	}
	s.opt.Transforms = append([]Transform(nil), s.opt.Transforms...)
	return nil
}

func (o *objectRules) prepare() {
	for i := range o.props {
		if _, ok := o.props[i].node.defaultValue(); ok {
			o.defaulted = append(o.defaulted, i)
		}
	}
	o.folded = make(map[string]string, len(o.slots))
	for name := range o.slots {
		o.folded[fold(name)] = name
	}
}

// markFills finds the nodes at or below which a default can act, from the
// defaults upwards.
func (s *Schema) markFills() {
	above := map[*node][]*node{}
	var work []*node
	for _, n := range s.order {
		for _, x := range append(n.sameInstance(), n.nextInstance()...) {
			above[x] = append(above[x], n)
		}
		if n.obj != nil && len(n.obj.defaulted) > 0 {
			n.fills = true
			work = append(work, n)
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, x := range above[n] {
			if !x.fills {
				x.fills = true
				work = append(work, x)
			}
		}
	}
	for _, n := range s.order {
		for _, x := range n.nextInstance() {
			n.deep = n.deep || x != nil && x.fills
		}
	}
}

// checkDefault refuses a default that its own schema would not accept as an
// argument.
func (s *Schema) checkDefault(n *node) (steps int, err error) {
	r := s.newRun(true)
	if err = canon.Check(n.def); err == nil {
		v, _, ok := s.normalize(r, n.def, n, nil, nil)
		r.forget()
		ok = r.eval(n, v, nil, nil) && ok
		err = r.result(ok)
	}
	if err == nil {
		return r.steps, nil
	}
	return r.steps, &CompileError{Pointer: n.where.ptr, Keyword: "default", Reason: "breaks its own schema: " + err.Error(), Err: err}
}

// checkTransformedDefaults refuses a default that a named transform would
// change: transforms come before defaults, so it would escape them.
func (s *Schema) checkTransformedDefaults() error {
	for _, t := range s.opt.Transforms {
		if t.Func != nil {
			continue
		}
		tokens, _ := canon.SplitPointer(t.Pointer)
		for _, n := range s.nodesAt(tokens, true) {
			v, ok := n.defaultValue()
			if !ok {
				continue
			}
			if out, err := t.apply(v); err != nil || !canon.Equal(out, v) {
				return &CompileError{Pointer: n.where.ptr, Keyword: "default", Reason: "is changed by the transform " + t.Name}
			}
		}
	}
	return nil
}
