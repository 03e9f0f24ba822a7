package cedar

import (
	"slices"

	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
)

// pointers compiles a set below context.changes or context.confusable; nil if
// it is something else.
func (c *compiler) pointers(path []string) func(k *call, text string) bool {
	if len(path) != 2 {
		return nil
	}
	switch kind := path[1]; path[0] {
	case "changes":
		return func(k *call, text string) bool {
			return slices.ContainsFunc(k.facts().Proposal.Changes, func(c canon.Change) bool { return string(c.Kind) == kind && c.Pointer == text })
		}
	case "confusable":
		c.out.whole = true
		return func(k *call, text string) bool { return slices.Contains(confusableAt(k, kind), text) }
	default:
		return nil
	}
}

func confusableAt(k *call, kind string) []string {
	found := policy.ConfusableIn(k.args)
	return map[string][]string{"mixed": found.Mixed, "alike": found.Alike, "unseen": found.Unseen}[kind]
}

// isEmpty compiles lists of the call that are empty or not.
func (c *compiler) isEmpty(n ast.NodeTypeIsEmpty) func(*call) bool {
	root, path, ok := chain(n.Arg)
	if !ok || root != "context" {
		return unclear
	}
	c.out.facts = true
	if len(path) == 2 {
		return c.isEmptyBelow(path[0], path[1])
	}
	if len(path) != 1 {
		return unclear
	}
	count := map[string]func(*policy.Input) int{
		"taint":     func(in *policy.Input) int { return len(in.Session.Taint) },
		"resolvers": func(in *policy.Input) int { return len(in.Proposal.Evidence) },
	}[path[0]]
	switch {
	case count != nil:
		return func(k *call) bool { return count(k.facts()) == 0 }
	case path[0] == "nulls":
		c.out.whole = true
		return func(k *call) bool { return !holdsNull(k.args) }
	default:
		return unclear
	}
}

// isEmptyBelow compiles sets of pointers that are empty or not.
func (c *compiler) isEmptyBelow(fact, kind string) func(*call) bool {
	switch fact {
	case "changes":
		return func(k *call) bool {
			return !slices.ContainsFunc(k.facts().Proposal.Changes, func(c canon.Change) bool { return string(c.Kind) == kind })
		}
	case "confusable":
		c.out.whole = true
		return func(k *call) bool { return len(confusableAt(k, kind)) == 0 }
	default:
		return unclear
	}
}
