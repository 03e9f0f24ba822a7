package schema

import "github.com/seed-de4804fb/verbatim/canon"

// CompileWith compiles for Validate with documents that references may reach.
// The product has no such loader.
func CompileWith(src []byte, opt Options, load func(uri string) ([]byte, bool)) (*Schema, error) {
	return compilePure(src, opt, load)
}

// ApplyFull is Apply without the quick walk; IsQuick reports whether that
// accepts v.
func (s *Schema) ApplyFull(v canon.Value) (canon.Value, []canon.Change, error) {
	return s.apply(v, nil)
}

func (s *Schema) IsQuick(v canon.Value) bool {
	_, _, ok := s.applyQuick(v)
	return ok
}

// MatchPattern matches by the automaton, if there is one and it can tell, and
// by the regular expression.
func MatchPattern(source, text string) (quick, known, full bool, err error) {
	p, err := compilePattern(source)
	if err != nil {
		return false, false, false, err
	}
	if p.fast != nil {
		quick, known = p.fast.match(text)
	}
	return quick, known, p.re.MatchString(text), nil
}
