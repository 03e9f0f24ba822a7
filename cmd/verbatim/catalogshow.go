package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// toolFacts is the JSON document about one catalogued tool.
type toolFacts struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Class       string   `json:"class"` // read, mutation or high_impact
	Impact      string   `json:"impact,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Effect      string   `json:"effect"`
	Errors      string   `json:"errors,omitempty"`
	Timeout     string   `json:"timeout"`
	Approvers   []string `json:"approvers,omitempty"`
	Definition  string   `json:"definition"`
	Resolvers   []string `json:"resolvers,omitempty"`
	Identity    []string `json:"identity,omitempty"`
	Targets     []string `json:"targets,omitempty"`
	DryRun      string   `json:"dryRun,omitempty"`
	Secrets     []string `json:"secrets,omitempty"`
	Policy      string   `json:"policySees"` // the arguments as a Cedar type
}

func factsOf(t *catalog.Tool) (toolFacts, error) {
	f := toolFacts{Name: t.Name, Title: t.Title, Description: t.Description, Class: "read", Reason: t.Reason,
		Effect: string(t.Effect), Timeout: t.Timeout.String(), Approvers: requirementLines(t.Groups),
		Definition: t.Definition.String(), Secrets: t.Secrets}
	if t.Mutation {
		f.Class, f.Impact, f.Errors = "mutation", string(t.Impact), string(t.Errors)
	}
	if t.HighImpact() {
		f.Class = "high_impact"
	}
	for _, r := range t.Resolvers {
		f.Resolvers = append(f.Resolvers, r.Name)
	}
	for _, m := range t.Identity {
		f.Identity = append(f.Identity, m.Pointer+" names the "+string(m.Names))
	}
	for _, r := range t.Targets {
		f.Targets = append(f.Targets, r.Type+" at "+r.Pointer)
	}
	if d := t.DryRun; d != nil {
		f.DryRun = "by the argument " + d.Argument
		if d.Tool != "" {
			f.DryRun = "by the tool " + d.Tool
		}
	}
	var err error
	f.Policy, err = policySees(t)
	return f, err
}

// policySees writes the type of a tool's arguments as policies know it.
func policySees(t *catalog.Tool) (string, error) {
	name, text := cedar.Builtin()
	engine, err := cedar.Load(map[string][]byte{name: text}, []*catalog.Tool{t}, cedar.Options{})
	if err != nil {
		return "", err
	}
	return engine.Describe(t.Name)
}

func showTools(cmd *cobra.Command, s streams, c *catalog.Catalog) error {
	all := []toolFacts{}
	rows := [][]string{}
	for _, t := range c.Tools() {
		f, err := factsOf(t)
		if err != nil {
			return err
		}
		all = append(all, f)
		rows = append(rows, []string{f.Name, f.Class, f.Impact, f.Effect, strings.Join(f.Approvers, " and ")})
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, struct {
			Tools []toolFacts `json:"tools"`
		}{all})
	}
	return table(s.out, []string{"TOOL", "CLASS", "IMPACT", "EFFECT", "APPROVERS"}, rows)
}

func showTool(cmd *cobra.Command, s streams, c *catalog.Catalog, name string) error {
	t, ok := c.Tool(name)
	if !ok {
		return hinted(fmt.Errorf("the catalog has no tool %s", plain(name)), "list them with: verbatim catalog show")
	}
	f, err := factsOf(t)
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, f)
	}
	for _, line := range f.lines() {
		if line[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(s.out, "%-12s %s\n", line[0], plainJSON(line[1])); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(s.out, "\npolicy sees the arguments as\n%s\n", f.Policy)
	return err
}

func (f toolFacts) lines() [][2]string {
	return [][2]string{{"name", f.Name}, {"title", f.Title}, {"description", f.Description}, {"class", f.Class},
		{"impact", f.Impact}, {"reason", f.Reason}, {"effect", f.Effect}, {"errors", f.Errors}, {"timeout", f.Timeout},
		{"approvers", strings.Join(f.Approvers, " and ")}, {"resolvers", strings.Join(f.Resolvers, ", ")},
		{"identity", strings.Join(f.Identity, ", ")}, {"targets", strings.Join(f.Targets, ", ")}, {"dry run", f.DryRun},
		{"secrets", strings.Join(f.Secrets, ", ")}, {"definition", f.Definition}}
}
