package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// Fill gives the session's value for an absent member (semantics §4).
type Fill struct {
	Pointer string
	Value   canon.Value
}

// Apply validates and normalizes. It returns the parsed value and every
// change in the order in which it was made, or [canon.Violations]. Applying
// the schema again to the parsed value changes nothing, as long as each
// [TransformFunc] leaves its own result alone, and the transforms leave the
// session's values alone: those are filled in after the transforms.
//
// A fill whose parent object is absent does nothing, as for defaults.
func (s *Schema) Apply(v canon.Value, fill []Fill) (out canon.Value, changes []canon.Change, err error) {
	defer refusePanic(&err)
	if len(fill) == 0 {
		if out, changes, ok := s.applyQuick(v); ok {
			return out, changes, nil
		}
	}
	out, changes, err = s.apply(v, fill)
	return out, changes, err
}

func (s *Schema) apply(v canon.Value, fill []Fill) (canon.Value, []canon.Change, error) {
	if err := s.checkValue(v); err != nil {
		return canon.Value{}, nil, err
	}
	fills, err := fillMarks(fill)
	if err != nil {
		return canon.Value{}, nil, err
	}
	r := s.newRun(true)
	out, changes, ok := s.normalize(r, v, s.root, s.marks, fills)
	r.forget()
	ok = r.eval(s.root, out, nil, nil) && ok
	if err := r.result(ok); err != nil {
		return canon.Value{}, nil, err
	}
	if s.alternates && len(changes) > 0 {
		if err := s.stable(r, out, fills); err != nil {
			return canon.Value{}, nil, err
		}
	}
	return out, changes, nil
}

// normalize makes steps 1 to 5.
func (s *Schema) normalize(r *run, v canon.Value, n *node, marks, fills *mark) (canon.Value, []canon.Change, bool) {
	z := normalizer{r: r, coerce: s.opt.Coerce, everywhere: s.opt.Coerce || s.opt.NullMeansAbsent, sets: r.setSpace[:0]}
	v = z.value(v, n.flat[:1], marks, fills)
	r.forget()
	u := unknowns{r: r, mode: s.opt.Unknown, changes: z.changes, sets: r.setSpace[:0]}
	v = u.value(v, n.flat[:1])
	return v, u.changes, !z.failed && !u.refused
}

// stable refuses a result that would change once more: a default or a strip
// has made another branch hold than the one that asked for it.
func (s *Schema) stable(r *run, v canon.Value, fills *mark) error {
	r.forget()
	_, again, ok := s.normalize(r, v, s.root, nil, fills)
	if err := r.result(ok); err != nil {
		return err
	}
	if len(again) == 0 {
		return nil
	}
	return canon.Refuse("", RuleUnstable, "a value that the schema normalizes in one way")
}

func fillMarks(fill []Fill) (*mark, error) {
	if len(fill) == 0 {
		return nil, nil
	}
	root := &mark{}
	for _, f := range fill {
		tokens, ok := canon.SplitPointer(f.Pointer)
		if !ok || len(tokens) == 0 {
			return nil, canon.Refuse("", "fill", "the JSON Pointer of a member")
		}
		if err := canon.Check(f.Value); err != nil {
			return nil, canon.Refuse(f.Pointer, "fill", "a value of the strict domain")
		}
		root.at(tokens).fill = f.Value
	}
	return root, nil
}
