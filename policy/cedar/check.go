package cedar

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/eval"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// Finding is something that loads and that its author should know.
type Finding struct {
	Tool    string // "" if it is about a rule
	Pointer string // of a member of the tool's arguments
	Rule    string // "" if it is about a tool
	File    string
	Line    int
	Message string
}

// String writes the finding in one line.
func (f Finding) String() string {
	if f.Rule != "" {
		return fmt.Sprintf("%s:%d: rule %s: %s", f.File, f.Line, f.Rule, f.Message)
	}
	if f.Pointer != "" {
		return fmt.Sprintf("tool %s, %s: %s", f.Tool, f.Pointer, f.Message)
	}
	return fmt.Sprintf("tool %s: %s", f.Tool, f.Message)
}

// Check loads the policies as [Load] does and fails as it does. Of policies
// that load, it tells which members they cannot see, which tools no permit can
// reach, which rules can never be satisfied, and which of their texts are not
// as transforms and resolvers write them, so that no call ever equals them. It
// asks the resolvers of the tools.
func Check(files map[string][]byte, tools []*catalog.Tool, opt Options) ([]Finding, error) {
	e, err := Load(files, tools, opt)
	if err != nil {
		return nil, err
	}
	return e.Findings(), nil
}

// Findings is what [Check] tells, for policies that are loaded already.
func (e *Engine) Findings() []Finding {
	var out []Finding
	for _, r := range e.rules {
		if len(e.actions) > 1 && e.never(r) { // there is a tool beside the handoff
			out = append(out, Finding{Rule: r.id, File: r.file, Line: r.line, Message: "its conditions are never satisfied, for no tool"})
		}
	}
	out = append(out, e.misspelt()...)
	for _, a := range e.sorted() {
		if a.group == "" {
			continue
		}
		name := string(a.uid.ID)
		if !slices.ContainsFunc(a.rules, (*rule).permit) {
			out = append(out, Finding{Tool: name, Message: "no permit can apply: every call is denied"})
		}
		out = append(out, a.args.unseen(name, "")...)
	}
	return out
}

// unseen lists the members that policy cannot see.
func (s *shape) unseen(tool, pointer string) (out []Finding) {
	for _, name := range slices.Sorted(maps.Keys(s.hidden)) {
		out = append(out, Finding{Tool: tool, Pointer: canon.JoinPointer(pointer, name), Message: "not visible to policy: " + s.hidden[name]})
	}
	if s.open {
		out = append(out, Finding{Tool: tool, Pointer: pointer, Message: "members that the schema does not declare are possible and not visible to policy"})
	}
	for _, m := range s.members {
		out = append(out, m.shape.unseen(tool, canon.JoinPointer(pointer, m.name))...)
	}
	if s.form == formArray && s.elem == nil {
		out = append(out, Finding{Tool: tool, Pointer: pointer, Message: "the elements are not visible to policy, only their number"})
	}
	if s.elem != nil {
		out = append(out, s.elem.unseen(tool, pointer+"/*")...)
	}
	return out
}

// never reports whether the rule is false for every tool that its scope
// reaches, whoever asks and whatever the arguments are.
func (e *Engine) never(r *rule) (never bool) {
	defer func() {
		if recover() != nil {
			never = false // a lint must not fail on what it does not understand
		}
	}()
	reached := append(e.sorted(), stranger("(listed later)"))
	for _, a := range reached {
		if !r.reaches(a) {
			continue
		}
		all := types.EntityMap{a.uid: a.entity()}
		maps.Copy(all, e.groups)
		env := eval.Env{Entities: all, Action: a.uid, Principal: unknownEntity("principal"),
			Resource: unknownEntity("resource"), Context: eval.Variable("context")}
		if _, kept := eval.PartialPolicy(env, r.ast); kept {
			return false
		}
	}
	return true
}

func unknownEntity(name types.String) types.EntityUID {
	uid, _ := eval.Variable(name).(types.EntityUID)
	return uid
}
