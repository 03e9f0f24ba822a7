package catalog

import (
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// RuleTarget is the rule that a refused target names.
const RuleTarget = "target"

// ExtractTargets reads the things that a call acts on from its resolved
// arguments. An absent member names nothing; an array names every element, as
// does "*" in a pointer. It fails with [canon.Violations] where a target is
// no clean string or integer, or cannot be reached because a scalar is in the
// way: something that cannot be named cannot be decided on.
func ExtractTargets(rules []TargetRule, args canon.Value) ([]snapshot.Target, error) {
	var out []snapshot.Target
	for _, r := range rules {
		tokens, ok := canon.SplitPointer(r.Pointer)
		if !ok || len(tokens) == 0 {
			return nil, canon.Refuse(r.Pointer, RuleTarget, "a JSON Pointer to a member")
		}
		f := finder{kind: r.Type}
		if err := f.follow(args, "", tokens); err != nil {
			return nil, err
		}
		out = append(out, f.found...)
	}
	return out, nil
}

type finder struct {
	kind  string
	found []snapshot.Target
}

func (f *finder) follow(v canon.Value, pointer string, tokens []string) error {
	switch {
	case v.IsNull():
		return nil
	case len(tokens) == 0 && v.Kind() != canon.Array:
		return f.name(v, pointer)
	case len(tokens) == 0:
		for i := range v.Len() {
			if err := f.name(v.At(i), canon.JoinIndex(pointer, i)); err != nil {
				return err
			}
		}
		return nil
	case tokens[0] == everyElement && v.Kind() == canon.Array:
		for i := range v.Len() {
			if err := f.follow(v.At(i), canon.JoinIndex(pointer, i), tokens[1:]); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() != canon.Object && v.Kind() != canon.Array:
		return canon.Refuse(pointer, RuleTarget, "an object or array with the target in it")
	}
	here := canon.JoinPointer("", tokens[0])
	next, found := v.Lookup(here)
	if !found {
		return nil
	}
	return f.follow(next, pointer+here, tokens[1:])
}

func (f *finder) name(v canon.Value, pointer string) error {
	id, ok := targetID(v)
	if !ok {
		return canon.Refuse(pointer, RuleTarget, "a name without control characters, or an integer")
	}
	f.found = append(f.found, snapshot.Target{Type: f.kind, ID: id})
	return nil
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
