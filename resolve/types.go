package resolve

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The rules that a refusal of this step names.
const (
	RuleUnresolved = "target_unresolved" // no answer, or an expired one
	RuleAmbiguous  = "target_ambiguous"  // several answers
)

// Resolver turns what was said into what is meant. It gets the source values
// by role (such as "amount", "unit", "currency"; "value" where there is only
// one) and answers by role. A missing source member has no entry.
//
// It fails with [canon.Violations] whose pointers are roles ("/amount"), or
// with any other error when it could not answer; both refuse the call.
type Resolver interface {
	Resolve(ctx context.Context, in map[string]canon.Value) (Answer, error)
}

// Answer is what a resolver said and which version of it said so.
type Answer struct {
	Values  map[string]canon.Value // by role
	Version string
}

// Rule binds a resolver to members of one tool's arguments.
type Rule struct {
	Name     string            // of the resolver in the catalog
	From     map[string]string // role to pointer of a source member
	Into     map[string]string // role to pointer of a result
	Resolver Resolver
}

// Answered is the evidence of one rule on one call.
type Answered struct {
	Rule    Rule
	Pointer string // first result pointer, in byte order
	Version string
	Digest  canon.Digest // of the RFC 8785 form of the answer's values
	At      time.Time
}
