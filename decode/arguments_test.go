package decode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
)

// refusal returns the only violation of a refused text.
func refusal(t *testing.T, raw string, opt decode.Options) canon.Violation {
	t.Helper()
	vs := refusals(t, raw, opt)
	if len(vs) != 1 {
		t.Fatalf("got %v, want one violation", vs)
	}
	return vs[0]
}

func refusals(t *testing.T, raw string, opt decode.Options) canon.Violations {
	t.Helper()
	v, err := decode.Arguments([]byte(raw), opt)
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) == 0 {
		t.Fatalf("got error %v, want violations", err)
	}
	if v.Kind() != canon.Invalid {
		t.Fatalf("a refusal came with a %v", v.Kind())
	}
	return vs
}

func TestWhatModelsSendInsteadOfOneObjectIsRefusedWithItsHint(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, raw, rule string
		offset          int
	}{
		{"E14 empty is not an empty object", "", canon.RuleEmpty, 0},
		{"E14 blank is not an empty object", " \n\t", canon.RuleEmpty, 3},
		{"null", "null", decode.RuleNullArguments, 0},
		{"E16 null is not an empty object", " null ", decode.RuleNullArguments, 1},
		{"array", `[{"a":1}]`, decode.RuleNotObject, 0},
		{"number", "5", decode.RuleNotObject, 0},
		{"boolean", "true", decode.RuleNotObject, 0},
		{"plain string", `"paris"`, decode.RuleNotObject, 0},
		{"string that holds an object", `"{\"a\":1}"`, decode.RuleJSONInString, 0},
		{"string that holds an array", ` " [1]"`, decode.RuleJSONInString, 1},
		{"byte order mark", "\ufeff{}", canon.RuleBOM, 0},
		{"E23 code fence", "```json\n{\"city\":\"paris\"}\n```", decode.RuleCodeFence, 0},
		{"fence after the object", "{\"city\":\"paris\"}\n```", decode.RuleCodeFence, 17},
		{"text before", `Here it is: {"a":1}`, decode.RuleTextBefore, 0},
		{"tag before", `<tool_call>{"a":1}</tool_call>`, decode.RuleTextBefore, 0},
		{"E19 prose after", "{\"query\":\"TO-DO\",\"limit\":10}\n\nI'll now search...", decode.RuleTextAfter, 30},
		{"tag after", `{"a":1}</tool_call>`, decode.RuleTextAfter, 7},
		{"E17 two objects", `{"entity":"X","rel":"works_at"}{"entity":"X","rel":"ceo_of"}`, decode.RuleSecondValue, 31},
		{"V07 two objects", `{"a":1}{"b":2}`, decode.RuleSecondValue, 7},
		{"two objects on lines", "{\"a\":1}\n{\"b\":2}", decode.RuleSecondValue, 8},
		{"two objects with a comma", `{"a":1}, {"b":2}`, decode.RuleSecondValue, 7},
		{"one bracket too many", `{"a":1}}`, canon.RuleTrailingData, 7},
		{"E24 Python None", `{"a":[1, None, 3]}`, decode.RuleForeignLiteral, 9},
		{"E24 Python None in an array", `[1, None, 3]`, decode.RuleForeignLiteral, 4},
		{"Python True", `{"a":True}`, decode.RuleForeignLiteral, 5},
		{"NaN", `{"a":NaN}`, decode.RuleForeignLiteral, 5},
		{"minus Infinity", `{"a":-Infinity}`, decode.RuleForeignLiteral, 6},
		{"undefined", `{"a":undefined}`, decode.RuleForeignLiteral, 5},
		{"None as root", `None`, decode.RuleForeignLiteral, 0},
		{"Python dict", `{'a': 1}`, decode.RuleSingleQuotes, 1},
		{"Python string", `{"a": 'b'}`, decode.RuleSingleQuotes, 6},
		{"unquoted name", `{a: 1}`, decode.RuleUnquotedName, 1},
		{"second unquoted name", `{"a": 1, b : 2}`, decode.RuleUnquotedName, 9},
		{"E25 unescaped quotes", `{"path":"a.py","content":"env.get("KEY", "default")"}`, decode.RuleUnescapedQuote, 35},
		{"trailing comma in object", `{"a":1,}`, decode.RuleTrailingComma, 7},
		{"trailing comma in array", `{"a":[1, ]}`, decode.RuleTrailingComma, 9},
		{"line comment", "{\"a\":1 // one\n}", decode.RuleComment, 7},
		{"block comment", `{/* one */"a":1}`, decode.RuleComment, 1},
		{"hash comment", "# call\n{}", decode.RuleComment, 0},
		{"plus sign", `{"a":+1}`, decode.RuleNumberSyntax, 5},
		{"bare point", `{"a":.5}`, decode.RuleNumberSyntax, 5},
		{"hexadecimal", `{"a":0x10}`, decode.RuleNumberSyntax, 6},
		{"underscores", `{"a":1_000}`, decode.RuleNumberSyntax, 6},
		{"leading zero", `{"a":007}`, decode.RuleNumberSyntax, 5},
		{"raw line break in a string", "{\"a\":\"b\nc\"}", canon.RuleControlCharacter, 7},
		{"cut off in a string", `{"a":"b`, canon.RuleTruncated, 7},
		{"cut off after a comma", `{"a":1,`, canon.RuleTruncated, 7},
		{"cut off in a literal", `{"a":tr`, canon.RuleTruncated, 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := refusal(t, tc.raw, decode.Options{})
			if diff := cmp.Diff([]any{tc.rule, tc.offset}, []any{got.Rule, got.Offset}); diff != "" {
				t.Error(diff)
			}
			if got.Expected == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestFenceHintSaysWhatToSend(t *testing.T) {
	t.Parallel()
	got := refusal(t, "```\n{}\n```", decode.Options{}).Expected
	if want := "send only the JSON object, without a code fence"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorsNameOnlyMembersThatTheSchemaKnows(t *testing.T) {
	t.Parallel()
	known := func(pointer string) bool {
		return pointer == "/items" || strings.HasPrefix(pointer, "/items/") && strings.HasSuffix(pointer, "/sku")
	}
	for _, tc := range []struct {
		name, raw, want string
		known           func(string) bool
	}{
		{"known names and indexes print", `{"items":[{"sku":1},{"sku":-0}]}`, "/items/1/sku", known},
		{"an unknown name does not", `{"items":[{"secret":-0}]}`, "/items/0/<unknown>", known},
		{"a number as a name does not", `{"items":{"4111111111111111":-0}}`, "/items/<unknown>", known},
		{"no schema knows no name", `{"secret":[-0]}`, "/<unknown>/0", nil},
		{"a duplicate of an unknown name does not print", `{"secret":1,"secret":2}`, "/<unknown>", known},
		{"escapes do not hide", `{"items":[{"s/k~u":-0}]}`, "/items/0/<unknown>", known},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := refusal(t, tc.raw, decode.Options{Known: tc.known})
			if diff := cmp.Diff(tc.want, got.Pointer); diff != "" {
				t.Error(diff)
			}
		})
	}
}
