package bench

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"testing"

	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/schema"
)

// paySchema is a tool of ten members, as large as they commonly are.
const paySchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
"required":["vendor","amount_minor","currency","creditor_account"],
"properties":{
"vendor":{"type":"string","minLength":1,"maxLength":120},
"amount_minor":{"type":"integer","exclusiveMinimum":0,"maximum":1000000000},
"currency":{"type":"string","enum":["USD","EUR","GBP","JPY","CHF"]},
"creditor_account":{"type":"string","pattern":"^[A-Z]+-[0-9]{3,8}$"},
"memo":{"type":"string","maxLength":500},
"urgent":{"type":"boolean","default":false},
"attempts":{"type":"integer","minimum":0,"maximum":5,"default":3},
"labels":{"type":"array","items":{"type":"string","maxLength":40},"maxItems":20,"uniqueItems":true},
"schedule":{"type":"object","additionalProperties":false,"required":["at"],
"properties":{"at":{"type":"string"},"zone":{"type":"string","default":"UTC"}}},
"priority":{"enum":["low","normal","high"],"default":"normal"}}}`

// payFull has all ten members; payShort leaves four to their defaults; payBad
// is wrong in seven places.
const (
	payFull = `{"vendor":"Vendor A","amount_minor":840050,"currency":"USD","creditor_account":"VENDOR-001","memo":"Invoice 4711, second part",` +
		`"urgent":true,"attempts":2,"labels":["ap","q3","ok"],"schedule":{"at":"2026-12-01T09:00:00Z","zone":"UTC"},"priority":"high"}`
	payShort = `{"vendor": "Vendor A", "amount_minor": 840000, "currency": "USD", "creditor_account": "VENDOR-001", ` +
		`"memo": "Invoice 4711, second part", "labels": ["ap", "q3"], "schedule": {"at": "2026-12-01T09:00:00Z"}}`
	payBad = `{"vendor":"","amount_minor":-1,"currency":"XXX","creditor_account":"vendor","labels":["a","a"],"schedule":{"zone":"UTC"},"extra":1}`
)

// schemas are the compiled forms of paySchema.
type schemas struct {
	ours   *schema.Schema
	strict *jsonschema.Schema // santhosh
	google *google.Resolved
}

func compileAll(t *testing.T) schemas {
	t.Helper()
	ours, err := schema.Compile([]byte(paySchema), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return schemas{ours, compileSanthosh(t), compileGoogle(t)}
}

func compileSanthosh(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(paySchema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("pay.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("pay.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compileGoogle(t *testing.T) *google.Resolved {
	t.Helper()
	var s google.Schema
	if err := stdjson.Unmarshal([]byte(paySchema), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// apply decodes and parses once: validation and normalization.
func (s schemas) apply(raw []byte) (canon.Value, error) {
	v, err := decode.Arguments(raw, decode.Options{Known: s.ours.Known()})
	if err != nil {
		return canon.Value{}, err
	}
	v, _, err = s.ours.Apply(v, nil)
	return v, err
}

func (s schemas) santhosh(raw []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.strict.Validate(v)
}

func (s schemas) googles(raw []byte) error {
	var v map[string]any
	if err := stdjson.Unmarshal(raw, &v); err != nil {
		return err
	}
	if err := s.google.ApplyDefaults(&v); err != nil {
		return err
	}
	return s.google.Validate(v)
}

const (
	oursSchema = "verbatim, decode, validate, normalize"
	asSanthosh = "santhosh/jsonschema, decode, validate"
	asGoogle   = "google/jsonschema-go, with defaults"

	wholeCall = "all members"
)

// TestSchema prints how long it takes to decode, validate and normalize.
func TestSchema(t *testing.T) {
	s := compileAll(t)
	judgeAlike(t, s)
	for _, in := range []text{{wholeCall, []byte(payFull)}, {"four members absent", []byte(payShort)}} {
		tree, err := decode.Arguments(in.raw, decode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		figures := measure(t, []subject{
			{oursSchema, func() error { _, err := s.apply(in.raw); return err }},
			{"verbatim, of a decoded tree", func() error { _, _, err := s.ours.Apply(tree, nil); return err }},
			{"verbatim, validation of a tree", func() error { return s.ours.Validate(tree) }},
			{asSanthosh, func() error { return s.santhosh(in.raw) }},
			{asGoogle, func() error { return s.googles(in.raw) }},
		})
		table(fmt.Sprintf("schema of ten members, %s (%d bytes)", in.name, len(in.raw)), oursSchema, figures)
		if in.name == wholeCall {
			faster(figures, oursSchema, asSanthosh, 5)
		} else { // it fills in nothing, so that it has less to do
			inform(figures, oursSchema, asSanthosh)
		}
		faster(figures, oursSchema, asGoogle, 10)
		leaner(figures, oursSchema, 10)
	}
	refusals(t, s)
}

// judgeAlike checks that what is timed gives one answer.
func judgeAlike(t *testing.T, s schemas) {
	t.Helper()
	for _, in := range []struct {
		raw  string
		good bool
	}{{payFull, true}, {payShort, true}, {payBad, false}} {
		_, ours := s.apply([]byte(in.raw))
		for who, err := range map[string]error{
			"verbatim": ours, "santhosh": s.santhosh([]byte(in.raw)), "google": s.googles([]byte(in.raw)),
		} {
			if (err == nil) != in.good {
				t.Fatalf("%s judges %s: %v", who, in.raw, err)
			}
		}
	}
}

// refusals prints what seven violations cost. Google stops at the first.
func refusals(t *testing.T, s schemas) {
	t.Helper()
	refused := func(err error) error {
		if err == nil {
			return errors.New("accepted")
		}
		return nil
	}
	figures := measure(t, []subject{
		{oursSchema, func() error { _, err := s.apply([]byte(payBad)); return refused(err) }},
		{asSanthosh, func() error { return refused(s.santhosh([]byte(payBad))) }},
		{asGoogle, func() error { return refused(s.googles([]byte(payBad))) }},
	})
	table("schema of ten members, seven violations", oursSchema, figures)
}
