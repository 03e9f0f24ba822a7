package typed

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// TypeError says why a Go type has no exact JSON form.
type TypeError struct {
	Type   reflect.Type
	Path   string // Go path from the given type, such as Order.Lines[].Price
	Reason string
}

// Error names the type, its place and the reason.
func (e *TypeError) Error() string {
	return fmt.Sprintf("type %v at %s: %s", e.Type, e.Path, e.Reason)
}

// shape is how a Go type is read and written.
type shape struct {
	t      reflect.Type
	kind   kind
	low    int64  // integers
	high   int64  // integers
	elem   *shape // list, table, pointer
	length int    // fixed list; -1 for slices
	fields []field
}

type kind uint8

const (
	boolean kind = iota
	integer
	number
	text
	list
	table
	record
	pointer
	anything
)

// field is one member of a record.
type field struct {
	name     string
	index    []int
	shape    *shape
	required bool
	about    string // description
}

var (
	valueType = reflect.TypeFor[canon.Value]()
	ownForms  = []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}
)

// maxTypeDepth bounds the nesting of a type; JSON allows no deeper value.
const maxTypeDepth = canon.DefaultMaxDepth

// reader reads one type. open holds the types on the way down.
type reader struct{ open map[reflect.Type]bool }

func shapeOf(t reflect.Type) (*shape, error) {
	if t == nil {
		return nil, &TypeError{Path: "(root)", Reason: "is no type"}
	}
	r := reader{open: map[reflect.Type]bool{}}
	path := t.Name()
	if path == "" {
		path = "(root)"
	}
	return r.read(t, path)
}

func (r *reader) read(t reflect.Type, path string) (*shape, error) {
	if t == valueType {
		return &shape{t: t, kind: anything}, nil
	}
	refuse := func(reason string) (*shape, error) { return nil, &TypeError{t, path, reason} }
	if r.open[t] {
		return refuse("is recursive")
	}
	if len(r.open) >= maxTypeDepth {
		return refuse("is nested too deep")
	}
	if hasOwnForm(t) {
		return refuse("has a JSON or text form of its own; use a string or a number")
	}
	r.open[t] = true
	defer delete(r.open, t)
	switch t.Kind() {
	case reflect.Bool:
		return &shape{t: t, kind: boolean}, nil
	case reflect.String:
		return &shape{t: t, kind: text}, nil
	case reflect.Float64:
		return &shape{t: t, kind: number}, nil
	case reflect.Float32:
		return refuse("would round; use float64")
	case reflect.Interface:
		return refuse("has no shape; use canon.Value for any JSON")
	case reflect.Slice, reflect.Array:
		return r.list(t, path)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || hasOwnForm(t.Key()) {
			return refuse("is a map whose keys are not plain strings")
		}
		return r.wrap(t, table, path+"[]")
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Pointer {
			return refuse("is a pointer to a pointer")
		}
		return r.wrap(t, pointer, path)
	case reflect.Struct:
		return r.record(t, path)
	}
	if low, high, ok := integerRange(t.Kind()); ok {
		return &shape{t: t, kind: integer, low: low, high: high}, nil
	}
	return refuse("has no JSON form")
}

func hasOwnForm(t reflect.Type) bool {
	for _, own := range ownForms {
		if t.Implements(own) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

// integerRange is the range of the Go type, cut to what every JSON reader
// keeps exactly.
func integerRange(k reflect.Kind) (low, high int64, ok bool) {
	switch k {
	case reflect.Int8:
		return math.MinInt8, math.MaxInt8, true
	case reflect.Int16:
		return math.MinInt16, math.MaxInt16, true
	case reflect.Int32:
		return math.MinInt32, math.MaxInt32, true
	case reflect.Int:
		return max(math.MinInt, -canon.MaxSafeInteger), min(math.MaxInt, canon.MaxSafeInteger), true
	case reflect.Int64:
		return -canon.MaxSafeInteger, canon.MaxSafeInteger, true
	case reflect.Uint8:
		return 0, math.MaxUint8, true
	case reflect.Uint16:
		return 0, math.MaxUint16, true
	case reflect.Uint32:
		return 0, math.MaxUint32, true
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		if k == reflect.Uintptr {
			return 0, 0, false
		}
		return 0, canon.MaxSafeInteger, true
	default:
		return 0, 0, false
	}
}

func (r *reader) wrap(t reflect.Type, k kind, path string) (*shape, error) {
	elem, err := r.read(t.Elem(), path)
	if err != nil {
		return nil, err
	}
	return &shape{t: t, kind: k, elem: elem, length: -1}, nil
}

func (r *reader) list(t reflect.Type, path string) (*shape, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		return nil, &TypeError{t, path, "is bytes, which JSON has not; use a string"}
	}
	s, err := r.wrap(t, list, path+"[]")
	if err == nil && t.Kind() == reflect.Array {
		s.length = t.Len()
	}
	return s, err
}

func (r *reader) record(t reflect.Type, path string) (*shape, error) {
	s := &shape{t: t, kind: record}
	if err := r.collect(s, t, nil, path); err != nil {
		return nil, err
	}
	for i := range s.fields {
		for j := range i {
			if strings.EqualFold(s.fields[i].name, s.fields[j].name) {
				return nil, &TypeError{t, path, "has two members whose names differ at most in case: " + s.fields[i].name}
			}
		}
	}
	return s, nil
}

// collect adds the members of struct type t, those of embedded structs too.
func (r *reader) collect(s *shape, t reflect.Type, at []int, path string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), at...), i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case f.Anonymous && tag == "":
			if err := r.embed(s, f, index, path); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		}
		if err := r.member(s, f, index, tag, options, path); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) embed(s *shape, f reflect.StructField, index []int, path string) error {
	path += "." + f.Name
	if f.Type.Kind() != reflect.Struct || hasOwnForm(f.Type) {
		return &TypeError{f.Type, path, "is embedded and no plain struct; give it a json name"}
	}
	if r.open[f.Type] {
		return &TypeError{f.Type, path, "is recursive"}
	}
	r.open[f.Type] = true
	defer delete(r.open, f.Type)
	return r.collect(s, f.Type, index, path)
}

func (r *reader) member(s *shape, f reflect.StructField, index []int, name, options, path string) error {
	path += "." + f.Name
	if name == "" {
		name = f.Name
	}
	m := field{name: name, index: index, required: f.Type.Kind() != reflect.Pointer, about: f.Tag.Get("jsonschema")}
	for _, option := range strings.Split(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			m.required = false
		case "":
		default:
			return &TypeError{f.Type, path, "has the json option " + option + ", which is not supported"}
		}
	}
	var err error
	if m.shape, err = r.read(f.Type, path); err != nil {
		return err
	}
	s.fields = append(s.fields, m)
	return nil
}
