package typed_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/typed"
)

var scalars = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[float64](),
	reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
}

// drawType makes a random type of those that have an exact form.
func drawType(t *rapid.T, depth int) reflect.Type {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 1:
		return reflect.SliceOf(drawType(t, depth-1))
	case 2:
		return reflect.MapOf(reflect.TypeFor[string](), drawType(t, depth-1))
	case 3:
		return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "length"), drawType(t, depth-1))
	case 4, 5:
		return drawStruct(t, depth-1)
	default:
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	}
}

func drawStruct(t *rapid.T, depth int) reflect.Type {
	var fields []reflect.StructField
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		name := string(rune('A' + i))
		typ := drawType(t, depth)
		tag := reflect.StructTag("")
		switch rapid.IntRange(0, 3).Draw(t, "optional") {
		case 1:
			tag = reflect.StructTag(`json:"` + string(rune('a'+i)) + `,omitempty"`)
		case 2:
			typ = reflect.PointerTo(typ)
		}
		fields = append(fields, reflect.StructField{Name: name, Type: typ, Tag: tag})
	}
	return reflect.StructOf(fields)
}

// drawValue makes JSON that fits typ, or nearly: now and then a part is wrong.
func drawValue(t *rapid.T, typ reflect.Type) any {
	if rapid.IntRange(0, 11).Draw(t, "wrong") == 0 {
		return rapid.SampledFrom([]any{nil, true, "x", 1.5, -1, 128, 1e12, []any{}, map[string]any{}, map[string]any{"Zz": 1}}).Draw(t, "other")
	}
	switch typ.Kind() {
	case reflect.Bool:
		return rapid.Bool().Draw(t, "bool")
	case reflect.String:
		return rapid.String().Draw(t, "string")
	case reflect.Float64:
		return float64(rapid.IntRange(-1000, 1000).Draw(t, "thousandths")) / 8
	case reflect.Pointer:
		return drawValue(t, typ.Elem())
	case reflect.Slice, reflect.Array:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		if typ.Kind() == reflect.Array {
			n = typ.Len()
		}
		list := make([]any, n)
		for i := range list {
			list[i] = drawValue(t, typ.Elem())
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			m[rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "key")] = drawValue(t, typ.Elem())
		}
		return m
	case reflect.Struct:
		return drawRecord(t, typ)
	default:
		return rapid.Int64Range(-200, 70000).Draw(t, "int")
	}
}

func drawRecord(t *rapid.T, typ reflect.Type) any {
	m := map[string]any{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if rapid.IntRange(0, 9).Draw(t, "absent") == 0 {
			continue
		}
		name := f.Name
		if f.Tag != "" {
			name = string(rune('a' + i))
		}
		m[name] = drawValue(t, f.Type)
	}
	return m
}

// TestSchemaAndDecodeAgree: a value passes the schema of a type exactly if it
// decodes into the type.
func TestSchemaAndDecodeAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		typ := drawType(t, 3)
		src, err := typed.Schema(typ)
		if err != nil {
			t.Fatalf("schema of %v: %v", typ, err)
		}
		s, err := schema.Compile(src, schema.Options{})
		if err != nil {
			t.Fatalf("compile %s: %v", src, err)
		}
		text, err := json.Marshal(drawValue(t, typ))
		if err != nil {
			t.Fatal(err)
		}
		v, err := canon.Decode(text, canon.Options{Exact: true})
		if err != nil {
			return // not in the strict domain
		}
		parsed, changes, applyErr := s.Apply(v, nil)
		dst := reflect.New(typ)
		decodeErr := typed.Decode(v, dst.Interface())
		if (applyErr == nil) != (decodeErr == nil) {
			t.Fatalf("%s for %v: schema says %v, decode says %v", text, typ, applyErr, decodeErr)
		}
		if applyErr != nil {
			return
		}
		if len(changes) > 0 || !canon.Equal(parsed, v) {
			t.Fatalf("%s: an inferred schema changed the value", text)
		}
		checkNothingLost(t, v, dst)
	})
}

// checkNothingLost writes the Go value again: every member of v must be there
// with its value.
func checkNothingLost(t *rapid.T, v canon.Value, dst reflect.Value) {
	text, err := json.Marshal(dst.Elem().Interface())
	if err != nil {
		t.Fatal(err)
	}
	back, err := canon.Decode(text, canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := within(v, back); !ok {
		t.Fatalf("lost at %q: %s became %s", at, v.Canonical(), back.Canonical())
	}
}

// within reports whether everything in a is in b. omitempty may drop members
// that hold the zero value of their type.
func within(a, b canon.Value) (string, bool) {
	if a.Kind() != b.Kind() || a.Kind() != canon.Object && a.Len() != b.Len() {
		return "", false
	}
	switch a.Kind() {
	case canon.Array:
		for i := range a.Len() {
			if at, ok := within(a.At(i), b.At(i)); !ok {
				return canon.JoinIndex("", i) + at, false
			}
		}
		return "", true
	case canon.Object:
		for _, m := range a.Members() {
			other, found := b.Get(m.Name)
			if !found && isZero(m.Value) {
				continue
			}
			if at, ok := within(m.Value, other); !ok {
				return canon.JoinPointer("", m.Name) + at, false
			}
		}
		return "", true
	default:
		return "", canon.Equal(a, b)
	}
}

func isZero(v canon.Value) bool {
	switch v.Kind() {
	case canon.Bool:
		return !v.Bool()
	case canon.Number:
		return v.NumberText() == "0"
	case canon.String:
		return v.Text() == ""
	default:
		return v.Len() == 0
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"1","lines":[{"sku":"a","count":2}]}`))
	f.Add([]byte(`{"id":1,"lines":null,"Extra":{}}`))
	src, err := typed.Schema(reflect.TypeFor[order]())
	if err != nil {
		f.Fatal(err)
	}
	s, err := schema.Compile(src, schema.Options{Unknown: schema.UnknownReject})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := canon.Decode(text, canon.Options{Exact: true})
		if err != nil {
			return
		}
		var o order
		_, _, applyErr := s.Apply(v, nil)
		if decodeErr := typed.Decode(v, &o); (applyErr == nil) != (decodeErr == nil) {
			t.Fatalf("schema says %v, decode says %v", applyErr, decodeErr)
		}
	})
}
