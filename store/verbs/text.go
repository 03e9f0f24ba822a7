package verbs

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Lists are stored as RFC 8785 arrays and read back by the strict decoder.
// An empty list is "[]" and reads back as nil.

func array[T any](items []T, one func(T) canon.Value) string {
	if len(items) == 0 {
		return "[]"
	}
	out := make([]canon.Value, len(items))
	for i, item := range items {
		out[i] = one(item)
	}
	return string(canon.ArrayValue(out...).Canonical())
}

func parseArray[T any](name, text string, to *[]T, one func(canon.Value) (T, error)) error {
	v, err := canon.Decode([]byte(text), canon.Options{Exact: true})
	if err != nil || v.Kind() != canon.Array {
		return fmt.Errorf("%w: %s is not a list", ErrTampered, name)
	}
	for _, item := range v.Elements() {
		t, err := one(item)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrTampered, name, err)
		}
		*to = append(*to, t)
	}
	return nil
}

func pair(name, text string) canon.Member {
	return canon.Member{Name: name, Value: canon.StringValue(text)}
}

func member(v canon.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}

// ListText is how a list of texts is stored.
func ListText(items []string) string {
	if len(items) == 0 {
		return "[]"
	}
	var room [256]byte
	out := room[:0]
	for i, text := range items {
		out = canon.AppendText(append(out, "[,"[min(i, 1)]), text)
	}
	return string(append(out, ']'))
}

// ParseList reads what ListText wrote.
func ParseList(text string, to *[]string) error {
	return parseArray("rules", text, to, func(v canon.Value) (string, error) { return v.Text(), nil })
}

// TargetsText is how targets are stored.
func TargetsText(targets []snapshot.Target) string { return snapshot.TargetsText(targets) }

// ParseTargets reads what TargetsText wrote.
func ParseTargets(text string, to *[]snapshot.Target) error {
	return parseArray("targets", text, to, func(v canon.Value) (snapshot.Target, error) {
		return snapshot.Target{Type: member(v, "type"), ID: member(v, "id")}, nil
	})
}

// EvidenceText is how resolver evidence is stored.
func EvidenceText(evidence []snapshot.Evidence) string { return snapshot.EvidenceText(evidence) }

// ParseEvidence reads what EvidenceText wrote.
func ParseEvidence(text string, to *[]snapshot.Evidence) error {
	return parseArray("evidence", text, to, func(v canon.Value) (snapshot.Evidence, error) {
		digest, err := canon.ParseDigest(member(v, "digest"))
		return snapshot.Evidence{Pointer: member(v, "pointer"), Resolver: member(v, "resolver"),
			Version: member(v, "version"), Digest: digest}, err
	})
}

// ChangesText is how changes are stored.
func ChangesText(changes []canon.Change) string {
	return array(changes, func(c canon.Change) canon.Value {
		return canon.ObjectValue(pair("pointer", c.Pointer), pair("kind", string(c.Kind)), pair("by", c.By))
	})
}

// ParseChanges reads what ChangesText wrote.
func ParseChanges(text string, to *[]canon.Change) error {
	return parseArray("changes", text, to, func(v canon.Value) (canon.Change, error) {
		return canon.Change{Pointer: member(v, "pointer"), Kind: canon.ChangeKind(member(v, "kind")),
			By: member(v, "by")}, nil
	})
}

// RequirementsText is how requirements are stored.
func RequirementsText(requirements []action.Requirement) string {
	return array(requirements, func(r action.Requirement) canon.Value {
		groups := make([]canon.Value, len(r.AnyOf))
		for i, g := range r.AnyOf {
			groups[i] = canon.ObjectValue(pair("name", g.Name),
				canon.Member{Name: "votes", Value: canon.IntValue(int64(g.Votes))})
		}
		return canon.ArrayValue(groups...)
	})
}

// ParseRequirements reads what RequirementsText wrote.
func ParseRequirements(text string, to *[]action.Requirement) error {
	return parseArray("requirements", text, to, func(v canon.Value) (action.Requirement, error) {
		var r action.Requirement
		for _, g := range v.Elements() {
			count, _ := g.Get("votes")
			votes, ok := count.Int64()
			if !ok || votes < 1 {
				return r, fmt.Errorf("group %d asks for no votes", len(r.AnyOf))
			}
			r.AnyOf = append(r.AnyOf, action.Group{Name: member(g, "name"), Votes: int(votes)})
		}
		return r, nil
	})
}
