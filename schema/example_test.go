package schema_test

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// A tool's schema is compiled once, when the catalog loads. What Apply returns
// is what is authorized; the changes say how it differs from what was asked.
func ExampleSchema_Apply() {
	s, err := schema.Compile([]byte(`{
		"type": "object",
		"properties": {
			"account": {"type": "string"},
			"amount": {"type": "integer", "minimum": 1},
			"currency": {"type": "string", "default": "USD"}
		},
		"required": ["account", "amount"]
	}`), schema.Options{Coerce: true, Unknown: schema.UnknownStrip})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{
		`{"account": "VENDOR-001", "amount": "500", "note": "thanks"}`,
		`{"amount": 0.5}`,
	} {
		v, err := canon.Decode([]byte(text), canon.Options{Exact: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		parsed, changes, err := s.Apply(v, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s\n", parsed.Canonical())
		for _, c := range changes {
			fmt.Println(c.Pointer, c.Kind)
		}
	}
	// Output:
	// {"account":"VENDOR-001","amount":500,"currency":"USD"}
	// /currency default
	// /amount coerced
	// /note stripped
	// at /amount: type: expected integer; at /account: required: expected the member, which is required
}
