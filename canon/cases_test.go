package canon_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

// strict are the rules of the arguments decoder.
var strict = canon.Options{Exact: true, FoldTwins: true}

// TestFieldFaultsCanonicalize: texts that other implementations have written
// in a form of their own.
func TestFieldFaultsCanonicalize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, raw, want string }{
		{"H01 names sort by UTF-16 code units", `{"\uffff":1,"\ud800\udc00":2}`, "{\"\U00010000\":2,\"\uffff\":1}"},
		{"H01 no escape that JSON does not need", `["\u2028","\u007f","\u2029","\u00ad"]`, "[\"\u2028\",\"\x7f\",\"\u2029\",\"\u00ad\"]"},
		{"H01 small numbers", `[1e-07,0.0000001]`, `[1e-7,1e-7]`},
		{"H03 text and numbers as ECMAScript prints them", `{"name":"Caf\u00e9","y":1.0,"x":1e-06}`, `{"name":"Café","x":0.000001,"y":1}`},
		{"H05 the order of members does not count", `{"bb":1,"a":2}`, `{"a":2,"bb":1}`},
		{"H11 an escaped backslash starts no escape", `{"k":"\\ud800 is text"}`, `{"k":"\\ud800 is text"}`},
		{"H12 markup stays as it is", `{"body":"\u003e quote \u0026 <b>\/"}`, `{"body":"> quote & <b>/"}`},
		{"E12 a surrogate pair is one character", `{"text":"\ud83c\udf78"}`, "{\"text\":\"\U0001F378\"}"},
		{"E16 the empty object stays", ` { } `, `{}`},
		{"0.1, 1e2 and 1.0 are exact", `[0.1,1e2,1.0,100e-2,0.10]`, `[0.1,100,1,1,0.1]`},
		{"the largest safe integers", `[9007199254740991,-9007199254740991,9007199254740991.0]`, `[9007199254740991,-9007199254740991,9007199254740991]`},
		{"zero in any spelling", `[0,0.0,0e9,0E-99999999]`, `[0,0,0,0]`},
		{"names of JavaScript are plain", `{"__proto__":1,"prototype":2,"constructor":3}`, `{"__proto__":1,"constructor":3,"prototype":2}`},
		{"control characters keep their short escapes", `"\u0008\u0009\u000a\u000b\u000c\u000d\u0000\u001f"`, `"\b\t\n\u000b\f\r\u0000\u001f"`},
		{"no Unicode normalization", `["e\u0301","\u00e9"]`, "[\"e\u0301\",\"\u00e9\"]"},
		{"noncharacters are characters", `["\uffff","\ufdd0"]`, "[\"\uffff\",\"\ufdd0\"]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v, err := canon.Decode([]byte(tc.raw), strict)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(v.Canonical())); diff != "" {
				t.Error(diff)
			}
			again, err := canon.Decode(v.Canonical(), strict)
			if err != nil || !canon.Equal(v, again) {
				t.Errorf("the canonical form reads back differently: %v", err)
			}
		})
	}
}

