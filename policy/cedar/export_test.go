package cedar

import "github.com/seed-de4804fb/verbatim/schema"

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
