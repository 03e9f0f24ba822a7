package openapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// maxSchemas bounds the schemas of one operation, those that it refers to
// included.
const maxSchemas = 20_000

// maxAll bounds those of all operations together.
const maxAll = 1_000_000

var errLarge = errors.New("its schemas are too large")

// converter carries schemas of a document over into JSON Schema 2020-12, with
// those that they refer to under $defs.
type converter struct {
	doc   document
	left  int
	all   *int              // what is left for the whole document
	names map[string]string // reference: name under $defs
	order []string          // references, as they were met
	defs  []canon.Member
}

func newConverter(d document, all *int) *converter {
	return &converter{doc: d, left: maxSchemas, all: all, names: map[string]string{}}
}

// Where a keyword holds schemas.
const (
	single = iota + 1
	list
	byName
)

var holds = map[string]int{"items": single, "additionalProperties": single, "not": single, "if": single, "then": single, "else": single,
	"contains": single, "propertyNames": single, "unevaluatedItems": single, "unevaluatedProperties": single,
	"allOf": list, "anyOf": list, "oneOf": list, "prefixItems": list,
	"properties": byName, "patternProperties": byName, "dependentSchemas": byName}

// dropped say nothing about what is valid.
var dropped = map[string]bool{"example": true, "examples": true, "xml": true, "externalDocs": true, "discriminator": true, "deprecated": true,
	"$comment": true, "nullable": true, "readOnly": true, "writeOnly": true}

// refused would give a reference another base.
var refused = map[string]bool{"$id": true, "$anchor": true, "$dynamicRef": true, "$dynamicAnchor": true, "$schema": true,
	"$recursiveRef": true, "$recursiveAnchor": true, "$vocabulary": true, "$defs": true, "definitions": true}

// schema converts one schema.
func (c *converter) schema(v canon.Value, depth int) (canon.Value, error) {
	c.left--
	*c.all--
	if c.left < 0 || *c.all < 0 || depth > maxDepth {
		return canon.Value{}, errLarge
	}
	if v.Kind() == canon.Bool {
		return v, nil
	}
	if v.Kind() != canon.Object {
		return canon.Value{}, errors.New("a schema is neither an object nor true or false")
	}
	var out []canon.Member
	if ref, found := v.Get("$ref"); found {
		name, err := c.named(ref)
		if err != nil {
			return canon.Value{}, err
		}
		out = append(out, canon.Member{Name: "$ref", Value: canon.StringValue("#/$defs/" + name)})
		if c.doc.old { // its siblings are ignored (OpenAPI 3.0.3, Reference Object)
			return canon.ObjectValue(out...), nil
		}
	}
	for _, m := range v.Members() {
		x, keep, err := c.keyword(v, m, depth)
		if err != nil {
			return canon.Value{}, err
		}
		if keep {
			out = append(out, canon.Member{Name: m.Name, Value: x})
		}
	}
	return c.modern(v, canon.ObjectValue(out...))
}

// keyword converts one member of a schema.
func (c *converter) keyword(v canon.Value, m canon.Member, depth int) (x canon.Value, keep bool, err error) {
	switch {
	case m.Name == "$ref" || dropped[m.Name] || strings.HasPrefix(m.Name, "x-"):
		return x, false, nil
	case refused[m.Name]:
		return x, false, fmt.Errorf("a schema says %s", m.Name)
	case m.Name == "required":
		return c.withoutReadOnly(v, m.Value), true, nil
	}
	switch holds[m.Name] {
	case single:
		x, err = c.schema(m.Value, depth+1)
	case list:
		elems := make([]canon.Value, m.Value.Len())
		if m.Value.Kind() != canon.Array {
			return x, false, fmt.Errorf("%s is no list", m.Name)
		}
		for i := range elems {
			if elems[i], err = c.schema(m.Value.At(i), depth+1); err != nil {
				return x, false, err
			}
		}
		x = canon.ArrayValue(elems...)
	case byName:
		x, err = c.each(m, depth)
	default:
		x = m.Value
	}
	return x, true, err
}

