package schema

import (
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// dialect is a draft with the vocabularies that are in force.
type dialect struct {
	draft  draft
	vocabs vocab
}

type draft uint8

const (
	draft7 draft = 1 << iota
	draft2020
	eachDraft = draft7 | draft2020
)

// vocab is a set of 2020-12 vocabularies.
type vocab uint8

const (
	vocabCore vocab = 1 << iota
	vocabApplicator
	vocabUnevaluated
	vocabValidation
	vocabFormat
	vocabMetadata
	vocabContent
	vocabStandard = vocabCore | vocabApplicator | vocabUnevaluated | vocabValidation |
		vocabFormat | vocabMetadata | vocabContent
)

// The dialects that are known without asking anyone.
var (
	dialect2020 = &dialect{draft2020, vocabStandard}
	dialect7    = &dialect{draft7, vocabStandard}
)

const vocabBase = "https://json-schema.org/draft/2020-12/vocab/"

var vocabNames = map[string]vocab{
	vocabBase + "core":              vocabCore,
	vocabBase + "applicator":        vocabApplicator,
	vocabBase + "unevaluated":       vocabUnevaluated,
	vocabBase + "validation":        vocabValidation,
	vocabBase + "format-annotation": vocabFormat,
	vocabBase + "meta-data":         vocabMetadata,
	vocabBase + "content":           vocabContent,
}

// dialectOf returns the dialect that $schema names; parent where it is absent.
func (c *compiler) dialectOf(v canon.Value, at location, parent *dialect) (*dialect, error) {
	name, found := v.Get("$schema")
	if !found {
		return parent, nil
	}
	if name.Kind() != canon.String {
		return nil, refuse(at, "$schema", "must be a string")
	}
	uri := strings.TrimSuffix(name.Text(), "#")
	switch strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://") {
	case "json-schema.org/draft/2020-12/schema":
		return dialect2020, nil
	case "json-schema.org/draft-07/schema":
		return dialect7, nil
	}
	if d, ok := c.customDialect(uri); ok {
		return d, nil
	}
	return nil, refuse(at, "$schema", "names a dialect other than 2020-12 and draft-07")
}

// customDialect reads $vocabulary of a meta-schema that the loader has. A
// required vocabulary that is not known here cannot be enforced.
func (c *compiler) customDialect(uri string) (*dialect, bool) {
	doc, err := c.document(uri)
	if err != nil {
		return nil, false
	}
	list, found := doc.root.Get("$vocabulary")
	if !found {
		return dialect2020, true
	}
	d := &dialect{draft: draft2020}
	for _, m := range list.Members() {
		bit, known := vocabNames[m.Name]
		if !known && m.Value.Bool() {
			return nil, false
		}
		d.vocabs |= bit
	}
	return d, d.vocabs&vocabCore != 0
}

// subschemas says where schemas stand below a keyword.
type subschemas struct {
	drafts draft
	shape  shape
}

type shape uint8

const (
	oneSchema   shape = 1 << iota
	schemaList        // an array of schemas
	schemaTable       // an object of schemas
)

// applicators lists the keywords below which schemas stand. definitions and
// dependencies are kept by the 2020-12 meta-schema for compatibility.
var applicators = map[string]subschemas{
	"additionalItems":       {draft7, oneSchema},
	"additionalProperties":  {eachDraft, oneSchema},
	"allOf":                 {eachDraft, schemaList},
	"anyOf":                 {eachDraft, schemaList},
	"contains":              {eachDraft, oneSchema},
	"contentSchema":         {draft2020, oneSchema},
	"definitions":           {eachDraft, schemaTable},
	"$defs":                 {draft2020, schemaTable},
	"dependencies":          {eachDraft, schemaTable},
	"dependentSchemas":      {draft2020, schemaTable},
	"else":                  {eachDraft, oneSchema},
	"if":                    {eachDraft, oneSchema},
	"items":                 {eachDraft, oneSchema | schemaList},
	"not":                   {eachDraft, oneSchema},
	"oneOf":                 {eachDraft, schemaList},
	"patternProperties":     {eachDraft, schemaTable},
	"prefixItems":           {draft2020, schemaList},
	"properties":            {eachDraft, schemaTable},
	"propertyNames":         {eachDraft, oneSchema},
	"then":                  {eachDraft, oneSchema},
	"unevaluatedItems":      {draft2020, oneSchema},
	"unevaluatedProperties": {draft2020, oneSchema},
}