// TestFieldFaultsAreRefused: texts that other implementations have rounded,
// replaced, cut or read twice in two ways.
func TestFieldFaultsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, raw, pointer, rule string
		offset                   int
	}{
		{"E01 2^53+1", `{"id":9007199254740993}`, "/id", canon.RuleUnsafeInteger, 6},
		{"E03 a snowflake", `{"sql_param":2512292042121000001}`, "/sql_param", canon.RuleUnsafeInteger, 13},
		{"E06 an id that a double holds", `{"memory_id":725653563933458432}`, "/memory_id", canon.RuleUnsafeInteger, 13},
		{"H01 2^53+1 in an array", `[9007199254740993]`, "/0", canon.RuleUnsafeInteger, 1},
		{"2^53", `9007199254740992`, "", canon.RuleUnsafeInteger, 0},
		{"-2^53 with a fraction of zero", `-9007199254740992.00`, "", canon.RuleUnsafeInteger, 0},
		{"1e20", `1e20`, "", canon.RuleUnsafeInteger, 0},
		{"2^53+1 with an exponent", `90071992547409.93e2`, "", canon.RuleUnsafeInteger, 0},
		{"more digits than a double holds", `333333333.33333329`, "", canon.RuleNumberInexact, 0},
		{"a fraction of a safe integer", `9007199254740991.5`, "", canon.RuleNumberInexact, 0},
		{"seventeen nines", `0.99999999999999999`, "", canon.RuleNumberInexact, 0},
		{"a subnormal that is printed otherwise", `4e-324`, "", canon.RuleNumberInexact, 0},
		{"E27 a long fraction", "0." + strings.Repeat("1", 131072), "", canon.RuleNumberLength, 0},
		{"E28 a large exponent", `4E31322574`, "", canon.RuleNumberOverflow, 0},
		{"V01 an exponent that breaks rationals", `{"id":1e10000000}`, "/id", canon.RuleNumberOverflow, 6},
		{"V01 a negative one", `{"id":1e-10000000}`, "/id", canon.RuleNumberUnderflow, 6},
		{"an exponent beyond every integer", `1e99999999999999999999999`, "", canon.RuleNumberOverflow, 0},
		{"V05 negative zero", `[-0]`, "/0", canon.RuleNegativeZero, 1},
		{"negative zero with a fraction", `-0.0`, "", canon.RuleNegativeZero, 0},
		{"negative zero with an exponent", `-0e10`, "", canon.RuleNegativeZero, 0},
		{"E08 case twins", `{"command":"echo ok","COMMAND":"rm -rf /"}`, "/COMMAND", canon.RuleCaseTwin, 21},
		{"V07 the long s folds", `{"params":1,"param\u017f":"x"}`, "/param\u017f", canon.RuleCaseTwin, 12},
		{"the Kelvin sign folds", `{"\u212a":1,"k":2}`, "/k", canon.RuleCaseTwin, 12},
		{"Greek sigmas fold", `{"\u03c3":1,"\u03c2":2}`, "/\u03c2", canon.RuleCaseTwin, 12},
		{"E09 duplicate names in a nested object", `{"rules":[{"id":"r1","effect":"deny","effect":"allow"}]}`, "/rules/0/effect", canon.RuleDuplicateName, 37},
		{"E10 duplicate arrays", `{"hosts":{"h":{"allow":["ls"],"allow":["rm"]}}}`, "/hosts/h/allow", canon.RuleDuplicateName, 30},
		{"V03 duplicate names", `{"id":1,"id":2}`, "/id", canon.RuleDuplicateName, 8},
		{"duplicates after unescaping", `{"id":1,"\u0069d":1}`, "/id", canon.RuleDuplicateName, 8},
		{"E13 a lone surrogate", `{"path":"caf\ud800.txt"}`, "/path", canon.RuleLoneSurrogate, 12},
		{"V04 a lone surrogate", `{"id":1,"note":"\ud800"}`, "/note", canon.RuleLoneSurrogate, 16},
		{"H08 a reversed pair", `["\ude00\ud83d"]`, "/0", canon.RuleLoneSurrogate, 2},
		{"H09 a high one", `{"k":"\ud800"}`, "/k", canon.RuleLoneSurrogate, 6},
		{"H09 a low one", `{"k":"\udc00"}`, "/k", canon.RuleLoneSurrogate, 6},
		{"H09 a reversed pair", `{"k":"\udc00\ud800"}`, "/k", canon.RuleLoneSurrogate, 6},
		{"H09 in a name", `{"\udc00":1}`, "", canon.RuleLoneSurrogate, 2},
		{"H10 a cut emoji", "{\"a\":\"\\ud83d\u00e9\"}", "/a", canon.RuleLoneSurrogate, 6},
		{"H11 after an escaped backslash", `{"k":"\\ud800 is text","v":"\ud800"}`, "/v", canon.RuleLoneSurrogate, 28},
		{"two high ones", `"\ud83d\ud83d\ude00"`, "", canon.RuleLoneSurrogate, 1},
		{"H08 a raw byte", unbase64("WyL/Il0="), "/0", canon.RuleInvalidUTF8, 2},
		{"an overlong slash", "[\"\xc0\xaf\"]", "/0", canon.RuleInvalidUTF8, 2},
		{"a surrogate in UTF-8", "[\"\\n\xed\xa0\x80\"]", "/0", canon.RuleInvalidUTF8, 4},
		{"a bad byte outside strings", "[1,\xff]", "/1", canon.RuleInvalidUTF8, 3},
		{"a bad byte in a name", "{\"\xff\":1}", "", canon.RuleInvalidUTF8, 2},
		{"E22 nesting", `{"x":` + strings.Repeat("[", 10000) + "0" + strings.Repeat("]", 10000) + "}", "/x" + strings.Repeat("/0", 63), canon.RuleDepth, 68},
		{"E14 nothing", "", "", canon.RuleEmpty, 0},
		{"E17 two values", `{"a":1}{"a":2}`, "", canon.RuleTrailingData, 7},
		{"E19 prose behind", "{\"a\":1}\n\nI'll", "", canon.RuleTrailingData, 9},
		{"E23 a fence", "```json\n{}\n```", "", canon.RuleSyntax, 0},
		{"E24 Python None", `[1, None, 3]`, "/1", canon.RuleSyntax, 4},
		{"E25 quotes inside a string", `{"content":"env.get("KEY")"}`, "", canon.RuleSyntax, 21},
		{"a byte order mark", "\ufeff{}", "", canon.RuleBOM, 0},
		{"a byte order mark inside", "[\ufeff1]", "/0", canon.RuleSyntax, 1},
		{"white space of Unicode", "[\u00a01]", "/0", canon.RuleSyntax, 1},
		{"a form feed", "[1,\f2]", "/1", canon.RuleSyntax, 3},
		{"a NUL byte behind", "1\x00", "", canon.RuleTrailingData, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v, err := canon.Decode([]byte(tc.raw), strict)
			var vs canon.Violations
			if !errors.As(err, &vs) || len(vs) != 1 {
				t.Fatalf("got error %v, want one violation", err)
			}
			if v.Kind() != canon.Invalid {
				t.Errorf("a refusal came with a %v", v.Kind())
			}
			want := canon.Violation{Pointer: tc.pointer, Rule: tc.rule, Offset: tc.offset, Expected: vs[0].Expected}
			if diff := cmp.Diff(want, vs[0]); diff != "" {
				t.Error(diff)
			}
			if vs[0].Expected == "" {
				t.Error("the refusal does not say what is expected")
			}
		})
	}
}

