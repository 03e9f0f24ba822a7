package decode_test

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/decode"
)

func ExampleArguments() {
	v, err := decode.Arguments([]byte(`{"vendor":"VENDOR-001","amount":500}`), decode.Options{})
	fmt.Println(string(v.Canonical()), err)

	known := func(pointer string) bool { return pointer == "/amount" }
	for _, raw := range []string{
		"```json\n{}\n```",
		`{"amount":1e400}`,
		`{"iban":1,"IBAN":2}`,
	} {
		_, err := decode.Arguments([]byte(raw), decode.Options{Known: known})
		fmt.Println(err)
	}
	// Output:
	// {"amount":500,"vendor":"VENDOR-001"} <nil>
	// at (root), byte 0: code_fence: expected send only the JSON object, without a code fence
	// at /amount, byte 10: number_overflow: expected a number within the range of a double; send it as a string
	// at /<unknown>, byte 10: case_twin: expected member names that differ in more than case
}
