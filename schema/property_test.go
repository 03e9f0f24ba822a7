package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// object is a JSON object under construction.
type object = map[string]any

var (
	memberNames = []string{"a", "b", "c", "A", "x-1"}
	someNumbers = []any{0, 1, 2, 3, -1, 0.5, 2.5, 0.01, 19.99, 1e15, 9007199254740991}
	someScalars = append([]any{nil, true, false, "", "a", "ab", "5", "true", "é", "[1]", `{"a":1}`}, someNumbers...)
	typeWords   = []any{"null", "boolean", "integer", "number", "string", "array", "object"}
)

func pick(t *rapid.T, list []any) any { return rapid.SampledFrom(list).Draw(t, "pick") }

// drawSchema makes a random schema out of the keywords that both engines
// read alike.
func drawSchema(t *rapid.T, depth int, defaults bool) any {
	if rapid.IntRange(0, 9).Draw(t, "boolean") == 0 {
		return rapid.IntRange(0, 3).Draw(t, "false") != 0
	}
	s := object{}
	for range rapid.IntRange(1, 3).Draw(t, "keywords") {
		if depth > 0 && rapid.Bool().Draw(t, "applicator") {
			drawApplicator(t, s, depth-1, defaults)
			continue
		}
		drawAssertion(t, s)
	}
	if defaults && rapid.IntRange(0, 9).Draw(t, "default") == 0 {
		s["default"] = drawInstance(t, 1)
	}
	return s
}

func drawAssertion(t *rapid.T, s object) {
	count := func() any { return rapid.IntRange(0, 3).Draw(t, "count") }
	number := func() any { return pick(t, someNumbers) }
	switch rapid.IntRange(0, 15).Draw(t, "assertion") {
	case 0, 1, 2:
		s["type"] = pick(t, typeWords)
	case 3:
		s["type"] = []any{"null", rapid.SampledFrom(typeWords[1:]).Draw(t, "type")}
	case 4:
		s["enum"] = []any{pick(t, someScalars), []any{1}, object{"a": 1}}
	case 5:
		s["const"] = pick(t, someScalars)
	case 6:
		s["minimum"] = number()
	case 7:
		s["exclusiveMaximum"] = number()
	case 8:
		s["multipleOf"] = rapid.SampledFrom([]any{1, 2, 0.01, 0.5, 1e-5}).Draw(t, "step")
	case 9:
		s["minLength"] = count()
	case 10:
		s["maxLength"] = count()
	case 11:
		s["pattern"] = rapid.SampledFrom([]any{"^a", "b$", "^.$", `^\d+$`, `\S`}).Draw(t, "pattern")
	case 12:
		s["uniqueItems"] = true
	case 13:
		s["maxItems"] = count()
	case 14:
		s["minProperties"] = count()
	case 15:
		s["required"] = []any{rapid.SampledFrom(memberNames).Draw(t, "name")}
	}
}

func drawApplicator(t *rapid.T, s object, depth int, defaults bool) {
	sub := func() any { return drawSchema(t, depth, defaults) }
	some := func() any { return []any{sub(), sub()} }
	name := func() string { return rapid.SampledFrom(memberNames).Draw(t, "name") }
	switch rapid.IntRange(0, 19).Draw(t, "applicator") {
	case 0, 1, 2, 3:
		s["properties"] = object{name(): sub(), name(): sub()}
	case 4:
		s["additionalProperties"] = sub()
	case 5:
		s["patternProperties"] = object{"^[a-b]": sub()}
	case 6:
		s["propertyNames"] = sub()
	case 7:
		s["items"] = sub()
	case 8:
		s["prefixItems"] = some()
	case 9:
		s["contains"] = sub()
		s["maxContains"] = 1
	case 10:
		s["allOf"] = some()
	case 11:
		s["anyOf"] = some()
	case 12, 13:
		s["oneOf"] = some()
	case 14:
		s["not"] = sub()
	case 15:
		s["if"], s["then"], s["else"] = sub(), sub(), sub()
	case 16:
		s["dependentSchemas"] = object{name(): sub()}
	case 17:
		s["unevaluatedProperties"] = sub()
	case 18:
		s["unevaluatedItems"] = sub()
	case 19:
		s["$ref"] = rapid.SampledFrom([]any{"#/$defs/d", "#/$defs/e"}).Draw(t, "ref")
	}
}

func drawDocument(t *rapid.T, defaults bool) []byte {
	root, ok := drawSchema(t, 3, defaults).(object)
	if !ok {
		root = object{}
	}
	root["$defs"] = object{"d": drawSchema(t, 2, defaults), "e": drawSchema(t, 1, defaults)}
	src, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func drawInstance(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 1:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "n"))
		for i := range list {
			list[i] = drawInstance(t, depth-1)
		}
		return list
	case 2, 3, 4:
		m := object{}
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			m[rapid.SampledFrom(memberNames).Draw(t, "name")] = drawInstance(t, depth-1)
		}
		return m
	default:
		return pick(t, someScalars)
	}
}

func drawText(t *rapid.T) []byte {
	text, err := json.Marshal(drawInstance(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// oracle is the other engine. nil means that it does not compile src.
func oracle(src []byte) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		return nil
	}
	return s
}

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("nothing is loaded") }

// accepts reports what the oracle says of v.
func accepts(t errorer, s *jsonschema.Schema, v canon.Value) bool {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.Canonical()))
	if err != nil {
		t.Fatalf("oracle decodes: %v", err)
	}
	return s.Validate(doc) == nil
}

