package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

var typeNames = map[string]TypeSet{
	"null": TypeNull, "boolean": TypeBoolean, "integer": TypeInteger, "number": TypeNumber,
	"string": TypeString, "array": TypeArray, "object": TypeObject,
}

func buildType(b *builder, v canon.Value) error {
	list := []canon.Value{v}
	if v.Kind() == canon.Array && v.Len() > 0 {
		list = v.Elements()
	}
	for _, t := range list {
		bit, ok := typeNames[t.Text()]
		if !ok {
			return b.fail("must be one of the seven type names, or an array of them")
		}
		if b.n.types&bit != 0 {
			return b.fail("names a type twice")
		}
		b.n.types |= bit
	}
	return nil
}

// fewValues is up to how many enum values are compared one by one.
const fewValues = 8

func buildEnum(b *builder, v canon.Value) error {
	if v.Kind() != canon.Array {
		return b.fail("must be an array")
	}
	// An empty enum admits nothing; nil would mean that there is none.
	return b.values(append([]canon.Value{}, v.Elements()...), false)
}

func buildConst(b *builder, v canon.Value) error {
	return b.values([]canon.Value{v}, true)
}

// values sets enum or const; where both stand, the value must be in both.
func (b *builder) values(list []canon.Value, isConst bool) error {
	n := b.n
	if n.enum != nil {
		list, isConst = meet(list, n.enum), true
	}
	n.enum, n.isConst, n.enumSet = list, isConst, nil
	if len(list) > fewValues {
		n.enumSet = make(map[string]struct{}, len(list))
		for _, x := range list {
			n.enumSet[string(x.Canonical())] = struct{}{}
		}
	}
	return nil
}

func contains(list []canon.Value, v canon.Value) bool {
	for i := range list {
		if canon.Equal(list[i], v) {
			return true
		}
	}
	return false
}

func buildBound(b *builder, v canon.Value) error {
	d, ok := parseDecimal(v.NumberText())
	if v.Kind() != canon.Number || !ok {
		return b.fail("must be a number")
	}
	r := b.n.numbers()
	r.bounds = append(r.bounds, bound{keyword: b.keyword, limit: d, text: v.NumberText()})
	return nil
}

func buildMultipleOf(b *builder, v canon.Value) error {
	d, ok := parseDecimal(v.NumberText())
	if v.Kind() != canon.Number || !ok || d.sign() <= 0 {
		return b.fail("must be a number above 0")
	}
	b.n.numbers().multiple = &d
	return nil
}

// maxCount caps the counts: no value can reach it.
const maxCount = 1 << 30

func (b *builder) count(v canon.Value) (int, error) {
	d, ok := parseDecimal(v.NumberText())
	if v.Kind() != canon.Number || !ok || !d.integral() || d.neg {
		return 0, b.fail("must be a whole number, 0 or above")
	}
	if d.n+d.exp > 9 {
		return maxCount, nil
	}
	count := 0
	for _, c := range d.digits[:d.n] {
		count = count*10 + int(c-'0')
	}
	for range d.exp {
		count *= 10
	}
	return count, nil
}

func buildCount(b *builder, v canon.Value) error {
	count, err := b.count(v)
	if err != nil {
		return err
	}
	switch b.keyword {
	case "minLength":
		b.n.text().min = count
	case "maxLength":
		b.n.text().max = count
	case "minItems":
		b.n.array().min = count
	case "maxItems":
		b.n.array().max = count
	case "minProperties":
		b.n.object().min = count
	case "maxProperties":
		b.n.object().max = count
	case "minContains":
		b.n.array().minContain = count
	case "maxContains":
		b.n.array().maxContain = count
	}
	return nil
}

func buildPattern(b *builder, v canon.Value) error {
	if v.Kind() != canon.String {
		return b.fail("must be a string")
	}
	re, err := compilePattern(v.Text())
	if err != nil {
		return &CompileError{Pointer: b.n.where.ptr, Keyword: b.keyword, Reason: err.Error(), Err: err}
	}
	s := b.n.text()
	s.pattern, s.source = re, v.Text()
	return nil
}

func buildUnique(b *builder, v canon.Value) error {
	if v.Kind() != canon.Bool {
		return b.fail("must be a boolean")
	}
	if v.Bool() {
		b.n.array().unique = true
	}
	return nil
}

func buildRequired(b *builder, v canon.Value) error {
	names, err := b.strings(v)
	if err != nil {
		return err
	}
	o := b.n.object()
	o.required = names
	for i, name := range names {
		s, ok := o.slots[name]
		if !ok {
			s.prop = -1
		}
		s.req = i
		o.slots[name] = s
	}
	return nil
}

func buildDependentRequired(b *builder, v canon.Value) error {
	if v.Kind() != canon.Object {
		return b.fail("must be an object of string arrays")
	}
	for i := range v.Len() {
		name, list := v.Member(i)
		names, err := b.strings(list)
		if err != nil {
			return err
		}
		b.n.dependents = append(b.n.dependents, dependent{name: name, required: names})
	}
	return nil
}

func buildFormat(b *builder, v canon.Value) error {
	if v.Kind() != canon.String {
		return b.fail("must be a string")
	}
	b.n.format = v.Text()
	return nil
}

func buildDefault(b *builder, v canon.Value) error {
	b.n.def, b.n.hasDefault = v, true
	return nil
}

func buildText(b *builder, v canon.Value) error {
	if v.Kind() != canon.String {
		return b.fail("must be a string")
	}
	if b.keyword == "title" {
		b.n.title = v.Text()
		return nil
	}
	b.n.description = v.Text()
	return nil
}
