package snapshot

import (
	"math"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// place is where a walk stands. The pointer text is built only for a refusal,
// so that a good tree costs nothing.
type place struct {
	parent *place
	name   string
	index  int
	elem   bool
}

func (p *place) pointer() string {
	switch {
	case p.parent == nil:
		return ""
	case p.elem:
		return canon.JoinIndex(p.parent.pointer(), p.index)
	case !utf8.ValidString(p.name):
		return canon.JoinPointer(p.parent.pointer(), canon.UnknownName)
	default:
		return canon.JoinPointer(p.parent.pointer(), p.name)
	}
}

// check holds the limits and the refusals of one walk over Go values.
type check struct {
	limits     Limits
	nodes      int
	stopped    bool // a limit is passed; walking on would not be bounded
	violations canon.Violations
}

func (c *check) refuse(at place, rule, expected string) {
	if len(c.violations) < canon.MaxViolations {
		c.violations = append(c.violations, canon.Refuse(at.pointer(), rule, expected)...)
	}
}

// enter counts one value and reports whether the walk may look at it.
func (c *check) enter(at place, depth int) bool {
	c.nodes++
	switch {
	case c.stopped:
		return false
	case c.nodes > c.limits.nodes():
		c.refuse(at, canon.RuleNodes, "fewer values")
		c.stopped = true
	case depth > c.limits.depth():
		c.refuse(at, canon.RuleDepth, "less nesting")
		c.stopped = true
	}
	return !c.stopped
}

// text refuses bytes that are not UTF-8.
func (c *check) text(s string, at place) {
	if !utf8.ValidString(s) {
		c.refuse(at, canon.RuleInvalidUTF8, "valid UTF-8")
	}
}

// number refuses integers that not every JSON reader keeps (RFC 7493 §2.2).
// Every double of 2^53 or more is an integer.
func (c *check) number(f float64, at place) {
	if math.Abs(f) > canon.MaxSafeInteger {
		c.refuse(at, canon.RuleUnsafeInteger, "an integer within ±9007199254740991; send it as a string")
	}
}
