package policy

import (
	"errors"
	"slices"
	"strconv"
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

// Text is the RFC 8785 form, whose names are written in their order.
func (f Facts) Text() string {
	var room [512]byte
	out := f.Now.UTC().AppendFormat(append(room[:0], `{"now":"`...), time.RFC3339Nano)
	out = appendTexts(append(out, `","roles":`...), f.Roles)
	out = strconv.AppendBool(append(out, `,"runContext":`...), f.RunContext)
	out = appendTexts(append(out, `,"taint":`...), f.Taint)
	if f.Tool != (Tool{}) {
		out = strconv.AppendBool(append(out, `,"tool":{"cataloged":`...), f.Tool.Cataloged)
		out = canon.AppendText(append(out, `,"effect":`...), f.Tool.Effect)
		out = strconv.AppendBool(append(out, `,"highImpact":`...), f.Tool.HighImpact)
		out = canon.AppendText(append(out, `,"impact":`...), f.Tool.Impact)
		out = strconv.AppendBool(append(out, `,"mutation":`...), f.Tool.Mutation)
		out = append(canon.AppendText(append(out, `,"name":`...), f.Tool.Name), '}')
	}
	out = append(append(out, `,"turn":`...), number(f.Turn).Canonical()...)
	out = strconv.AppendInt(append(out, `,"v":`...), factsVersion, 10)
	return string(append(out, '}'))
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

func appendTexts(out []byte, list []string) []byte {
	out = append(out, '[')
	for i, s := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = canon.AppendText(out, s)
	}
	return append(out, ']')
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
