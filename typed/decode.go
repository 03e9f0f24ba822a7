package typed

import (
	"errors"
	"reflect"
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// ErrTarget is returned where the target of Decode is not a non-nil pointer.
var ErrTarget = errors.New("target is not a non-nil pointer")

// Decode fills what dst points to from v. Names match byte for byte, unknown
// members and missing required ones are refused, numbers are never rounded.
// Members that are absent are zero. It fails with [ErrTarget], a [TypeError]
// or [canon.Violations]; *dst is then as it was.
func Decode(v canon.Value, dst any) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return ErrTarget
	}
	s, err := shapeOf(target.Type().Elem())
	if err != nil {
		return err
	}
	if err := canon.Check(v); err != nil {
		return err
	}
	fresh := reflect.New(s.t).Elem()
	var d decoder
	d.into(s, v, fresh, "")
	if len(d.found) > 0 {
		return d.found
	}
	target.Elem().Set(fresh)
	return nil
}

type decoder struct{ found canon.Violations }

func (d *decoder) refuse(pointer, rule, expected string) {
	if len(d.found) < canon.MaxViolations {
		d.found = append(d.found, canon.Violation{Pointer: pointer, Rule: rule, Expected: expected, Offset: -1})
	}
}

// wanted is the JSON kind of each shape.
var wanted = [...]canon.Kind{
	boolean: canon.Bool, integer: canon.Number, number: canon.Number, text: canon.String,
	list: canon.Array, table: canon.Object, record: canon.Object,
}

func (d *decoder) into(s *shape, v canon.Value, dst reflect.Value, at string) {
	switch s.kind {
	case anything:
		dst.Set(reflect.ValueOf(v))
		return
	case pointer:
		dst.Set(reflect.New(s.elem.t))
		d.into(s.elem, v, dst.Elem(), at)
		return
	}
	if want := wanted[s.kind]; v.Kind() != want {
		name := want.String()
		if s.kind == integer {
			name = "integer"
		}
		d.refuse(at, "type", name)
		return
	}
	switch s.kind {
	case boolean:
		dst.SetBool(v.Bool())
	case text:
		dst.SetString(v.Text())
	case number:
		dst.SetFloat(v.Float64())
	case integer:
		d.integer(s, v, dst, at)
	case list:
		d.list(s, v, dst, at)
	case table:
		d.table(s, v, dst, at)
	case record:
		d.record(s, v, dst, at)
	}
}

func (d *decoder) integer(s *shape, v canon.Value, dst reflect.Value, at string) {
	i, ok := v.Int64()
	switch {
	case !ok:
		d.refuse(at, "type", "an integer within ±(2^53-1)")
	case i < s.low:
		d.refuse(at, "minimum", strconv.FormatInt(s.low, 10)+" or more")
	case i > s.high:
		d.refuse(at, "maximum", strconv.FormatInt(s.high, 10)+" or less")
	case dst.CanInt():
		dst.SetInt(i)
	default:
		dst.SetUint(uint64(i)) // s.low is 0
	}
}

func (d *decoder) list(s *shape, v canon.Value, dst reflect.Value, at string) {
	switch {
	case s.length < 0:
		dst.Set(reflect.MakeSlice(s.t, v.Len(), v.Len()))
	case v.Len() < s.length:
		d.refuse(at, "minItems", strconv.Itoa(s.length)+" elements")
		return
	case v.Len() > s.length:
		d.refuse(at, "maxItems", strconv.Itoa(s.length)+" elements")
		return
	}
	for i := range v.Len() {
		d.into(s.elem, v.At(i), dst.Index(i), canon.JoinIndex(at, i))
	}
}

func (d *decoder) table(s *shape, v canon.Value, dst reflect.Value, at string) {
	dst.Set(reflect.MakeMapWithSize(s.t, v.Len()))
	for i := range v.Len() {
		name, x := v.Member(i)
		elem := reflect.New(s.elem.t).Elem()
		d.into(s.elem, x, elem, canon.JoinPointer(at, canon.UnknownName))
		dst.SetMapIndex(reflect.ValueOf(name).Convert(s.t.Key()), elem)
	}
}

func (d *decoder) record(s *shape, v canon.Value, dst reflect.Value, at string) {
	fields := make(map[string]*field, len(s.fields))
	for i := range s.fields {
		fields[s.fields[i].name] = &s.fields[i]
	}
	for i := range v.Len() {
		name, x := v.Member(i)
		f, ok := fields[name]
		if !ok {
			d.refuse(canon.JoinPointer(at, canon.UnknownName), "unknown_member", "declared members only")
			continue
		}
		delete(fields, name)
		d.into(f.shape, x, dst.FieldByIndex(f.index), canon.JoinPointer(at, name))
	}
	for i := range s.fields {
		f := &s.fields[i]
		if _, missing := fields[f.name]; missing && f.required {
			d.refuse(canon.JoinPointer(at, f.name), "required", "the member, which is required")
		}
	}
}
