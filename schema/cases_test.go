package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// fieldCase is one fault from the field: what a schema does with one text.
type fieldCase struct {
	schema string
	opt    schema.Options
	in     string
	out    string   // "" if refused
	want   []string // violations or changes; nil is not compared
}

func (c fieldCase) run(t *testing.T) {
	t.Helper()
	s, err := schema.Compile([]byte(c.schema), c.opt)
	if err != nil {
		t.Fatal(err)
	}
	out, changes, err := s.Apply(decode(t, c.in), nil)
	if c.out == "" {
		if diff := cmp.Diff(c.want, violationTexts(t, err)); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", c.in, err)
	}
	if want := string(decode(t, c.out).Canonical()); want != string(out.Canonical()) {
		t.Errorf("%s: got %s, want %s", c.in, out.Canonical(), want)
	}
	if diff := cmp.Diff(c.want, changeTexts(changes)); c.want != nil && diff != "" {
		t.Errorf("%s: %s", c.in, diff)
	}
}

var coerce = schema.Options{Coerce: true}

func TestA02DefaultIsInWhatPolicySees(t *testing.T) {
	t.Parallel()
	fieldCase{
		schema: `{"type":"object","properties":{"amount":{"type":"integer","default":500}}}`,
		in:     `{}`, out: `{"amount":500}`, want: []string{"/amount default"},
	}.run(t)
}

func TestA02RequestedStaysAsDecoded(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"o":{"properties":{"n":{"type":"integer"},"d":{"default":1}}},"l":{"items":{"type":"integer"}}}}`), coerce)
	if err != nil {
		t.Fatal(err)
	}
	in := decode(t, `{"o":{"n":"5"},"l":["1"]}`)
	before := string(in.Canonical())
	if _, _, err := s.Apply(in, nil); err != nil {
		t.Fatal(err)
	}
	if after := string(in.Canonical()); after != before {
		t.Errorf("the requested value became %s", after)
	}
}

func TestA09MissingMemberIsNamed(t *testing.T) {
	t.Parallel()
	fieldCase{
		schema: `{"type":"object","required":["command"],"properties":{"command":{"type":"string"},"description":{"type":"string"}}}`,
		in:     `{"description":"Push git changes to remote"}`, want: []string{"/command required"},
	}.run(t)
}

func TestA10OneSchemaJudgesAndShows(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"cmd":{"type":"string"}},"required":["cmd"]}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, applied := s.Apply(decode(t, `{}`), nil)
	if diff := cmp.Diff([]string{"/cmd required"}, violationTexts(t, applied)); diff != "" {
		t.Error(diff)
	}
	p, ok := s.Root().Property("cmd")
	if !ok || !p.Required || !s.Knows("/cmd") || s.Knows("/command") {
		t.Error("the typed view and Apply disagree about cmd")
	}
}

func TestE27LongNumberNeverReachesTheSchema(t *testing.T) {
	t.Parallel()
	text := "0." + strings.Repeat("1", 131072)
	if _, err := canon.Decode([]byte(text), canon.Options{Exact: true}); err == nil {
		t.Error("a number of 131072 digits was decoded")
	}
	s, err := schema.Compile([]byte(`{"properties":{"n":{"minimum":0,"type":"number"}}}`), coerce)
	if err != nil {
		t.Fatal(err)
	}
	v := canon.ObjectValue(canon.Member{Name: "n", Value: canon.StringValue(text)})
	if _, _, err := s.Apply(v, nil); err == nil {
		t.Error("a number of 131072 digits was coerced")
	}
}

func TestE28AndV01HugeExponentIsRefusedWithoutPanic(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"4E31322574", "1e10000000", "1e400"} {
		if _, err := canon.Decode([]byte(text), canon.Options{}); err == nil {
			t.Errorf("%s was decoded", text)
		}
		s, err := schema.Compile([]byte(`{"properties":{"id":{"type":"number","maximum":10,"multipleOf":0.5}}}`), coerce)
		if err != nil {
			t.Fatal(err)
		}
		v := canon.ObjectValue(canon.Member{Name: "id", Value: canon.StringValue(text)})
		_, _, err = s.Apply(v, nil)
		if diff := cmp.Diff([]string{"/id type"}, violationTexts(t, err)); diff != "" {
			t.Error(diff)
		}
		if _, err := schema.Compile([]byte(`{"maximum":`+text+`}`), schema.Options{}); err == nil {
			t.Errorf("maximum %s compiled", text)
		}
	}
}

func TestV01AFaultOfTheEngineRefuses(t *testing.T) {
	t.Parallel()
	var broken schema.Schema // never compiled: every use of it is a fault
	err := broken.Validate(canon.NullValue())
	if diff := cmp.Diff([]string{"(root) " + schema.RuleBroken}, violationTexts(t, err)); diff != "" {
		t.Error(diff)
	}
	_, _, err = broken.Apply(canon.NullValue(), nil)
	if diff := cmp.Diff([]string{"(root) " + schema.RuleBroken}, violationTexts(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestV06NumbersKeepTheirDecimalValue(t *testing.T) {
	t.Parallel()
	base := `{"properties":{"n":{"type":"integer","maximum":9007199254740990},"p":{"type":"number","multipleOf":0.01}}}`
	fieldCase{schema: base, in: `{"n":1,"p":19.99}`, out: `{"n":1,"p":19.99}`}.run(t)
	fieldCase{schema: base, in: `{"n":9007199254740991}`, want: []string{"/n maximum"}}.run(t)
	fieldCase{schema: `{"properties":{"t":{"format":"date-time"}}}`, in: `{"t":"tomorrow"}`, want: []string{"/t format"}}.run(t)
}

func TestF02CoercedAndNativeInputAreOneValue(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"user":{"type":"object","properties":{"username":{"type":"string"},"age":{"type":"integer"}}}}}`
	native := `{"user":{"username":"t","age":25}}`
	fieldCase{schema: src, opt: coerce, in: `{"user":"{\"username\":\"t\",\"age\":25}"}`, out: native}.run(t)
	fieldCase{schema: src, opt: coerce, in: native, out: native, want: []string{}}.run(t)
}

