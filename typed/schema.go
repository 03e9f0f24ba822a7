package typed

import (
	"reflect"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Schema returns the JSON Schema (2020-12) of a Go type in RFC 8785 form:
// [Decode] reads exactly what it accepts. A jsonschema field tag becomes the
// description. It fails with a [TypeError].
func Schema(t reflect.Type) ([]byte, error) {
	s, err := shapeOf(t)
	if err != nil {
		return nil, err
	}
	v := s.schema("")
	if err := canon.Check(v); err != nil {
		return nil, &TypeError{t, "(root)", "has a name or a description that JSON cannot hold"}
	}
	return v.Canonical(), nil
}

// object builds a JSON object from what a shape says.
type object []canon.Member

func (o *object) add(name string, v canon.Value) {
	*o = append(*o, canon.Member{Name: name, Value: v})
}

func (o *object) typed(name string) { o.add("type", canon.StringValue(name)) }

func (s *shape) schema(about string) canon.Value {
	if s.kind == pointer {
		return s.elem.schema(about)
	}
	var o object
	if about != "" {
		o.add("description", canon.StringValue(about))
	}
	switch s.kind {
	case boolean:
		o.typed("boolean")
	case text:
		o.typed("string")
	case number:
		o.typed("number")
	case integer:
		o.typed("integer")
		o.add("minimum", canon.IntValue(s.low))
		o.add("maximum", canon.IntValue(s.high))
	case list:
		o.typed("array")
		o.add("items", s.elem.schema(""))
		if s.length >= 0 {
			o.add("minItems", canon.IntValue(int64(s.length)))
			o.add("maxItems", canon.IntValue(int64(s.length)))
		}
	case table:
		o.typed("object")
		o.add("additionalProperties", s.elem.schema(""))
	case record:
		s.recordSchema(&o)
	}
	return canon.ObjectValue(o...)
}

func (s *shape) recordSchema(o *object) {
	var properties object
	var required []canon.Value
	for i := range s.fields {
		f := &s.fields[i]
		properties.add(f.name, f.shape.schema(f.about))
		if f.required {
			required = append(required, canon.StringValue(f.name))
		}
	}
	o.typed("object")
	o.add("properties", canon.ObjectValue(properties...))
	if len(required) > 0 {
		o.add("required", canon.ArrayValue(required...))
	}
	o.add("additionalProperties", canon.BoolValue(false))
}
