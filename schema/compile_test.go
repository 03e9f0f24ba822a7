package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

func TestCompileRefusesWhatItCannotEnforce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, pointer, keyword string }{
		"unknown dialect":             {`{"$schema":"http://json-schema.org/draft-04/schema#"}`, "", "$schema"},
		"dialect that is no string":   {`{"$schema":7}`, "", "$schema"},
		"dialect that changes":        {`{"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}}`, "/properties/a", "$schema"},
		"dialect of a definition":     {`{"$defs":{"a":{"$schema":"https://example.test/mine"}}}`, "/$defs/a", "$schema"},
		"keyword of 2019-09":          {`{"items":{"$recursiveRef":"#"}}`, "/items", "$recursiveRef"},
		"external reference":          {`{"properties":{"a":{"$ref":"https://example.test/a.json"}}}`, "/properties/a", "$ref"},
		"relative external reference": {`{"$ref":"other.json"}`, "", "$ref"},
		"missing definition":          {`{"$ref":"#/$defs/missing"}`, "", "$ref"},
		"missing anchor":              {`{"$ref":"#missing"}`, "", "$ref"},
		"reference to no schema":      {`{"$ref":"#/title","title":"x"}`, "", "$ref"},
		"malformed pointer":           {`{"$ref":"#/a~2"}`, "", "$ref"},
		"loop of references":          {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "/$defs/a", "$ref"},
		"loop to itself":              {`{"$ref":"#"}`, "", "$ref"},
		"loop through allOf":          {`{"allOf":[{"anyOf":[{"$ref":"#"}]}]}`, "", "$ref"},
		"loop through not":            {`{"not":{"$ref":"#"}}`, "", "$ref"},
		"lookahead":                   {`{"pattern":"^(?=a)b"}`, "", "pattern"},
		"lookbehind":                  {`{"properties":{"a":{"pattern":"(?<!a)b"}}}`, "/properties/a", "pattern"},
		"backreference":               {`{"pattern":"(a)\\1"}`, "", "pattern"},
		"named backreference":         {`{"pattern":"(?<x>a)\\k<x>"}`, "", "pattern"},
		"lookahead in a member name":  {`{"patternProperties":{"^(?!x)":{}}}`, "", "patternProperties"},
		"unbalanced pattern":          {`{"pattern":"("}`, "", "pattern"},
		"RE2 escape of another sense": {`{"pattern":"\\Aabc\\z"}`, "", "pattern"},
		"huge pattern":                {`{"pattern":"` + strings.Repeat("a", 9000) + `"}`, "", "pattern"},
		"default below minimum":       {`{"properties":{"n":{"type":"integer","minimum":1,"default":0}}}`, "/properties/n", "default"},
		"default of a wrong type":     {`{"default":"x","type":"integer"}`, "", "default"},
		"default of a wrong format":   {`{"default":"x","format":"date"}`, "", "default"},
		"default with unknown member": {`{"default":{"x":1},"properties":{}}`, "", "default"},
		"default outside the domain":  {`{"default":9007199254740993}`, "", "default"},
		"default behind a reference":  {`{"properties":{"a":{"$ref":"#/$defs/a","default":5}},"$defs":{"a":{"type":"string"}}}`, "/properties/a", "default"},
		"minimum above maximum":       {`{"minimum":2,"maximum":1}`, "", "minimum"},
		"minLength above maxLength":   {`{"minLength":2,"maxLength":1}`, "", "minLength"},
		"type that does not exist":    {`{"type":"int"}`, "", "type"},
		"type that is a number":       {`{"type":5}`, "", "type"},
		"empty list of types":         {`{"type":[]}`, "", "type"},
		"draft-04 exclusiveMinimum":   {`{"exclusiveMinimum":true}`, "", "exclusiveMinimum"},
		"required as a boolean":       {`{"properties":{"a":{"required":true}}}`, "/properties/a", "required"},
		"required twice":              {`{"required":["a","a"]}`, "", "required"},
		"array form of items":         {`{"items":[{}]}`, "", "items"},
		"properties as an array":      {`{"properties":[]}`, "", "properties"},
		"schema that is a string":     {`{"properties":{"a":"string"}}`, "", "properties"},
		"root that is a number":       {`5`, "", "schema"},
		"negative length":             {`{"minLength":-1}`, "", "minLength"},
		"fractional length":           {`{"maxItems":1.5}`, "", "maxItems"},
		"multipleOf zero":             {`{"multipleOf":0}`, "", "multipleOf"},
		"empty allOf":                 {`{"allOf":[]}`, "", "allOf"},
		"enum that is no array":       {`{"enum":"a"}`, "", "enum"},
		"mistake in unused $defs":     {`{"$defs":{"a":{"type":"x"}}}`, "/$defs/a", "type"},
		"two equal anchors":           {`{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "/$defs/b", "$anchor"},
		"dynamic scope":               {`{"$id":"http://x.test/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b","$dynamicAnchor":"n","items":{"$dynamicRef":"#n"}}}}`, "/$defs/b/items", "$dynamicRef"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile([]byte(c.src), schema.Options{})
			var ce *schema.CompileError
			if !errors.As(err, &ce) {
				t.Fatalf("error = %v, want a CompileError", err)
			}
			if ce.Pointer != c.pointer || ce.Keyword != c.keyword || ce.Reason == "" {
				t.Errorf("refused %q at %q (%s), want %q at %q", ce.Keyword, ce.Pointer, ce.Reason, c.keyword, c.pointer)
			}
		})
	}
}

func TestCompileRefusesTextsThatAreNoStrictJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, rule string }{
		"duplicate keyword":   {`{"type":"string","type":"object"}`, canon.RuleDuplicateName},
		"ten megabytes":       {`{"description":"` + strings.Repeat("a", 10<<20) + `"}`, canon.RuleSize},
		"too deep":            {strings.Repeat(`{"not":`, 65) + `true` + strings.Repeat(`}`, 65), canon.RuleDepth},
		"not JSON":            {`{"type":}`, canon.RuleSyntax},
		"empty":               {``, canon.RuleEmpty},
		"limit that rounds":   {`{"minimum":0.1000000000000000055}`, canon.RuleNumberInexact},
		"limit that vanishes": {`{"minimum":1e-400}`, canon.RuleNumberUnderflow},
		"minus zero":          {`{"minimum":-0}`, canon.RuleNegativeZero},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile([]byte(c.src), schema.Options{})
			var vs canon.Violations
			if !errors.As(err, &vs) || vs[0].Rule != c.rule {
				t.Errorf("error = %v, want %s", err, c.rule)
			}
		})
	}
}

func TestCompileRefusesOptionsThatDoNotFitTheSchema(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]schema.Options{
		"mode":                 {Unknown: "ignore"},
		"transform name":       {Transforms: []schema.Transform{{Pointer: "/a", Name: "reverse"}}},
		"transform pointer":    {Transforms: []schema.Transform{{Pointer: "a", Name: "trim"}}},
		"undeclared member":    {Transforms: []schema.Transform{{Pointer: "/b", Name: "trim"}}},
		"transform of default": {Transforms: []schema.Transform{{Pointer: "/a", Name: "upper"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile([]byte(`{"properties":{"a":{"type":"string","default":"x"}}}`), opt)
			var ce *schema.CompileError
			if !errors.As(err, &ce) {
				t.Errorf("error = %v, want a CompileError", err)
			}
		})
	}
}

func TestIntegerLimitsBeyondEveryArgumentCompile(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"integer","maximum":9223372036854775807}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Apply(canon.IntValue(canon.MaxSafeInteger), nil); err != nil {
		t.Error(err)
	}
}

func TestPatternsMatchAsInECMAScript(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pattern, text string
		want          bool
	}{
		"not anchored":                   {`b`, "abc", true},
		"end is the end, not a newline":  {`^a$`, "a\n", false},
		"dot is no carriage return":      {`^.$`, "\r", false},
		"dot is no line separator":       {`^.$`, "\u2028", false},
		"dot is a whole character":       {`^.$`, "\U0001F600", true},
		"digits are ASCII":               {`^\d$`, "٣", false},
		"words are ASCII":                {`^\w$`, "é", false},
		"space is Unicode":               {`^\s$`, "\u00a0", true},
		"space has the byte order mark":  {`^\s$`, "\ufeff", true},
		"space has the vertical tab":     {`^\s$`, "\v", true},
		"not space":                      {`^\S$`, "\u3000", false},
		"space in a class":               {`^[\sx]$`, "\u2003", true},
		"not space in a class":           {`^[\S]$`, "\u00a0", false},
		"letter by its long name":        {`^\p{Letter}+$`, "äß", true},
		"script":                         {`^\p{Script=Greek}+$`, "αβ", true},
		"property in a class":            {`^[\p{Lu}_]+$`, "É_", true},
		"not a property":                 {`^\P{L}$`, "1", true},
		"code unit escape":               {`^\u00e9$`, "é", true},
		"surrogate pair escape":          {`^\ud83d\ude00$`, "\U0001F600", true},
		"code point escape":              {`^\u{1F600}$`, "\U0001F600", true},
		"hex escape":                     {`^\x41$`, "A", true},
		"control escape":                 {`^\cC$`, "\x03", true},
		"nul escape":                     {`^\0$`, "\x00", true},
		"escaped slash":                  {`^a\/b$`, "a/b", true},
		"escaped hyphen":                 {`^[a\-z]$`, "-", true},
		"bracket inside a class":         {`^[[a]$`, "[", true},
		"backspace in a class":           {`^[\b]$`, "\b", true},
		"empty class matches nothing":    {`[]`, "a", false},
		"negated empty class":            {`^[^]$`, "\n", true},
		"named group":                    {`^(?<year>[0-9]{4})$`, "2024", true},
		"lazy repetition":                {`^a+?$`, "aaa", true},
		"alternatives keep their anchor": {`^a|b$`, "ac", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := canon.ObjectValue(canon.Member{Name: "pattern", Value: canon.StringValue(c.pattern)}).Canonical()
			s, err := schema.Compile(src, schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Validate(canon.StringValue(c.text)) == nil; got != c.want {
				t.Errorf("%q on %q = %v, want %v", c.pattern, c.text, got, c.want)
			}
		})
	}
}

func TestSourceIsTheCanonicalDocument(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte("{ \"type\" : \"object\", \"$comment\": \"x\", \"properties\": {} }"), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"$comment":"x","properties":{},"type":"object"}`; string(s.Source()) != want {
		t.Errorf("got %s, want %s", s.Source(), want)
	}
}
