package schema_test

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"
)

// shape is a random schema as tool authors write them, with a source of
// values that fit it or nearly do.
type shape struct {
	schema object
	value  func(*rapid.T) any
}

// toolSchema collects the definitions of one document.
type toolSchema struct{ defs object }

func (d *toolSchema) draw(t *rapid.T, depth int) shape {
	kind := rapid.IntRange(0, 10).Draw(t, "shape")
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		return scalar(t, "integer", 3, []any{3, 7, "3", "7", 2.5, nil, "x"})
	case 1:
		return scalar(t, "string", "d", []any{"d", "s", " S ", "5", 5, nil, true})
	case 2:
		return scalar(t, "boolean", true, []any{true, false, "true", "no", nil, 1})
	case 3, 4:
		return d.object(t, depth-1)
	case 5:
		return d.list(t, depth-1)
	case 6:
		return d.tagged(t, depth-1)
	case 7:
		return d.conditional(t, depth-1)
	case 8:
		return d.both(t, depth-1)
	case 9:
		return d.either(t, depth-1)
	default:
		return d.reference(t, depth-1)
	}
}

func maybe(t *rapid.T, oneIn int) bool { return rapid.IntRange(1, oneIn).Draw(t, "maybe") == 1 }

func scalar(t *rapid.T, typ string, def any, values []any) shape {
	s := object{"type": typ}
	if maybe(t, 2) {
		s["default"] = def
	}
	return shape{s, func(t *rapid.T) any {
		if maybe(t, 2) {
			return values[0]
		}
		return rapid.SampledFrom(values).Draw(t, "scalar")
	}}
}

func (d *toolSchema) object(t *rapid.T, depth int) shape {
	properties, values, required := object{}, map[string]func(*rapid.T) any{}, []any{}
	for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "members")] {
		s := d.draw(t, depth)
		properties[name], values[name] = s.schema, s.value
		if maybe(t, 3) {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties, "required": required}
	switch rapid.IntRange(0, 4).Draw(t, "additional") {
	case 0:
		s["additionalProperties"] = false
	case 1:
		s["additionalProperties"] = true
	case 2:
		s["unevaluatedProperties"] = false
	}
	if maybe(t, 6) {
		s["default"] = object{}
	}
	return shape{s, func(t *rapid.T) any { return drawMembers(t, values) }}
}

// drawMembers makes an object; now and then it is JSON in a string.
func drawMembers(t *rapid.T, values map[string]func(*rapid.T) any) any {
	m := object{}
	for _, name := range []string{"a", "b", "c", "t"} {
		if value, ok := values[name]; ok && !maybe(t, 3) {
			m[name] = value(t)
		}
	}
	if maybe(t, 10) {
		m["zz"] = 1
	}
	if !maybe(t, 8) {
		return m
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (d *toolSchema) list(t *rapid.T, depth int) shape {
	s := d.draw(t, depth)
	return shape{object{"type": "array", "items": s.schema}, func(t *rapid.T) any {
		list := make([]any, rapid.IntRange(0, 2).Draw(t, "n"))
		for i := range list {
			list[i] = s.value(t)
		}
		return list
	}}
}

// tagged is a oneOf that a const member tells apart.
func (d *toolSchema) tagged(t *rapid.T, depth int) shape {
	p, q := d.object(t, depth), d.object(t, depth)
	for i, s := range []shape{p, q} {
		s.schema["properties"].(object)["t"] = object{"const": fmt.Sprint(i)}
		if maybe(t, 2) {
			s.schema["required"] = append(s.schema["required"].([]any), "t")
		}
	}
	tag := func(t *rapid.T) any { return rapid.SampledFrom([]any{"0", "1", "1", 1}).Draw(t, "tag") }
	return shape{object{"oneOf": []any{p.schema, q.schema}}, withTag(p, q, tag)}
}

func withTag(p, q shape, tag func(*rapid.T) any) func(*rapid.T) any {
	return func(t *rapid.T) any {
		v := p.value(t)
		if maybe(t, 2) {
			v = q.value(t)
		}
		if m, ok := v.(object); ok && !maybe(t, 6) {
			m["t"] = tag(t)
		}
		return v
	}
}

func (d *toolSchema) conditional(t *rapid.T, depth int) shape {
	base, then, otherwise := d.object(t, depth), d.object(t, depth), d.object(t, depth)
	base.schema["properties"].(object)["t"] = object{"type": "integer"}
	test := object{"properties": object{"t": object{"const": 1}}}
	if maybe(t, 2) {
		test["required"] = []any{"t"}
	}
	base.schema["if"], base.schema["then"], base.schema["else"] = test, then.schema, otherwise.schema
	tag := func(t *rapid.T) any { return rapid.SampledFrom([]any{1, 2, "1"}).Draw(t, "tag") }
	return shape{base.schema, withTag(then, otherwise, tag)}
}

func (d *toolSchema) both(t *rapid.T, depth int) shape {
	p, q := d.object(t, depth), d.object(t, depth)
	return shape{object{"allOf": []any{p.schema, q.schema}}, p.value}
}

// either is an alternative without a tag, or a nullable value.
func (d *toolSchema) either(t *rapid.T, depth int) shape {
	p, q := d.draw(t, depth), shape{object{"type": "null"}, func(*rapid.T) any { return nil }}
	if maybe(t, 2) {
		q = d.draw(t, depth)
	}
	keyword := rapid.SampledFrom([]string{"anyOf", "oneOf"}).Draw(t, "keyword")
	return shape{object{keyword: []any{p.schema, q.schema}}, func(t *rapid.T) any {
		if maybe(t, 3) {
			return q.value(t)
		}
		return p.value(t)
	}}
}

func (d *toolSchema) reference(t *rapid.T, depth int) shape {
	s := d.draw(t, depth)
	name := fmt.Sprint(len(d.defs))
	d.defs[name] = s.schema
	return shape{object{"$ref": "#/$defs/" + name}, s.value}
}

// drawTool makes a document and the source of its arguments.
func drawTool(t *rapid.T) ([]byte, func(*rapid.T) any) {
	d := toolSchema{defs: object{}}
	s := d.object(t, 3)
	if maybe(t, 4) {
		s = d.tagged(t, 3)
	}
	s.schema["$defs"] = d.defs
	src, err := json.Marshal(s.schema)
	if err != nil {
		t.Fatal(err)
	}
	return src, s.value
}
