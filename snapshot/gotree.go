package snapshot

import (
	"math"
	"reflect"
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// goDomain is what the refusal of a Go type tells.
const goDomain = "nil, bool, string, int, uint, float64, []any, map[string]any or canon.Value"

// walk turns a Go value into a tree of its own. It looks at exact types only:
// a named type, even one over string, may carry methods that give another
// text than its bytes.
type walk struct {
	check
	maps  map[uintptr]struct{} // maps seen; a second sight is an alias or a cycle
	elems map[*any]struct{}    // slice elements seen; the same for slices
}

// tree walks the root. That it is an object is for Freeze to check.
func (w *walk) tree(v any) canon.Value {
	w.maps, w.elems = map[uintptr]struct{}{}, map[*any]struct{}{}
	return w.goValue(v, place{}, 1)
}

func (w *walk) goValue(v any, at place, depth int) canon.Value {
	switch x := v.(type) {
	case []any:
		return w.slice(x, at, depth)
	case map[string]any:
		return w.object(x, at, depth)
	case canon.Value:
		return x // immutable, so it is detached already; Freeze checks it
	}
	if !w.enter(at, 0) {
		return canon.Value{}
	}
	switch x := v.(type) {
	case nil:
		return canon.NullValue()
	case bool:
		return canon.BoolValue(x)
	case string:
		w.text(x, at)
		return canon.StringValue(x)
	case float64:
		return w.float(x, at)
	default:
		return w.integer(v, at)
	}
}

// integer accepts the built-in integer types and refuses the rest.
func (w *walk) integer(v any, at place) canon.Value {
	switch x := v.(type) {
	case int:
		return w.signed(int64(x), at)
	case int8:
		return w.signed(int64(x), at)
	case int16:
		return w.signed(int64(x), at)
	case int32:
		return w.signed(int64(x), at)
	case int64:
		return w.signed(x, at)
	case uint:
		return w.unsigned(uint64(x), at)
	case uint8:
		return w.unsigned(uint64(x), at)
	case uint16:
		return w.unsigned(uint64(x), at)
	case uint32:
		return w.unsigned(uint64(x), at)
	case uint64:
		return w.unsigned(x, at)
	default:
		// The type's name comes from the program, not from the arguments.
		w.refuse(at, RuleGoType, goDomain+", not "+reflect.TypeOf(v).String())
		return canon.Value{}
	}
}

func (w *walk) signed(i int64, at place) canon.Value {
	v := canon.IntValue(i)
	if v.Kind() == canon.Invalid {
		w.refuse(at, canon.RuleUnsafeInteger, "an integer within ±9007199254740991; send it as a string")
	}
	return v
}

func (w *walk) unsigned(u uint64, at place) canon.Value {
	return w.signed(int64(min(u, math.MaxInt64)), at)
}

func (w *walk) float(f float64, at place) canon.Value {
	v, err := canon.FloatValue(f)
	switch {
	case err != nil && f == 0:
		w.refuse(at, canon.RuleNegativeZero, "0 without a sign")
	case err != nil:
		w.refuse(at, canon.RuleNumberOverflow, "a finite number")
	default:
		w.number(f, at)
	}
	return v
}

func (w *walk) slice(s []any, at place, depth int) canon.Value {
	if !w.enter(at, depth) {
		return canon.Value{}
	}
	if s == nil {
		w.refuse(at, RuleTypedNil, "nil without a type, or an empty slice")
		return canon.Value{}
	}
	if w.seen(s) {
		w.refuse(at, RuleReference, "a slice that shares no element with another")
		return canon.Value{}
	}
	elems := make([]canon.Value, len(s))
	for i := range s {
		elems[i] = w.goValue(s[i], place{parent: &at, index: i, elem: true}, depth+1)
		if w.stopped {
			return canon.Value{}
		}
	}
	return canon.ArrayValue(elems...)
}

// seen reports whether an element of s belongs to a slice met before, and
// remembers them. An empty slice has no element, so it is never an alias.
func (w *walk) seen(s []any) bool {
	if len(s) > w.limits.nodes() {
		return false // the node limit refuses it before it matters
	}
	for i := range s {
		if _, ok := w.elems[&s[i]]; ok {
			return true
		}
	}
	for i := range s {
		w.elems[&s[i]] = struct{}{}
	}
	return false
}

func (w *walk) object(m map[string]any, at place, depth int) canon.Value {
	if !w.enter(at, depth) {
		return canon.Value{}
	}
	if m == nil {
		w.refuse(at, RuleTypedNil, "nil without a type, or an empty map")
		return canon.Value{}
	}
	id := reflect.ValueOf(m).Pointer()
	if _, ok := w.maps[id]; ok {
		w.refuse(at, RuleReference, "a map that is reached once")
		return canon.Value{}
	}
	w.maps[id] = struct{}{}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names) // refusals come in one order
	members := make([]canon.Member, 0, len(names))
	for _, name := range names {
		here := place{parent: &at, name: name}
		w.text(name, here)
		members = append(members, canon.Member{Name: name, Value: w.goValue(m[name], here, depth+1)})
		if w.stopped {
			return canon.Value{}
		}
	}
	return canon.ObjectValue(members...)
}
