package schema_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// FuzzCompile: no text makes Compile panic, and a refusal says why.
func FuzzCompile(f *testing.F) {
	for _, src := range []string{
		`{}`, `true`, `{"$ref":"#"}`, sharedBranches,
		`{"type":"object","properties":{"a":{"type":"integer","default":1,"minimum":0}},"required":["a"]}`,
		`{"$id":"http://x.test/a","$defs":{"b":{"$id":"b","$anchor":"c"}},"$ref":"b#c"}`,
		`{"pattern":"^[\\s\\p{Letter}]\\u{1F600}(?<a>x)+?$","format":"uri"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"$ref":"#/definitions/a"}],"additionalItems":false,"definitions":{"a":{"$id":"#x"}}}`,
		`{"if":{"required":["a"]},"then":{"properties":{"b":{"default":[1.5]}}},"dependentSchemas":{"a":{"not":{}}},"unevaluatedProperties":false}`,
	} {
		f.Add([]byte(src), []byte(`{"a":{"b":[1,"x",null]}}`))
	}
	f.Fuzz(func(t *testing.T, src, text []byte) {
		s, err := schema.Compile(src, schema.Options{Coerce: true, NullMeansAbsent: true})
		if err != nil {
			var ce *schema.CompileError
			var vs canon.Violations
			if !errors.As(err, &ce) && !errors.As(err, &vs) {
				t.Fatalf("refused with %T: %v", err, err)
			}
			return
		}
		if s.Root() == nil || len(s.Source()) == 0 {
			t.Fatal("a compiled schema has no view or no source")
		}
		checkFuzzedApply(t, s, src, text)
	})
}

func checkFuzzedApply(t *testing.T, s *schema.Schema, src, text []byte) {
	t.Helper()
	v, err := canon.Decode(text, canon.Options{Exact: true})
	if err != nil {
		return
	}
	out, changes, err := s.Apply(v, nil)
	if err != nil {
		var vs canon.Violations
		if !errors.As(err, &vs) || len(vs) == 0 {
			t.Fatalf("%s: refused with %T: %v", src, err, err)
		}
		return
	}
	if err := canon.Check(out); err != nil {
		t.Fatalf("%s: the result is out of the strict domain: %v", src, err)
	}
	if len(changes) == 0 && !canon.Equal(out, v) {
		t.Fatalf("%s: changed without a record", src)
	}
	again, changes, err := s.Apply(out, nil)
	if err != nil || len(changes) > 0 || !canon.Equal(again, out) {
		t.Fatalf("%s: %s became %s (%v, %v)", src, out.Canonical(), again.Canonical(), changes, err)
	}
}

// FuzzApply compares verdicts with another engine, on schemas that real
// servers publish and on all texts.
func FuzzApply(f *testing.F) {
	schemas := [][]byte{
		[]byte(`{"type":"object","properties":{"amount":{"type":"number","multipleOf":0.01,"minimum":0,"maximum":10000},"to":{"type":"string","pattern":"^[A-Z]+-[0-9]{3}$"},"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true,"maxItems":3}},"required":["amount","to"]}`),
		[]byte(`{"oneOf":[{"type":"object","properties":{"op":{"const":"add"},"n":{"type":"integer"}},"required":["op"]},{"type":"object","properties":{"op":{"const":"del"},"ids":{"type":"array","contains":{"type":"integer"}}},"required":["op"],"unevaluatedProperties":false}]}`),
		[]byte(`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"l":{"$ref":"#/$defs/n"},"r":{"$ref":"#/$defs/n"},"v":{"type":["integer","null"]}},"patternProperties":{"^x":{"minLength":2}},"additionalProperties":false}}}`),
	}
	for _, text := range []string{`{"amount":19.99,"to":"VENDOR-001","tags":["a","b"]}`, `{"op":"add","n":1.0}`, `{"op":"del","ids":["x",1]}`, `{"l":{"v":null},"r":{"x1":"ab"}}`} {
		f.Add([]byte(text))
	}
	corpus, err := filepath.Glob("../testdata/vectors/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range corpus {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text)
		}
	}
	compiled, others := make([]*schema.Schema, len(schemas)), make([]*jsonschema.Schema, len(schemas))
	for i, src := range schemas {
		if compiled[i], err = schema.Compile(src, schema.Options{Unknown: schema.UnknownKeep}); err != nil {
			f.Fatal(err)
		}
		others[i] = oracle(src)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := canon.Decode(text, canon.Options{Exact: true})
		if err != nil {
			return
		}
		for i, s := range compiled {
			if got, want := s.Validate(v) == nil, accepts(t, others[i], v); got != want {
				t.Fatalf("%s on %s: valid = %v, want %v", schemas[i], text, got, want)
			}
			quickAsFull(t, s, schemas[i], v)
			checkFuzzedApply(t, s, schemas[i], text)
		}
	})
}