func TestF03EmptyStringIsNoEmptyObject(t *testing.T) {
	t.Parallel()
	fieldCase{schema: `{"properties":{"filter":{"type":"object"}}}`, opt: coerce, in: `{"filter":""}`, want: []string{"/filter type"}}.run(t)
}

func TestF04OnlyExactSpellingsAreCoerced(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"limit":{"type":"integer"}}}`
	fieldCase{schema: src, opt: coerce, in: `{"limit":"10"}`, out: `{"limit":10}`}.run(t)
	fieldCase{schema: src, in: `{"limit":"10"}`, want: []string{"/limit type"}}.run(t)
	for _, in := range []string{`{"limit":"0x10"}`, `{"limit":"1e3"}`, `{"limit":"1,000"}`, `{"limit":" 10"}`} {
		fieldCase{schema: src, opt: coerce, in: in, want: []string{"/limit type"}}.run(t)
	}
}

func TestF05RefusalNamesPlaceAndExpectation(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"id":{"type":"number"},"project":{"type":"string"}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Apply(decode(t, `{"id":"67890","project":"P"}`), nil)
	var vs canon.Violations
	if !errors.As(err, &vs) || vs[0].Pointer != "/id" || vs[0].Expected != "number" || strings.Contains(err.Error(), "67890") {
		t.Errorf("error = %v", err)
	}
}

func TestF08NoneIsAStringAndNotNull(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"argument":{"type":["string","null"]}}}`
	opt := schema.Options{Coerce: true, NullMeansAbsent: true}
	fieldCase{schema: src, opt: opt, in: `{"argument":"None"}`, out: `{"argument":"None"}`, want: []string{}}.run(t)
	fieldCase{schema: src, opt: opt, in: `{"argument":null}`, out: `{"argument":null}`, want: []string{}}.run(t)
}

