package schema

import "slices"

// RunsForeignCode reports whether Apply calls functions that are not of this
// package. Everything else in Apply ends by itself; these may not, so whoever
// must answer in time bounds the call then.
func (s *Schema) RunsForeignCode() bool {
	return slices.ContainsFunc(s.opt.Transforms, func(t Transform) bool { return t.Func != nil })
}
