package cedar

import (
	"fmt"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/canon"
)

// convert builds the Cedar value of a place. It fails if the value has another
// type, or does not fit exactly. Members of records that fail are left out:
// [fault] has made sure before that no rule reads them.
func convert(v canon.Value, s *shape) (types.Value, bool) {
	switch s.form {
	case formBool:
		return types.Boolean(v.Bool()), v.Kind() == canon.Bool
	case formLong:
		i, ok := v.Int64()
		return types.Long(i), ok
	case formDecimal:
		d, ok := decimal(v)
		return d, ok
	case formString:
		return types.String(v.Text()), v.Kind() == canon.String
	case formArray:
		if v.Kind() != canon.Array {
			return nil, false
		}
		return array(v, s), true
	default:
		if v.Kind() != canon.Object {
			return nil, false
		}
		return record(v, s), true
	}
}

func record(v canon.Value, s *shape) types.Record {
	out := make(types.RecordMap, v.Len())
	for i := range v.Len() {
		name, value := v.Member(i)
		m, ok := s.member(name)
		if !ok || value.IsNull() {
			continue
		}
		if converted, ok := convert(value, m.shape); ok {
			out[types.String(name)] = converted
		}
	}
	return types.NewRecord(out)
}

// array is a set, which forgets order and repetition, and the length.
func array(v canon.Value, s *shape) types.Record {
	out := types.RecordMap{attrLength: types.Long(v.Len())}
	if items, ok := elements(v, s); ok {
		out[attrItems] = types.NewSet(items...)
	}
	return types.NewRecord(out)
}

// elements converts all elements or none.
func elements(v canon.Value, s *shape) ([]types.Value, bool) {
	if s.elem == nil {
		return nil, false
	}
	items := make([]types.Value, v.Len())
	for i := range items {
		if why := deepFault(v.At(i), s.elem, "", nil); why != "" {
			return nil, false
		}
		items[i], _ = convert(v.At(i), s.elem)
	}
	return items, true
}

// decimal converts a number of at most four decimal places, exactly. Cedar
// holds -922337203685477.5808 to 922337203685477.5807.
func decimal(v canon.Value) (types.Decimal, bool) {
	text := v.NumberText()
	if text == "" || strings.ContainsAny(text, "eE") {
		return types.Decimal{}, false // RFC 8785 writes an exponent from 1e21 up and below 1e-6
	}
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	d, err := types.ParseDecimal(text)
	return d, err == nil
}

// fault says why the value at a path cannot be given to a rule; "" if it can.
// It is called with the whole arguments and their shape. Its text holds
// names of the schema or of the rule, never a value.
func fault(v canon.Value, s *shape, place read, asks *reads) string {
	for i, name := range place.path {
		if s.form == formArray {
			return arrayFault(v, s, name, pointerOf(place.path[:i]))
		}
		if s.form != formRecord || v.Kind() != canon.Object {
			return fmt.Sprintf("%s is not what the schema says", pointerOf(place.path[:i]))
		}
		value, present := v.Get(name)
		if !present {
			return ""
		}
		m, ok := s.member(name)
		if !ok {
			return fmt.Sprintf("%s is not visible to policy", pointerOf(place.path[:i+1]))
		}
		if value.IsNull() {
			return nullFault(pointerOf(place.path[:i+1]), asks)
		}
		v, s = value, m.shape
	}
	if !place.deep {
		return shallowFault(v, s, place.pointer)
	}
	return deepFault(v, s, place.pointer, asks)
}

func pointerOf(path []string) string {
	pointer := ""
	for _, name := range path {
		pointer = canon.JoinPointer(pointer, name)
	}
	return pointer
}

func nullFault(pointer string, asks *reads) string {
	if asks != nil && asks.asksNull(pointer) {
		return ""
	}
	return fmt.Sprintf("%s is null and the rule does not ask context.nulls about it", pointer)
}

func arrayFault(v canon.Value, s *shape, name, pointer string) string {
	if v.Kind() != canon.Array {
		return fmt.Sprintf("%s is not what the schema says", pointer)
	}
	if name == attrItems {
		return itemsFault(v, s, pointer)
	}
	return ""
}

func itemsFault(v canon.Value, s *shape, pointer string) string {
	if s.elem == nil {
		return fmt.Sprintf("the elements of %s are not visible to policy", pointer)
	}
	for i := range v.Len() {
		if deepFault(v.At(i), s.elem, "", nil) != "" {
			return fmt.Sprintf("an element of %s does not fit the type exactly, or is null", pointer)
		}
	}
	return ""
}

// shallowFault is about the value itself: would it be in the record at all?
func shallowFault(v canon.Value, s *shape, pointer string) string {
	if s.form == formArray && v.Kind() == canon.Array || s.form == formRecord && v.Kind() == canon.Object {
		return ""
	}
	if !fits(v, s) {
		return fmt.Sprintf("%s does not fit the type %s exactly", pointer, s.form)
	}
	return ""
}

// fits reports whether [convert] takes the value.
func fits(v canon.Value, s *shape) (ok bool) {
	switch s.form {
	case formBool:
		return v.Kind() == canon.Bool
	case formLong:
		_, ok = v.Int64()
	case formDecimal:
		_, ok = decimal(v)
	case formString:
		return v.Kind() == canon.String
	case formArray:
		return v.Kind() == canon.Array
	default:
		return v.Kind() == canon.Object
	}
	return ok
}

// deepFault is about the value and all that is in it.
func deepFault(v canon.Value, s *shape, pointer string, asks *reads) string {
	if s.form == formArray && v.Kind() == canon.Array {
		return itemsFaultIfVisible(v, s, pointer)
	}
	if s.form != formRecord || v.Kind() != canon.Object {
		return shallowFault(v, s, pointer)
	}
	for i := range v.Len() {
		name, value := v.Member(i)
		m, ok := s.member(name)
		if !ok {
			return fmt.Sprintf("a member of %s is not visible to policy", orRoot(pointer))
		}
		at := canon.JoinPointer(pointer, name)
		why := ""
		if value.IsNull() {
			why = nullFault(at, asks)
		} else {
			why = deepFault(value, m.shape, at, asks)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

func itemsFaultIfVisible(v canon.Value, s *shape, pointer string) string {
	if s.elem == nil && v.Len() == 0 {
		return ""
	}
	return itemsFault(v, s, pointer)
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "the arguments"
	}
	return pointer
}

// String names the Cedar type.
func (f form) String() string {
	return [...]string{"Bool", "Long", "decimal", "String", "array", "record"}[f]
}

// nulls lists the pointers of all nulls.
func nulls(v canon.Value, pointer string, out []types.Value) []types.Value {
	switch v.Kind() {
	case canon.Null:
		out = append(out, types.String(pointer))
	case canon.Object:
		for i := range v.Len() {
			name, value := v.Member(i)
			out = nulls(value, canon.JoinPointer(pointer, name), out)
		}
	case canon.Array:
		for i := range v.Len() {
			out = nulls(v.At(i), canon.JoinIndex(pointer, i), out)
		}
	}
	return out
}
