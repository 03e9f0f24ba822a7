package decode_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
)

func TestArgumentsWithOneReadingAreAccepted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, raw, want string
		opt             decode.Options
	}{
		{"E16 the empty object", " {} \n", `{}`, decode.Options{}},
		{"E12 a surrogate pair", `{"text":"\ud83c\udf78"}`, "{\"text\":\"\U0001F378\"}", decode.Options{}},
		{"H12 markup", `{"body":"> quote & <b>"}`, `{"body":"> quote & <b>"}`, decode.Options{}},
		{"exact numbers in any spelling", `{"a":0.1,"b":1e2,"c":1.0}`, `{"a":0.1,"b":100,"c":1}`, decode.Options{}},
		{"names of JavaScript", `{"__proto__":{"constructor":1}}`, `{"__proto__":{"constructor":1}}`, decode.Options{}},
		{"U+0000", `{"a":"\u0000"}`, `{"a":"\u0000"}`, decode.Options{}},
		{"case twins in different objects", `{"a":{"A":1}}`, `{"a":{"A":1}}`, decode.Options{}},
		{"case twins where the catalog keeps them", `{"a":1,"A":2}`, `{"A":2,"a":1}`, decode.Options{KeepTwins: true}},
		{"JSON in a string member", `{"a":"{\"b\":1}"}`, `{"a":"{\"b\":1}"}`, decode.Options{}},
		{"a fence in a string member", "{\"a\":\"```\"}", "{\"a\":\"```\"}", decode.Options{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v, err := decode.Arguments([]byte(tc.raw), tc.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(v.Canonical())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestArgumentsWithSeveralReadingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, raw, rule string
		opt             decode.Options
	}{
		{"E01 V02 2^53+1", `{"id":9007199254740993}`, canon.RuleUnsafeInteger, decode.Options{}},
		{"E03 a snowflake", `{"sql_param":2512292042121000001}`, canon.RuleUnsafeInteger, decode.Options{}},
		{"E06 an id that a double holds", `{"memory_id":725653563933458432}`, canon.RuleUnsafeInteger, decode.Options{}},
		{"1e20", `{"a":1e20}`, canon.RuleUnsafeInteger, decode.Options{}},
		{"a rounded fraction", `{"a":333333333.33333329}`, canon.RuleNumberInexact, decode.Options{}},
		{"E08 case twins", `{"command":"echo ok","COMMAND":"rm -rf /"}`, canon.RuleCaseTwin, decode.Options{}},
		{"V07 the long s", `{"params":"a","param\u017f":"x"}`, canon.RuleCaseTwin, decode.Options{}},
		{"V03 duplicates", `{"id":1,"id":2}`, canon.RuleDuplicateName, decode.Options{}},
		{"duplicates though twins are kept", `{"id":1,"\u0069d":2}`, canon.RuleDuplicateName, decode.Options{KeepTwins: true}},
		{"E13 V04 V07 a lone surrogate", `{"note":"\ud800"}`, canon.RuleLoneSurrogate, decode.Options{}},
		{"V01 a large exponent", `{"id":1e10000000}`, canon.RuleNumberOverflow, decode.Options{}},
		{"E27 a long number", `{"id":0.` + strings.Repeat("1", 131072) + `}`, canon.RuleNumberLength, decode.Options{}},
		{"E22 depth", `{"x":` + strings.Repeat("[", 10000) + `0`, canon.RuleDepth, decode.Options{}},
		{"own depth", `{"x":[[]]}`, canon.RuleDepth, decode.Options{MaxDepth: 2}},
		{"own size", `{"x":12}`, canon.RuleSize, decode.Options{MaxBytes: 7}},
		{"own number of values", `{"x":[1,2]}`, canon.RuleNodes, decode.Options{MaxNodes: 3}},
		{"size", `{"x":"` + strings.Repeat("a", 1<<20) + `"}`, canon.RuleSize, decode.Options{}},
		{"number of values", `{"x":[` + strings.Repeat("0,", 100_000) + `0]}`, canon.RuleNodes, decode.Options{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.rule, refusal(t, tc.raw, tc.opt).Rule); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoOptionSwitchesALimitOff(t *testing.T) {
	t.Parallel()
	for _, opt := range []decode.Options{
		{MaxBytes: -1}, {MaxDepth: -1}, {MaxNodes: -1},
		{MaxBytes: canon.CeilingBytes + 1}, {MaxDepth: canon.CeilingDepth + 1}, {MaxNodes: canon.CeilingNodes + 1},
	} {
		if err := opt.Check(); !errors.Is(err, canon.ErrOptions) {
			t.Errorf("%+v: Check says %v", opt, err)
		}
		if v, err := decode.Arguments([]byte("{}"), opt); !errors.Is(err, canon.ErrOptions) || v.Kind() != canon.Invalid {
			t.Errorf("%+v: got %v, %v", opt, v.Kind(), err)
		}
	}
	if err := (decode.Options{}).Check(); err != nil {
		t.Error(err)
	}
}

func TestOneRefusalListsWhatToCorrect(t *testing.T) {
	t.Parallel()
	known := func(pointer string) bool { return pointer == "/id" || pointer == "/rate" }
	raw := `{"id":9007199254740993,"rate":-0,"secret":1,"secret":2,"note":None}`
	var got []string
	for _, v := range refusals(t, raw, decode.Options{Known: known}) {
		got = append(got, v.Pointer+" "+v.Rule)
	}
	want := []string{"/id unsafe_integer", "/rate negative_zero", "/<unknown> duplicate_name", "/<unknown> foreign_literal"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
