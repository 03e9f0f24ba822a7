package catalog

import (
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// RuleTarget is the rule that a refused target names.
const RuleTarget = "target"

// ExtractTargets reads the things that a call acts on from its resolved
// arguments. An absent member names nothing; an array names every element.
// It fails with [canon.Violations] where a target is no clean string or
// integer: something that cannot be named cannot be decided on.
func ExtractTargets(rules []TargetRule, args canon.Value) ([]snapshot.Target, error) {
	var out []snapshot.Target
	for _, r := range rules {
		v, found := args.Lookup(r.Pointer)
		if !found || v.IsNull() {
			continue
		}
		items, pointers := []canon.Value{v}, []string{r.Pointer}
		if v.Kind() == canon.Array {
			items, pointers = v.Elements(), nil
			for i := range items {
				pointers = append(pointers, canon.JoinIndex(r.Pointer, i))
			}
		}
		for i, item := range items {
			id, ok := targetID(item)
			if !ok {
				return nil, canon.Refuse(pointers[i], RuleTarget, "a name without control characters, or an integer")
			}
			out = append(out, snapshot.Target{Type: r.Type, ID: id})
		}
	}
	return out, nil
}

func targetID(v canon.Value) (string, bool) {
	if v.Kind() == canon.Number {
		_, ok := v.Int64()
		return v.NumberText(), ok
	}
	text := v.Text()
	control := strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
	return text, v.Kind() == canon.String && text != "" && !control
}
