package schema

import "github.com/seed-de4804fb/verbatim/canon"

// node is one compiled subschema. It is immutable once the compiler is done.
type node struct {
	where location
	res   *resource

	truth truth   // a boolean schema, or an object
	types TypeSet // the type keyword; 0 if absent

	enum    []canon.Value
	enumSet map[string]struct{} // canonical forms, for long enums
	isConst bool                // enum comes from const

	num *numberRules
	str *stringRules
	arr *arrayRules
	obj *objectRules

	ref            *node
	dynamic        *dynamicRef
	allOf          []*node
	anyOf          []*node
	oneOf          []*node
	not            *node
	cond           *condition
	dependents     []dependent
	unevaluatedMem *node
	unevaluatedEl  *node

	format      string
	def         canon.Value
	hasDefault  bool
	title       string
	description string

	flat   []*node // itself and all that always applies with it: $ref, allOf
	shared bool    // target of a reference: its verdict is worth remembering
	wants  TypeSet // types that any branch would admit, for coercion
	fills  bool    // a default can act here or below
	deep   bool    // a default can act on a member or an element, or below
}

type truth int8

const (
	never    truth = -1
	rules    truth = 0
	anything truth = 1
)

type numberRules struct {
	bounds   []bound
	multiple *decimal
}

// bound is one of minimum, maximum, exclusiveMinimum, exclusiveMaximum.
type bound struct {
	keyword string
	limit   decimal
	text    string
}

type stringRules struct {
	min, max int // in Unicode code points; max < 0 is none
	pattern  *pattern
	source   string // the pattern as the author wrote it
}

type arrayRules struct {
	prefix     []*node
	items      *node // elements after the prefix
	itemsName  string
	min, max   int // max < 0 is none
	unique     bool
	contains   *node
	minContain int
	maxContain int  // < 0 is none
	marks      bool // contains counts as evaluation (2020-12)
}

type objectRules struct {
	declares   bool // properties or patternProperties stand here
	props      []declared
	slots      map[string]slot
	patterns   []patternRule
	additional *node
	names      *node
	required   []string
	defaulted  []int             // indexes of the props that have a default
	folded     map[string]string // folded name -> declared name
	min, max   int               // max < 0 is none
}

type declared struct {
	name string
	node *node
}

// slot says where a member name occurs in properties and required; -1 is not.
type slot struct{ prop, req int }

type patternRule struct {
	*pattern
	node *node
}

type dependent struct {
	name     string
	required []string // dependentRequired
	node     *node    // dependentSchemas
}

type condition struct{ test, then, otherwise *node }

// dynamicRef is a $dynamicRef whose target depends on the path of evaluation.
type dynamicRef struct {
	initial *node
	anchor  string
}
