package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Catalog is a fixed set of tools. It is safe for concurrent use.
type Catalog struct {
	tools  map[string]*Tool
	folded map[string]string // folded name to name
}

// New checks the tools together: no two names are equal but for case, and a
// dry run by another tool names one that only reads, and limits of one name are
// one limit. Tools of servers must have been made by [Define].
func New(tools ...*Tool) (*Catalog, error) {
	c := &Catalog{tools: map[string]*Tool{}, folded: map[string]string{}}
	var faults []error
	for _, t := range tools {
		if twin, taken := c.folded[foldName(t.Name)]; taken {
			faults = append(faults, fmt.Errorf("tool %s: the name is that of %s but for case", t.Name, twin))
			continue
		}
		c.tools[t.Name], c.folded[foldName(t.Name)] = t, t.Name
	}
	for _, t := range c.Tools() {
		if l := t.Lookup; l != nil {
			if asked, ok := c.tools[l.Tool]; !ok || asked.Mutation {
				faults = append(faults, fmt.Errorf("tool %s: lookup: tool must name a tool of the catalog that only reads", t.Name))
			}
		}
		if t.DryRun == nil || t.DryRun.Tool == "" {
			continue
		}
		if preview, ok := c.tools[t.DryRun.Tool]; !ok || preview.Mutation {
			faults = append(faults, fmt.Errorf("tool %s: dryRun: tool must name a tool of the catalog that only reads", t.Name))
		}
	}
	faults = append(faults, sharedLimits(c.Tools())...)
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return c, nil
}

// foldName makes names equal that differ in case only. Names are ASCII, so
// this is all of case folding.
func foldName(name string) string { return strings.ToLower(name) }

// Tool returns the tool called name.
func (c *Catalog) Tool(name string) (*Tool, bool) {
	t, ok := c.tools[name]
	return t, ok
}

// Tools returns every tool, by name.
func (c *Catalog) Tools() []*Tool {
	out := make([]*Tool, 0, len(c.tools))
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		out = append(out, c.tools[name])
	}
	return out
}