func unbase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestValueDecoderRoundsAsRFC8785Prints: without Options.Exact a number is
// what its nearest double is.
func TestValueDecoderRoundsAsRFC8785Prints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ raw, want string }{
		{"1E30", "1e+30"},
		{"333333333.33333329", "333333333.3333333"},
		{"9007199254740993", "9007199254740992"},
		{"1e21", "1e+21"},
		{"123456789012345678901", "123456789012345680000"},
		{"1" + strings.Repeat("0", 308), "1e+308"},
		{"0." + strings.Repeat("0", 320) + "5", "5e-321"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"2.5e-324", "5e-324"},
		{"4e-324", "5e-324"},
		{"9007199254740991.5", "9007199254740992"},
		{"0.1e1", "1"},
		{"1000000000000000000000e-21", "1"},
		{"123456.789e-3", "123.456789"},
		{"-1.50", "-1.5"},
	} {
		v, err := canon.Decode([]byte(tc.raw), canon.Options{})
		if err != nil {
			t.Errorf("%s: %v", tc.raw, err)
			continue
		}
		if diff := cmp.Diff(tc.want, v.NumberText()); diff != "" {
			t.Errorf("%s: %s", tc.raw, diff)
		}
	}
	for raw, want := range map[string]string{
		"1.7976931348623159e308": canon.RuleNumberOverflow,
		"-1e309":                 canon.RuleNumberOverflow,
		"2.4e-324":               canon.RuleNumberUnderflow,
		"1e-400":                 canon.RuleNumberUnderflow,
		"-0":                     canon.RuleNegativeZero,
	} {
		_, err := canon.Decode([]byte(raw), canon.Options{})
		if diff := cmp.Diff(want, rule(err)); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

func TestValueDecoderKeepsCaseTwins(t *testing.T) {
	t.Parallel()
	v, err := canon.Decode([]byte(`{"a":1,"A":2}`), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"A":2,"a":1}`, string(v.Canonical())); diff != "" {
		t.Error(diff)
	}
}
