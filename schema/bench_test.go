package schema_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// benchSchema is a tool of ten members, as large as they commonly are.
const benchSchema = `{"type":"object","additionalProperties":false,"required":["account","amount_minor","currency"],"properties":{
	"account":{"type":"string","pattern":"^[A-Z]+-[0-9]{3,}$"},"amount_minor":{"type":"integer","minimum":1,"maximum":100000000},
	"currency":{"type":"string","enum":["USD","EUR","GBP","JPY"]},"memo":{"type":"string","maxLength":140},
	"urgent":{"type":"boolean","default":false},"tags":{"type":"array","items":{"type":"string","minLength":1},"uniqueItems":true,"maxItems":8},
	"payee":{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string","minLength":1},"country":{"type":"string","minLength":2,"maxLength":2},"tier":{"type":"integer","minimum":0,"maximum":5}}},
	"fee_percent":{"type":"number","minimum":0,"maximum":5},"reference":{"type":"string"},"channel":{"type":"string","enum":["web","api","batch"],"default":"api"}}}`

const benchText = `{"account":"VENDOR-001","amount_minor":840000,"currency":"USD","memo":"invoice 4711, second part","tags":["ops","q3","paid"],` +
	`"payee":{"name":"Vendor Ltd","country":"DE","tier":2},"fee_percent":0.25,"reference":"INV-4711","urgent":false,"channel":"web"}`

const benchBad = `{"account":"vendor","amount_minor":0,"currency":"XXX","tags":["a","a"],"payee":{"country":"DEU"},"fee_percent":9,"channel":"x"}`

func benchSubject(b *testing.B, text string) (*schema.Schema, canon.Value) {
	b.Helper()
	s, err := schema.Compile([]byte(benchSchema), schema.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return s, decode(b, text)
}

func BenchmarkValidate(b *testing.B) {
	s, v := benchSubject(b, benchText)
	for b.Loop() {
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	s, v := benchSubject(b, benchText)
	for b.Loop() {
		if _, _, err := s.Apply(v, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeAndApply(b *testing.B) {
	s, _ := benchSubject(b, benchText)
	for b.Loop() {
		v, err := canon.Decode([]byte(benchText), canon.Options{Exact: true, FoldTwins: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := s.Apply(v, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRefuse(b *testing.B) {
	s, v := benchSubject(b, benchBad)
	for b.Loop() {
		if _, _, err := s.Apply(v, nil); err == nil {
			b.Fatal("accepted")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile([]byte(benchSchema), schema.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOtherEngineValidate(b *testing.B) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(benchText)))
	if err != nil {
		b.Fatal(err)
	}
	s := oracle([]byte(benchSchema))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOtherEngineDecodeAndValidate(b *testing.B) {
	s := oracle([]byte(benchSchema))
	b.ReportAllocs()
	for b.Loop() {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(benchText)))
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			b.Fatal(err)
		}
	}
}
