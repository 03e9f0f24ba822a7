package cedar

import (
	"context"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/schema"
)

// ToolModel lets tests describe a tool without a JSON Schema.
type ToolModel struct {
	Name    string
	Group   string
	Targets []string
	Root    *schema.Node
	Partial bool // defaults are not filled in
}

// LoadModels is Load for such tools.
func LoadModels(files map[string][]byte, tools []ToolModel, opt Options) (*Engine, error) {
	known := make([]tool, len(tools))
	for i, t := range tools {
		known[i] = tool{name: t.Name, group: t.Group, targets: t.Targets, root: t.Root, applied: t.Root}
		if t.Partial {
			known[i].applied = nil
		}
	}
	return load(files, known, opt)
}

// TellAll has the compiled rules get every fact, whether they read any or not.
func TellAll(e *Engine) *Engine {
	for _, a := range e.actions {
		a.program.facts = true
	}
	return e
}

// Wasteful is the engine without any shortcut: Cedar's evaluator gets every
// fact and every argument, whether a rule reads it or not.
type Wasteful struct{ plain *Engine }

func WithoutShortcuts(e *Engine) Wasteful {
	plain := &Engine{actions: map[types.EntityUID]*operation{}, rules: e.rules, groups: e.groups}
	for uid, a := range e.actions {
		all := *a
		all.wanted, all.facts = nil, nil
		for name := range contextType(&shape{form: formRecord}) {
			all.facts = append(all.facts, string(name))
		}
		plain.actions[uid] = &all
	}
	return Wasteful{plain}
}

func (w Wasteful) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	return w.plain.Decide(ctx, in)
}

func (w Wasteful) Version(tool string) string { return w.plain.Version(tool) }
