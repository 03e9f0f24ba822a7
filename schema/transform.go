package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-de4804fb/verbatim/canon"
)

// mark is a place in the value where a transform or a fill acts: a trie over
// the tokens of their pointers. The methods take a nil mark.
type mark struct {
	names      []string // of the children, in the order of the options
	children   map[string]*mark
	transforms []Transform
	fill       canon.Value // Invalid where nothing is filled
}

func (m *mark) child(name string) *mark {
	if m == nil {
		return nil
	}
	return m.children[name]
}

func (m *mark) index(i int) *mark {
	if m == nil {
		return nil
	}
	if next := m.children[strconv.Itoa(i)]; next != nil {
		return next
	}
	return m.children[everyElement]
}

// everyElement is the token that stands for all elements of an array. It is
// no index, so it takes no pointer away; in an object it is a plain name.
const everyElement = "*"

// at returns the mark at the tokens below m, made where it is missing.
func (m *mark) at(tokens []string) *mark {
	for _, t := range tokens {
		next := m.children[t]
		if next == nil {
			next = &mark{}
			if m.children == nil {
				m.children = map[string]*mark{}
			}
			m.children[t] = next
			m.names = append(m.names, t)
		}
		m = next
	}
	return m
}

// textTransforms are the transforms that a catalog can name. They are
// idempotent and act on strings; other values pass, validation judges them.
var textTransforms = map[string]func(string) string{
	"trim":          strings.TrimSpace,
	"lower":         strings.ToLower,
	"upper":         strings.ToUpper,
	"nfc":           norm.NFC.String,
	"collapseSpace": collapseSpace,
}

// collapseSpace replaces each run of white space by one space; none is left
// at the ends.
func collapseSpace(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ") }

// Writers are the named transforms of texts: what each does, by pointer of the
// options, in their order. Transforms in Go are not among them.
func (s *Schema) Writers() map[string][]func(string) string {
	out := map[string][]func(string) string{}
	for _, t := range s.opt.Transforms {
		if write := textTransforms[t.Name]; t.Func == nil && write != nil {
			out[t.Pointer] = append(out[t.Pointer], write)
		}
	}
	return out
}

func (t *Transform) apply(v canon.Value) (out canon.Value, err error) {
	if t.Func == nil {
		if v.Kind() != canon.String {
			return v, nil
		}
		return canon.StringValue(textTransforms[t.Name](v.Text())), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("transform %q panicked", t.Name)
		}
	}()
	if out, err = t.Func(v); err != nil {
		return out, err
	}
	return out, canon.Check(out)
}

// transformed runs the transforms of m, once for one value.
func (z *normalizer) transformed(v canon.Value, m *mark) canon.Value {
	if m == nil || len(m.transforms) == 0 || !z.firstTime(z.r.pointer()) {
		return v
	}
	for i := range m.transforms {
		t := &m.transforms[i]
		out, err := t.apply(v)
		if err != nil {
			z.failed = true
			if !z.trial {
				z.r.report(RuleTransform, "a value that the transform "+clip(t.Name)+" accepts")
			}
			return v
		}
		if !canon.Equal(out, v) {
			z.noteHere(canon.ChangeTransformed, t.Name)
			v = out
		}
	}
	return v
}

// firstTime reports whether the transforms at pointer have not run yet, and
// notes that they have.
func (z *normalizer) firstTime(pointer string) bool {
	if z.done[pointer] {
		return false
	}
	if z.done == nil {
		z.done = map[string]bool{}
	}
	z.done[pointer] = true
	return true
}

// prepareTransforms checks the transforms and builds their trie.
func (s *Schema) prepareTransforms() error {
	if len(s.opt.Transforms) == 0 {
		return nil
	}
	s.marks = &mark{}
	for _, t := range s.opt.Transforms {
		_, known := textTransforms[t.Name]
		if t.Func == nil && !known {
			return &CompileError{Pointer: t.Pointer, Keyword: "transform", Reason: "has an unknown name"}
		}
		tokens, ok := canon.SplitPointer(t.Pointer)
		if !ok || len(tokens) > 0 && len(s.nodesAt(tokens, true)) == 0 {
			return &CompileError{Pointer: t.Pointer, Keyword: "transform", Reason: "names a member that the schema does not declare"}
		}
		m := s.marks.at(tokens)
		m.transforms = append(m.transforms, t)
	}
	return nil
}