// each converts schemas by name. Properties that only answers have are left out.
func (c *converter) each(m canon.Member, depth int) (canon.Value, error) {
	if m.Value.Kind() != canon.Object {
		return canon.Value{}, fmt.Errorf("%s is no object", m.Name)
	}
	var out []canon.Member
	for _, p := range m.Value.Members() {
		if m.Name == "properties" && c.readOnly(p.Value) {
			continue
		}
		x, err := c.schema(p.Value, depth+1)
		if err != nil {
			return canon.Value{}, err
		}
		out = append(out, canon.Member{Name: p.Name, Value: x})
	}
	return canon.ObjectValue(out...), nil
}

func (c *converter) readOnly(v canon.Value) bool {
	v, err := c.doc.follow(v)
	if err != nil || v.Kind() != canon.Object {
		return false
	}
	x, _ := v.Get("readOnly")
	return x.Kind() == canon.Bool && x.Bool()
}

// withoutReadOnly is required without those properties.
func (c *converter) withoutReadOnly(v, required canon.Value) canon.Value {
	properties, found := v.Get("properties")
	if !found || required.Kind() != canon.Array {
		return required
	}
	var out []canon.Value
	for _, name := range required.Elements() {
		if name.Kind() == canon.String {
			if p, found := properties.Get(name.Text()); found && c.readOnly(p) {
				continue
			}
		}
		out = append(out, name)
	}
	return canon.ArrayValue(out...)
}

// modern turns what 3.0 says differently into JSON Schema.
func (c *converter) modern(from, to canon.Value) (canon.Value, error) {
	if !c.doc.old {
		return to, nil
	}
	for limit, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		x, found := from.Get(exclusive)
		if !found || x.Kind() != canon.Bool {
			continue
		}
		to = to.Without("/" + exclusive)
		if n, found := from.Get(limit); found && x.Bool() {
			to = to.Without("/" + limit)
			to, _ = to.With("/"+exclusive, n)
		}
	}
	nullable, err := flagOf(from, "nullable", false)
	if err != nil || !nullable {
		return to, err
	}
	kind, found := to.Get("type")
	if !found || kind.Kind() != canon.String { // without a type, null is allowed as it is
		return to, nil
	}
	to, _ = to.With("/type", canon.ArrayValue(kind, canon.StringValue("null")))
	if enum, found := to.Get("enum"); found && enum.Kind() == canon.Array {
		to, _ = to.With("/enum", withNull(enum))
	}
	return to, nil
}

func withNull(enum canon.Value) canon.Value {
	for _, x := range enum.Elements() {
		if x.IsNull() {
			return enum
		}
	}
	return canon.ArrayValue(append(enum.Elements(), canon.NullValue())...)
}

// named gives a reference a place under $defs.
func (c *converter) named(ref canon.Value) (string, error) {
	if ref.Kind() != canon.String {
		return "", errExternal
	}
	if name, known := c.names[ref.Text()]; known {
		return name, nil
	}
	v, err := c.doc.at(ref)
	if err != nil {
		return "", err
	}
	if _, err := c.doc.follow(v); err != nil { // nothing but references, in a circle
		return "", err
	}
	name := "s" + strconv.Itoa(len(c.order)+1)
	c.names[ref.Text()] = name
	c.order = append(c.order, ref.Text())
	return name, nil
}

// finish converts what was referred to, and what that refers to.
func (c *converter) finish() ([]canon.Member, error) {
	for i := len(c.defs); i < len(c.order); i++ {
		v, err := c.doc.at(canon.StringValue(c.order[i]))
		if err != nil {
			return nil, err
		}
		x, err := c.schema(v, 0)
		if err != nil {
			return nil, err
		}
		c.defs = append(c.defs, canon.Member{Name: c.names[c.order[i]], Value: x})
	}
	return c.defs, nil
}