type errorer interface{ Fatalf(string, ...any) }

// TestValidateAgreesWithAnotherEngine compares verdicts on random schemas.
func TestValidateAgreesWithAnotherEngine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := drawDocument(t, false)
		s, err := schema.Compile(src, schema.Options{})
		if err != nil {
			requireLoop(t, src, err)
			return
		}
		other := oracle(src)
		if other == nil {
			t.Fatalf("the oracle does not compile %s", src)
		}
		for range 5 {
			v, err := canon.Decode(drawText(t), canon.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := s.Validate(v) == nil, accepts(t, other, v); got != want {
				t.Fatalf("%s on %s: valid = %v, want %v", src, v.Canonical(), got, want)
			}
		}
	})
}

// requireLoop fails unless the refusal is the one that random schemas earn.
func requireLoop(t *rapid.T, src []byte, err error) {
	t.Helper()
	var ce *schema.CompileError
	if !errors.As(err, &ce) || ce.Keyword != "$ref" && ce.Keyword != "default" && ce.Keyword != "minLength" {
		t.Fatalf("%s does not compile: %v", src, err)
	}
}

func drawOptions(t *rapid.T) schema.Options {
	return schema.Options{
		Coerce:          rapid.Bool().Draw(t, "coerce"),
		NullMeansAbsent: rapid.Bool().Draw(t, "nulls"),
		Unknown:         rapid.SampledFrom([]schema.UnknownMode{"", schema.UnknownReject, schema.UnknownStrip, schema.UnknownKeep}).Draw(t, "mode"),
	}
}

// TestApplyIsIdempotentSoundAndBlindToOrder: what Apply returns is valid for
// another engine, applying again changes nothing, and neither the verdict nor
// the result depends on the order of members.
func TestApplyIsIdempotentSoundAndBlindToOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src, value := drawTool(t)
		if rapid.IntRange(0, 3).Draw(t, "wild") == 0 {
			src, value = drawDocument(t, true), func(t *rapid.T) any { return drawInstance(t, 3) }
		}
		opt := drawOptions(t)
		s, err := schema.Compile(src, opt)
		if err != nil {
			requireLoop(t, src, err)
			return
		}
		if s = withTransforms(t, s, src, opt); s == nil {
			return
		}
		other := oracle(src)
		for range 5 {
			text, err := json.Marshal(value(t))
			if err != nil {
				t.Fatal(err)
			}
			v, err := canon.Decode(text, canon.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			checkApply(t, s, other, src, v)
		}
	})
}

// withTransforms compiles again with transforms at members that exist; nil if
// a default stands in the way.
func withTransforms(t *rapid.T, s *schema.Schema, src []byte, opt schema.Options) *schema.Schema {
	for _, pointer := range []string{"/a", "/b", "/a/a", "/b/a", "/c/0", "/t", "/a/0"} {
		if s.Knows(pointer) && rapid.IntRange(0, 3).Draw(t, "transform") == 0 {
			name := rapid.SampledFrom([]string{"trim", "lower", "upper", "nfc", "collapseSpace"}).Draw(t, "name")
			opt.Transforms = append(opt.Transforms, schema.Transform{Pointer: pointer, Name: name})
		}
	}
	with, err := schema.Compile(src, opt)
	if err != nil {
		requireLoop(t, src, err)
		return nil
	}
	return with
}

func checkApply(t *rapid.T, s *schema.Schema, other *jsonschema.Schema, src []byte, v canon.Value) {
	quickAsFull(t, s, src, v)
	out, changes, err := s.Apply(v, nil)
	back, _, backErr := s.Apply(reversed(v), nil)
	if (err == nil) != (backErr == nil) || err == nil && !canon.Equal(out, back) {
		t.Fatalf("%s: order matters for %s: %v / %v", src, v.Canonical(), err, backErr)
	}
	if err != nil {
		var vs canon.Violations
		if !errors.As(err, &vs) || len(vs) == 0 || len(vs) > canon.MaxViolations {
			t.Fatalf("error is %T (%v)", err, err)
		}
		return
	}
	if len(changes) == 0 && !canon.Equal(out, v) {
		t.Fatalf("%s: %s became %s and no change is recorded", src, v.Canonical(), out.Canonical())
	}
	if other != nil && !accepts(t, other, out) {
		t.Fatalf("%s: %s became %s, which is not valid", src, v.Canonical(), out.Canonical())
	}
	if err := s.Validate(out); err != nil {
		t.Fatalf("%s: %s passes Apply, not Validate: %v", src, out.Canonical(), err)
	}
	again, changes, err := s.Apply(out, nil)
	if err != nil || len(changes) > 0 || !canon.Equal(again, out) {
		t.Fatalf("%s: %s became %s, then %s (%v, %v)", src, v.Canonical(), out.Canonical(), again.Canonical(), changes, err)
	}
}

// reversed turns the members of every object around.
func reversed(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.Array:
		elems := v.Elements()
		for i := range elems {
			elems[i] = reversed(elems[i])
		}
		return canon.ArrayValue(elems...)
	case canon.Object:
		members := v.Members()
		out := make([]canon.Member, len(members))
		for i, m := range members {
			out[len(members)-1-i] = canon.Member{Name: m.Name, Value: reversed(m.Value)}
		}
		return canon.ObjectValue(out...)
	default:
		return v
	}
}
