package schema

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// builder builds one node from one schema object.
type builder struct {
	c       *compiler
	n       *node
	v       canon.Value
	keyword string
}

// keyword says when a keyword is in force and how it is compiled.
type keyword struct {
	drafts draft
	vocab  vocab
	build  func(*builder, canon.Value) error
}

// keywords are all keywords that constrain or describe. What is not here is
// an annotation (2020-12 core §6.5), or is read beside another keyword.
var keywords = map[string]keyword{
	"$ref":                  {eachDraft, vocabCore, buildRef},
	"$dynamicRef":           {draft2020, vocabCore, buildDynamicRef},
	"$recursiveRef":         {draft2020, vocabCore, buildForeign},
	"type":                  {eachDraft, vocabValidation, buildType},
	"enum":                  {eachDraft, vocabValidation, buildEnum},
	"const":                 {eachDraft, vocabValidation, buildConst},
	"minimum":               {eachDraft, vocabValidation, buildBound},
	"maximum":               {eachDraft, vocabValidation, buildBound},
	"exclusiveMinimum":      {eachDraft, vocabValidation, buildBound},
	"exclusiveMaximum":      {eachDraft, vocabValidation, buildBound},
	"multipleOf":            {eachDraft, vocabValidation, buildMultipleOf},
	"minLength":             {eachDraft, vocabValidation, buildCount},
	"maxLength":             {eachDraft, vocabValidation, buildCount},
	"minItems":              {eachDraft, vocabValidation, buildCount},
	"maxItems":              {eachDraft, vocabValidation, buildCount},
	"minProperties":         {eachDraft, vocabValidation, buildCount},
	"maxProperties":         {eachDraft, vocabValidation, buildCount},
	"minContains":           {draft2020, vocabValidation, buildCount},
	"maxContains":           {draft2020, vocabValidation, buildCount},
	"pattern":               {eachDraft, vocabValidation, buildPattern},
	"uniqueItems":           {eachDraft, vocabValidation, buildUnique},
	"required":              {eachDraft, vocabValidation, buildRequired},
	"dependentRequired":     {draft2020, vocabValidation, buildDependentRequired},
	"dependentSchemas":      {draft2020, vocabApplicator, buildDependentSchemas},
	"dependencies":          {eachDraft, vocabApplicator, buildDependencies},
	"allOf":                 {eachDraft, vocabApplicator, buildAllOf},
	"anyOf":                 {eachDraft, vocabApplicator, buildAnyOf},
	"oneOf":                 {eachDraft, vocabApplicator, buildOneOf},
	"not":                   {eachDraft, vocabApplicator, buildNot},
	"if":                    {eachDraft, vocabApplicator, buildIf},
	"then":                  {eachDraft, vocabApplicator, buildSchemaOnly},
	"else":                  {eachDraft, vocabApplicator, buildSchemaOnly},
	"properties":            {eachDraft, vocabApplicator, buildProperties},
	"patternProperties":     {eachDraft, vocabApplicator, buildPatternProperties},
	"additionalProperties":  {eachDraft, vocabApplicator, buildAdditional},
	"propertyNames":         {eachDraft, vocabApplicator, buildNames},
	"prefixItems":           {draft2020, vocabApplicator, buildPrefix},
	"items":                 {eachDraft, vocabApplicator, buildItems},
	"additionalItems":       {draft7, vocabApplicator, buildSchemaOnly},
	"contains":              {eachDraft, vocabApplicator, buildContains},
	"unevaluatedProperties": {draft2020, vocabUnevaluated, buildUnevaluatedMembers},
	"unevaluatedItems":      {draft2020, vocabUnevaluated, buildUnevaluatedElements},
	"format":                {eachDraft, vocabFormat, buildFormat},
	"default":               {eachDraft, vocabMetadata, buildDefault},
	"title":                 {eachDraft, vocabMetadata, buildText},
	"description":           {eachDraft, vocabMetadata, buildText},
	"$defs":                 {draft2020, vocabCore, buildTable},
	"definitions":           {eachDraft, vocabCore, buildTable},
}

func (b *builder) fail(reason string) error { return refuse(b.n.where, b.keyword, reason) }

// child returns the node of the schema v at the given tokens below b.
func (b *builder) child(v canon.Value, tokens ...string) (*node, error) {
	if v.Kind() != canon.Object && v.Kind() != canon.Bool {
		return nil, b.fail("must hold a schema: an object or a boolean")
	}
	return b.c.node(b.n.where.join(tokens...)), nil
}

func (b *builder) list(v canon.Value) ([]*node, error) {
	if v.Kind() != canon.Array || v.Len() == 0 {
		return nil, b.fail("must be a non-empty array of schemas")
	}
	nodes := make([]*node, v.Len())
	for i := range nodes {
		at := location{b.n.where.doc, canon.JoinIndex(b.n.where.join(b.keyword).ptr, i)}
		if k := v.At(i).Kind(); k != canon.Object && k != canon.Bool {
			return nil, b.fail("must hold schemas only")
		}
		nodes[i] = b.c.node(at)
	}
	return nodes, nil
}

// table calls each for every member of an object of schemas.
func (b *builder) table(v canon.Value, each func(name string, n *node) error) error {
	if v.Kind() != canon.Object {
		return b.fail("must be an object of schemas")
	}
	for i := range v.Len() {
		name, sub := v.Member(i)
		n, err := b.child(sub, b.keyword, name)
		if err != nil {
			return err
		}
		if err := each(name, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) strings(v canon.Value) ([]string, error) {
	if v.Kind() != canon.Array {
		return nil, b.fail("must be an array of strings")
	}
	seen := map[string]bool{}
	out := make([]string, v.Len())
	for i := range out {
		s := v.At(i)
		if s.Kind() != canon.String || seen[s.Text()] {
			return nil, b.fail("must be an array of different strings")
		}
		out[i] = s.Text()
		seen[out[i]] = true
	}
	return out, nil
}

func (n *node) numbers() *numberRules {
	if n.num == nil {
		n.num = &numberRules{}
	}
	return n.num
}

func (n *node) text() *stringRules {
	if n.str == nil {
		n.str = &stringRules{max: -1}
	}
	return n.str
}

func (n *node) array() *arrayRules {
	if n.arr == nil {
		n.arr = &arrayRules{max: -1, minContain: 1, maxContain: -1, itemsName: "items"}
	}
	return n.arr
}

func (n *node) object() *objectRules {
	if n.obj == nil {
		n.obj = &objectRules{max: -1, slots: map[string]slot{}}
	}
	return n.obj
}

// finish checks what no single keyword can see.
func (b *builder) finish() error {
	n := b.n
	for _, r := range []struct {
		low, high string
		bad       bool
	}{
		{"minLength", "maxLength", n.str != nil && n.str.max >= 0 && n.str.min > n.str.max},
		{"minItems", "maxItems", n.arr != nil && n.arr.max >= 0 && n.arr.min > n.arr.max},
		{"minProperties", "maxProperties", n.obj != nil && n.obj.max >= 0 && n.obj.min > n.obj.max},
		{"minimum", "maximum", n.num != nil && n.num.empty()},
	} {
		if r.bad {
			return refuse(n.where, r.low, "is above "+r.high)
		}
	}
	return nil
}

// empty reports whether minimum is above maximum.
func (r *numberRules) empty() bool {
	for i := range r.bounds {
		for j := range r.bounds {
			if r.bounds[i].keyword == "minimum" && r.bounds[j].keyword == "maximum" &&
				r.bounds[i].limit.compare(&r.bounds[j].limit) > 0 {
				return true
			}
		}
	}
	return false
}
