package schema_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

func TestF13EnforcedSaysWhatIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src, want string
		mode      schema.UnknownMode
	}{
		"silent":             {`{"properties":{"a":{}}}`, `{"additionalProperties":false,"properties":{"a":{}}}`, ""},
		"nested":             {`{"items":{"properties":{"a":{"properties":{}}}}}`, `{"items":{"additionalProperties":false,"properties":{"a":{"additionalProperties":false,"properties":{}}}}}`, ""},
		"behind a reference": {`{"$defs":{"a":{"properties":{}}},"items":{"$ref":"#/$defs/a"}}`, `{"$defs":{"a":{"additionalProperties":false,"properties":{}}},"items":{"$ref":"#/$defs/a"}}`, ""},
		"tool strips":        {`{"properties":{"a":{}}}`, `{"properties":{"a":{}}}`, schema.UnknownStrip},
		"tool keeps":         {`{"properties":{"a":{}}}`, `{"properties":{"a":{}}}`, schema.UnknownKeep},
		"schema keeps":       {`{"additionalProperties":true,"properties":{}}`, `{"additionalProperties":true,"properties":{}}`, ""},
		"tool overrules":     {`{"additionalProperties":true,"properties":{}}`, `{"additionalProperties":false,"properties":{}}`, schema.UnknownReject},
		"map":                {`{"additionalProperties":{"type":"null"},"properties":{}}`, `{"additionalProperties":{"type":"null"},"properties":{}}`, schema.UnknownReject},
		"bare":               {`{"type":"object"}`, `{"type":"object"}`, ""},
		"joined":             {`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, ""},
		"required elsewhere": {`{"properties":{},"required":["x"]}`, `{"properties":{},"required":["x"]}`, ""},
		"data is no schema":  {`{"const":{"properties":{}}}`, `{"const":{"properties":{}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile([]byte(c.src), schema.Options{Unknown: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Enforced()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestEnforcedAdmitsWhatApplyReturns: a schema that is shown must not refuse
// what would pass.
func TestEnforcedAdmitsWhatApplyReturns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src, value := drawTool(t)
		s, err := schema.Compile(src, schema.Options{Unknown: rapid.SampledFrom([]schema.UnknownMode{"", schema.UnknownReject}).Draw(t, "mode")})
		if err != nil {
			requireLoop(t, src, err)
			return
		}
		shown, err := schema.Compile(s.Enforced(), schema.Options{})
		if err != nil {
			t.Fatalf("%s: the enforced form %s does not compile: %v", src, s.Enforced(), err)
		}
		for range 3 {
			text, err := json.Marshal(value(t))
			if err != nil {
				t.Fatal(err)
			}
			v, err := canon.Decode(text, canon.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := s.Apply(v, nil)
			if err != nil {
				continue
			}
			if err := shown.Validate(out); err != nil {
				t.Fatalf("%s: %s passes, but %s refuses it: %v", src, out.Canonical(), s.Enforced(), err)
			}
		}
	})
}
