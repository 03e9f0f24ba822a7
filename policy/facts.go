package policy

import (
	"errors"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Facts are what a decision may have read beside the arguments and what the
// action's row says of itself: roles, taint, turn, the time, and what the
// catalog said of the tool. They are recorded with the decision, so that it
// can be made again under another policy.
type Facts struct {
	Roles, Taint []string
	Turn         int
	Now          time.Time // when policy was asked
	RunContext   bool      // there was one; it is opaque and is not recorded
	Tool         Tool      // zero for a handoff
}

// factsVersion is the form that Text writes.
const factsVersion = 1

// ErrFacts says that a text is not what [Facts.Text] writes.
var ErrFacts = errors.New("the recorded facts of the decision cannot be read")

// Facts returns what is to be recorded of an input.
func (in Input) Facts() Facts {
	return Facts{Roles: slices.Clone(in.Session.Roles), Taint: slices.Clone(in.Session.Taint), Turn: in.Turn, Now: in.Now,
		RunContext: in.RunContext != nil, Tool: in.Tool}
}

// Text is the RFC 8785 form.
func (f Facts) Text() string {
	members := []canon.Member{
		{Name: "v", Value: number(factsVersion)}, {Name: "turn", Value: number(f.Turn)},
		{Name: "roles", Value: textArray(f.Roles)}, {Name: "taint", Value: textArray(f.Taint)},
		{Name: "now", Value: canon.StringValue(f.Now.UTC().Format(time.RFC3339Nano))},
		{Name: "runContext", Value: canon.BoolValue(f.RunContext)},
	}
	if f.Tool != (Tool{}) {
		members = append(members, canon.Member{Name: "tool", Value: canon.ObjectValue(
			canon.Member{Name: "name", Value: canon.StringValue(f.Tool.Name)},
			canon.Member{Name: "impact", Value: canon.StringValue(f.Tool.Impact)},
			canon.Member{Name: "effect", Value: canon.StringValue(f.Tool.Effect)},
			canon.Member{Name: "mutation", Value: canon.BoolValue(f.Tool.Mutation)},
			canon.Member{Name: "highImpact", Value: canon.BoolValue(f.Tool.HighImpact)},
			canon.Member{Name: "cataloged", Value: canon.BoolValue(f.Tool.Cataloged)},
		)})
	}
	return string(canon.ObjectValue(members...).Canonical())
}

// ReadFacts reads what Text wrote. It fails with [ErrFacts] for anything else,
// another version too.
func ReadFacts(text string) (Facts, error) {
	root, err := canon.DecodeText(text, canon.Options{})
	if err != nil {
		return Facts{}, ErrFacts
	}
	var f Facts
	version, _ := root.Get("v")
	if n, ok := version.Int64(); !ok || n != factsVersion {
		return Facts{}, ErrFacts
	}
	turn, _ := root.Get("turn")
	n, _ := turn.Int64()
	f.Turn = int(n)
	f.Roles, f.Taint = textsAt(root, "roles"), textsAt(root, "taint")
	now, _ := root.Get("now")
	if f.Now, err = time.Parse(time.RFC3339Nano, now.Text()); err != nil {
		return Facts{}, ErrFacts
	}
	f.RunContext = flagAt(root, "runContext")
	if tool, ok := root.Get("tool"); ok {
		f.Tool = Tool{Name: textAt(tool, "name"), Impact: textAt(tool, "impact"), Effect: textAt(tool, "effect"),
			Mutation: flagAt(tool, "mutation"), HighImpact: flagAt(tool, "highImpact"), Cataloged: flagAt(tool, "cataloged")}
	}
	// What was written reads back as it was: a member of a wrong type, one too
	// many or one too few shows here.
	if f.Text() != text {
		return Facts{}, ErrFacts
	}
	return f, nil
}

func number(n int) canon.Value { return canon.IntValue(int64(n)) }

func textArray(list []string) canon.Value {
	out := make([]canon.Value, len(list))
	for i, s := range list {
		out[i] = canon.StringValue(s)
	}
	return canon.ArrayValue(out...)
}

func textsAt(v canon.Value, name string) (out []string) {
	list, _ := v.Get(name)
	if list.Kind() != canon.Array {
		return nil
	}
	for i := range list.Len() {
		out = append(out, list.At(i).Text())
	}
	return out
}

func textAt(v canon.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}

func flagAt(v canon.Value, name string) bool {
	m, _ := v.Get(name)
	return m.Kind() == canon.Bool && m.Bool()
}
