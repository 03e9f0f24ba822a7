package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// chain nests text n times.
func chain(open, core, end string, n int) string {
	return strings.Repeat(open, n) + core + strings.Repeat(end, n)
}

// sharedBranches is a schema whose two branches look alike until the end:
// judged naively, each level doubles the work.
const sharedBranches = `{"$ref":"#/$defs/n","$defs":{"n":{"oneOf":[
	{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"required":["next"]},
	{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"end":{}},"required":["end"]}]}}}`

func TestSharedBranchesAreNotExponential(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(sharedBranches), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	good := chain(`{"next":`, `{"end":1}`, `}`, 60)
	if err := s.Validate(decode(t, good)); err != nil {
		t.Errorf("validate: %v", err)
	}
	if _, _, err := s.Apply(decode(t, good), nil); err != nil {
		t.Errorf("apply: %v", err)
	}
	bad := chain(`{"next":`, `{"end":1,"next":5}`, `}`, 60)
	if err := s.Validate(decode(t, bad)); err == nil {
		t.Error("a broken chain is valid")
	}
	if _, _, err := s.Apply(decode(t, bad), nil); err == nil {
		t.Error("a broken chain passes Apply")
	}
}

func TestWorkBeyondTheBudgetIsAViolation(t *testing.T) {
	t.Parallel()
	// Each trial of a branch must try the branches below: no default is
	// known before, so nothing can be remembered.
	src := `{"$ref":"#/$defs/n","$defs":{"n":{"oneOf":[
		{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"d":{"default":1}},"required":["next","d"]},
		{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"e":{"default":1}},"required":["next","e"]},
		{"type":"integer"}]}}}`
	s, err := schema.Compile([]byte(src), schema.Options{Coerce: true})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Apply(decode(t, chain(`{"next":`, `"x"`, `}`, 50)), nil)
	var vs canon.Violations
	if !errors.As(err, &vs) || vs[0].Rule != schema.RuleBudget {
		t.Errorf("error = %v, want %s", err, schema.RuleBudget)
	}
}

func TestPatternsTimesMembersAreBounded(t *testing.T) {
	t.Parallel()
	var patterns, members strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&patterns, `,"^k%d.*z$":{}`, i)
		fmt.Fprintf(&members, `,"k%d":1`, i)
	}
	src := `{"patternProperties":{` + patterns.String()[1:] + `}}`
	s, err := schema.Compile([]byte(src), schema.Options{Unknown: schema.UnknownKeep})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Apply(decode(t, `{`+members.String()[1:]+`}`), nil)
	var vs canon.Violations
	if !errors.As(err, &vs) || vs[0].Rule != schema.RuleBudget {
		t.Errorf("error = %v, want %s", err, schema.RuleBudget)
	}
}

