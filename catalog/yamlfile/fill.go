package yamlfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shorthand is a field that may be written as one string.
type shorthand interface{ short(text string) }

var nodeType = reflect.TypeFor[yaml.Node]()

// fill sets a struct of the file format from a node. Fields are found by
// their yaml tag, byte for byte; what has no field is a mistake.
func fill(f *faults, n *yaml.Node, v reflect.Value, field string) {
	if v.Type() == nodeType {
		v.Set(reflect.ValueOf(*n))
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		fill(f, n, v.Elem(), field)
		return
	}
	if s, ok := v.Addr().Interface().(shorthand); ok && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		s.short(n.Value)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		fillStruct(f, n, v, field)
	case reflect.Map:
		fillMap(f, n, v, field)
	case reflect.Slice:
		if want(f, n, yaml.SequenceNode, "", "a list", field) {
			v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
			for i, x := range n.Content {
				fill(f, x, v.Index(i), fmt.Sprintf("%s[%d]", field, i))
			}
		}
	case reflect.String:
		if want(f, n, yaml.ScalarNode, "!!str", "a string; quote it", field) {
			v.SetString(n.Value)
		}
	case reflect.Uint16:
		if i, err := strconv.ParseUint(n.Value, 10, 16); want(f, n, yaml.ScalarNode, "!!int", "a whole number", field) {
			if err != nil || strconv.FormatUint(i, 10) != n.Value {
				f.add(n, field, "must be a whole number up to 65535, in decimal digits")
			}
			v.SetUint(i)
		}
	case reflect.Int64:
		if i, err := strconv.ParseInt(n.Value, 10, 64); want(f, n, yaml.ScalarNode, "!!int", "a whole number", field) {
			if err != nil || strconv.FormatInt(i, 10) != n.Value {
				f.add(n, field, "must be a whole number in decimal digits")
			}
			v.SetInt(i)
		}
	case reflect.Bool:
		if want(f, n, yaml.ScalarNode, "!!bool", "true or false", field) {
			v.SetBool(strings.EqualFold(n.Value, "true"))
		}
	}
}

func want(f *faults, n *yaml.Node, kind yaml.Kind, tag, expected, field string) bool {
	if n.Kind == kind && (tag == "" || n.ShortTag() == tag) {
		return true
	}
	f.add(n, field, "must be %s", expected)
	return false
}

func fillStruct(f *faults, n *yaml.Node, v reflect.Value, field string) {
	if !want(f, n, yaml.MappingNode, "", "a mapping", field) {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		here := join(field, key.Value)
		at := slices.IndexFunc(reflect.VisibleFields(v.Type()), func(sf reflect.StructField) bool {
			return sf.Tag.Get("yaml") == key.Value && key.Value != ""
		})
		if at < 0 {
			f.add(key, here, "there is no such field")
			continue
		}
		fill(f, n.Content[i+1], v.Field(at), here)
	}
}

func fillMap(f *faults, n *yaml.Node, v reflect.Value, field string) {
	if !want(f, n, yaml.MappingNode, "", "a mapping", field) {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		x := reflect.New(v.Type().Elem()).Elem()
		fill(f, n.Content[i+1], x, join(field, name))
		v.SetMapIndex(reflect.ValueOf(name), x)
	}
}
