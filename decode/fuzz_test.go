package decode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
)

// FuzzArguments: whatever comes in, there is either one exact object or one
// refusal with a place and a hint, and no text of the input in it.
func FuzzArguments(f *testing.F) {
	for _, raw := range []string{"", "null", "{}", "```json\n{}\n```", `{"a":1}{"b":2}`, `{"a":[1,None]}`, `{'a':1}`,
		`{"a":1,"A":2}`, `{"a":+1}`, `{"a":1,}`, `{a:1}`, `"{\"a\":1}"`, "{\"a\":1 // x\n}", `{"a":"x"y"}`, `[-0]`,
		`{"ZZZZ":{"ZZZZ":[1e400]}}`, `{"a":-Infinity}`, "\ufeff{}", `{"a":"\ud800"}`, `<x>{}</x>`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := decode.Arguments(raw, decode.Options{})
		if err == nil {
			if v.Kind() != canon.Object || canon.CheckWithin(v, canon.Options{Exact: true, FoldTwins: true}) != nil {
				t.Fatalf("%q: accepted outside the domain", raw)
			}
			return
		}
		var vs canon.Violations
		if !errors.As(err, &vs) || len(vs) == 0 || len(vs) > canon.MaxViolations {
			t.Fatalf("%q: %v", raw, err)
		}
		for _, got := range vs {
			if got.Rule == "" || got.Expected == "" || got.Offset < 0 || got.Offset > len(raw) {
				t.Fatalf("%q: a refusal without rule, hint or place: %+v", raw, got)
			}
			for _, token := range strings.Split(got.Pointer, "/") {
				if token != canon.UnknownName && strings.Trim(token, "0123456789") != "" {
					t.Fatalf("%q: the pointer %s shows a name", raw, got.Pointer)
				}
			}
		}
	})
}