func TestF09NullForAnOptionalMember(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"url":{"type":"string"},"wait":{"type":"integer"}},"required":["url"]}`
	in := `{"url":"https://example.test","wait":null}`
	fieldCase{schema: src, in: in, want: []string{"/wait type"}}.run(t)
	fieldCase{schema: src, opt: schema.Options{NullMeansAbsent: true}, in: in, out: `{"url":"https://example.test"}`, want: []string{"/wait null_dropped"}}.run(t)
}

func TestF11F13F14UnknownMembersAreAChoice(t *testing.T) {
	t.Parallel()
	src := `{"type":"object","properties":{"message":{"type":"string"}}}`
	in := `{"message":"bar","toolCallId":"call_1"}`
	fieldCase{schema: src, in: in, want: []string{"/<unknown> unknown_member"}}.run(t)
	fieldCase{schema: src, opt: schema.Options{Unknown: schema.UnknownStrip}, in: in, out: `{"message":"bar"}`, want: []string{"/toolCallId stripped"}}.run(t)
	fieldCase{schema: src, opt: schema.Options{Unknown: schema.UnknownKeep}, in: in, out: in, want: []string{}}.run(t)
	fieldCase{schema: `{"type":"object","properties":{}}`, in: `{"bogus":1}`, want: []string{"/<unknown> unknown_member"}}.run(t)
	if s, err := schema.Compile([]byte(src), schema.Options{}); err != nil || s.Root().Open {
		t.Errorf("a closed schema is shown as open (%v)", err)
	}
}

func TestF15SourceKeepsDefinitions(t *testing.T) {
	t.Parallel()
	src := `{"$defs":{"O":{"required":["id"],"type":"object"}},"properties":{"o":{"$ref":"#/$defs/O"}},"type":"object"}`
	s, err := schema.Compile([]byte(src), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if string(s.Source()) != src {
		t.Errorf("got %s", s.Source())
	}
	fieldCase{schema: src, in: `{"o":{}}`, want: []string{"/o/id required"}}.run(t)
}

func TestF16RecursiveSchemaFollowsTheValue(t *testing.T) {
	t.Parallel()
	src := `{"$defs":{"C":{"properties":{"parent":{"$ref":"#/$defs/C"}}}},"$ref":"#/$defs/C"}`
	deep := strings.Repeat(`{"parent":`, 60) + `{}` + strings.Repeat(`}`, 60)
	fieldCase{schema: src, in: deep, out: deep}.run(t)
	fieldCase{schema: src, in: `{"parent":{"x":1}}`, want: []string{"/parent/<unknown> unknown_member"}}.run(t)
}

func TestF17SecondUseOfAReferenceIsChecked(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`
	fieldCase{schema: src, in: `{"a":1,"b":"x"}`, want: []string{"/b type"}}.run(t)
	if _, err := schema.Compile([]byte(`{"$ref":"#/$defs/missing"}`), schema.Options{}); err == nil {
		t.Error("a dangling reference compiled")
	}
}

func TestF18DefaultsComeBeforeValidation(t *testing.T) {
	t.Parallel()
	src := `{"maxProperties":1,"properties":{"a":{"default":1},"b":{"type":"string"}}}`
	fieldCase{schema: src, in: `{"b":"x"}`, want: []string{"(root) maxProperties"}}.run(t)
}

func TestF19DefaultsThatCannotHoldAreRefused(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		`{"properties":{"n":{"type":"integer","minimum":1,"default":0}}}`,
		`{"properties":{"n":{"minimum":2,"maximum":1}}}`,
	} {
		_, err := schema.Compile([]byte(src), schema.Options{})
		var ce *schema.CompileError
		if !errors.As(err, &ce) || ce.Pointer != "/properties/n" {
			t.Errorf("%s: error = %v, want a refusal at /properties/n", src, err)
		}
	}
}

func TestF19DefaultsAreNotSharedByCalls(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"o":{"default":{"l":[1]}}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, _, err := s.Apply(decode(t, `{}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := one.With("/o/l", canon.NullValue()); !ok {
		t.Fatal("no /o/l")
	}
	two, _, err := s.Apply(decode(t, `{}`), nil)
	if err != nil || string(two.Canonical()) != `{"o":{"l":[1]}}` {
		t.Errorf("second call got %s, %v", two.Canonical(), err)
	}
}

func TestF22IntegersInAnySpelling(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"n":{"type":"integer"}}}`
	fieldCase{schema: src, in: `{"n":1.0}`, out: `{"n":1}`}.run(t)
	fieldCase{schema: src, in: `{"n":1e2}`, out: `{"n":100}`}.run(t)
	if _, err := canon.Decode([]byte(`{"n":-0}`), canon.Options{Exact: true}); err == nil {
		t.Error("-0 was decoded")
	}
}

func TestF23FractionIsNoInteger(t *testing.T) {
	t.Parallel()
	fieldCase{schema: `{"properties":{"id":{"type":"integer"}}}`, in: `{"id":10.5}`, want: []string{"/id type"}}.run(t)
}

func TestF25NoParentIsInventedForADefault(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"complex":{"type":"object","properties":{"environment":{"type":"string","default":"development"}}}}}`
	fieldCase{schema: src, in: `{}`, out: `{}`, want: []string{}}.run(t)
	fieldCase{schema: src, in: `{"complex":{}}`, out: `{"complex":{"environment":"development"}}`}.run(t)
}

func TestF27DefaultBehindAReferenceIsFollowed(t *testing.T) {
	t.Parallel()
	src := `{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","default":"x"}}}`
	fieldCase{schema: src, in: `{}`, out: `{"a":"x"}`, want: []string{"/a default"}}.run(t)
}