func TestLargeOrdinaryValuesFitTheBudget(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"properties":{"rows":{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":20,"default":"-"}},"required":["id"]}}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&rows, `,{"id":%d}`, i)
	}
	out, changes, err := s.Apply(decode(t, `{"rows":[`+rows.String()[1:]+`]}`), nil)
	if err != nil || len(changes) != 30000 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	if v, ok := out.Lookup("/rows/29999/name"); !ok || v.Text() != "-" {
		t.Error("the last row has no default")
	}
}

func TestLongChainsOfReferencesAreRefused(t *testing.T) {
	t.Parallel()
	var defs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&defs, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	_, err := schema.Compile([]byte(`{"$ref":"#/$defs/d0","$defs":{`+defs.String()+`"d1000":{}}}`), schema.Options{})
	var ce *schema.CompileError
	if !errors.As(err, &ce) || ce.Keyword != "$ref" {
		t.Errorf("error = %v, want a refusal of $ref", err)
	}
}

func TestDoublingDefinitionsCompileAndShow(t *testing.T) {
	t.Parallel()
	var defs strings.Builder
	for i := range 60 {
		fmt.Fprintf(&defs, `"d%d":{"properties":{"l":{"$ref":"#/$defs/d%d"},"r":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	s, err := schema.Compile([]byte(`{"$ref":"#/$defs/d0","$defs":{`+defs.String()+`"d60":{"type":"integer"}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Knows("/l/r/l") || s.Knows("/l/x") {
		t.Error("the pointer /l/r/l is declared, /l/x is not")
	}
}

// TestManyMembersStayLinear: removing and looking up members must not cost a
// walk over the others each time.
func TestManyMembersStayLinear(t *testing.T) {
	t.Parallel()
	var nulls, defaults strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&nulls, `,"n%d":null`, i)
	}
	for i := range 20000 {
		fmt.Fprintf(&defaults, `,"d%d":{"default":1}`, i)
	}
	in := decode(t, `{`+nulls.String()[1:]+`}`)
	for name, c := range map[string]struct {
		src  string
		opt  schema.Options
		want int
	}{
		"stripped": {`{"properties":{}}`, schema.Options{Unknown: schema.UnknownStrip}, 0},
		"dropped":  {`{"additionalProperties":{"type":"string"}}`, schema.Options{NullMeansAbsent: true}, 0},
		"filled":   {`{"properties":{` + defaults.String()[1:] + `},"additionalProperties":true}`, schema.Options{}, 80000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile([]byte(c.src), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := s.Apply(in, nil)
			if err != nil || out.Len() != c.want {
				t.Errorf("%d members (%v), want %d", out.Len(), err, c.want)
			}
		})
	}
}

func TestSchemasThatMultiplyAreRefused(t *testing.T) {
	t.Parallel()
	wide := strings.TrimPrefix(strings.Repeat(`,{"minimum":1}`, 3000), ",")
	var props strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&props, `,"p%d":{"$ref":"#/$defs/w"}`, i)
	}
	_, err := schema.Compile([]byte(`{"properties":{`+props.String()[1:]+`},"$defs":{"w":{"allOf":[`+wide+`]}}}`), schema.Options{})
	var ce *schema.CompileError
	if !errors.As(err, &ce) || ce.Keyword != "allOf" {
		t.Errorf("error = %v, want a refusal of allOf", err)
	}
}

func TestLongTextTimesLargePatternIsBounded(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"pattern":"(x+x+){900}y"}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var vs canon.Violations
	if err := s.Validate(canon.StringValue(strings.Repeat("x", 1<<20))); !errors.As(err, &vs) || vs[0].Rule != schema.RuleBudget {
		t.Errorf("error = %v, want %s", err, schema.RuleBudget)
	}
}

func TestAtMostTwentyViolations(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"items":{"type":"integer"}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := "[" + strings.TrimPrefix(strings.Repeat(`,"x"`, 100), ",") + "]"
	_, _, err = s.Apply(decode(t, in), nil)
	if got := len(violationTexts(t, err)); got != canon.MaxViolations {
		t.Errorf("%d violations, want %d", got, canon.MaxViolations)
	}
}

func TestHandMadeValuesAreChecked(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deep := canon.NullValue()
	for range 500 {
		deep = canon.ArrayValue(deep)
	}
	for name, v := range map[string]canon.Value{
		"no kind":        {},
		"deep":           deep,
		"twice":          canon.ObjectValue(canon.Member{Name: "a", Value: deep.At(0)}, canon.Member{Name: "a"}),
		"not UTF-8":      canon.StringValue("\xff"),
		"nested no kind": canon.ArrayValue(canon.Value{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var vs canon.Violations
			if err := s.Validate(v); !errors.As(err, &vs) {
				t.Errorf("validate: %v, want violations", err)
			}
			if _, _, err := s.Apply(v, nil); !errors.As(err, &vs) {
				t.Errorf("apply: %v, want violations", err)
			}
		})
	}
}

func TestViolationsNeverHoldAValue(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	src := `{"properties":{"s":{"type":"string","pattern":"^x","maxLength":1,"format":"date","enum":["y"]},"n":{"type":"integer"},
		"o":{"type":"object","additionalProperties":{"type":"integer"},"propertyNames":{"maxLength":3}},"u":{"oneOf":[{"const":1},{"const":2}]},
		"l":{"items":{"not":{}},"contains":{"type":"null"}},"t":{"type":"string"}}}`
	s, err := schema.Compile([]byte(src), schema.Options{Coerce: true, Transforms: []schema.Transform{{
		Pointer: "/t", Name: "refuse", Func: func(canon.Value) (canon.Value, error) { return canon.Value{}, errors.New(secret) },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{
		`{"s":"hunter2"}`, `{"n":"hunter2"}`, `{"o":{"hunter2":"hunter2"}}`, `{"hunter2":1}`, `{"u":"hunter2"}`, `{"l":["hunter2"]}`, `{"t":"hunter2"}`,
		`{"o":"{\"hunter2\":"}`,
	} {
		_, _, err := s.Apply(decode(t, in), nil)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error = %v", in, err)
		}
	}
}
