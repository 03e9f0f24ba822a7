package canon

import (
	"fmt"
	"strings"
)

// Violation says where a value breaks a rule and what would be accepted. It
// never holds the value: the text of a refusal is shown to models, people
// and logs.
type Violation struct {
	// Pointer is the RFC 6901 JSON Pointer of the place; "" is the root.
	Pointer string `json:"pointer"`
	// Rule is the broken rule in snake_case, or the schema keyword.
	Rule string `json:"rule"`
	// Expected is one short phrase that tells what would be accepted.
	Expected string `json:"expected"`
	// Offset is the byte offset in the raw text, or -1 where there is none.
	Offset int `json:"offset"`
}

// MaxViolations is how many violations one refusal lists (semantics: all at
// once, at most 20).
const MaxViolations = 20

// Violations is the error of every step before the snapshot: all that is
// wrong, at once.
type Violations []Violation

// Error lists the violations; it never prints a value.
func (vs Violations) Error() string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(v.String())
	}
	return b.String()
}

// String says the violation in one phrase.
func (v Violation) String() string {
	where := v.Pointer
	if where == "" {
		where = "(root)"
	}
	if v.Offset >= 0 {
		return fmt.Sprintf("at %s, byte %d: %s: expected %s", where, v.Offset, v.Rule, v.Expected)
	}
	return fmt.Sprintf("at %s: %s: expected %s", where, v.Rule, v.Expected)
}

// Refuse returns a single violation as an error.
func Refuse(pointer, rule, expected string) Violations {
	return Violations{{Pointer: pointer, Rule: rule, Expected: expected, Offset: -1}}
}
