package cedar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/schema"
)

// The entity types of the vocabulary. Target types of the catalog live in
// their own namespace, so that they cannot collide with these.
const (
	typeAction  = "Action"
	typeUser    = "User"
	typeRole    = "Role"
	typeTenant  = "Tenant"
	typeTool    = "Tool"
	typeAgent   = "Agent"
	targetSpace = "Target::"
)

// The action groups, and the one action that is no tool.
const (
	groupRead     = "read"
	groupMutation = "mutation"
	groupHigh     = "high_impact"
	actionHandoff = "handoff"
)

// Tool is what the engine needs to know about one tool: [Load] takes it from
// the catalog.
type tool struct {
	name    string
	group   string   // groupRead, groupMutation or groupHigh
	targets []string // target types of the catalog
	root    *schema.Node
	applied *schema.Node // that filled in defaults; nil if members have moved since
	spells  spelling
}

// fromCatalog takes the schema that the frozen arguments were validated
// against: the tool's own. It need not be the one that was applied.
func fromCatalog(t *catalog.Tool) tool {
	out := tool{name: t.Name, group: groupHigh, spells: spellingOf(t)}
	switch {
	case !t.Cataloged || t.HighImpact():
	case t.Mutation:
		out.group = groupMutation
	default:
		out.group = groupRead
	}
	for _, rule := range t.Targets {
		if !slices.Contains(out.targets, rule.Type) {
			out.targets = append(out.targets, rule.Type)
		}
	}
	if t.Proposal != nil {
		out.applied = t.Proposal.Root()
		out.root = out.applied
	}
	if t.Own != nil && t.Own != t.Proposal {
		out.root = t.Own.Root()
		if len(t.Resolvers) > 0 {
			out.applied = nil
		}
	}
	return out
}

// entityType is the Cedar type of a target type: Target::vendor. What Cedar
// does not allow in a name becomes an underscore.
func entityType(target string) types.EntityType {
	name := strings.Map(func(r rune) rune {
		if r < 128 && wordByte(byte(r)) {
			return r
		}
		return '_'
	}, target)
	if name == "" || name[0] >= '0' && name[0] <= '9' || reserved[name] {
		name = "_" + name
	}
	return types.EntityType(targetSpace + name)
}

// reserved are the words that Cedar does not take as an identifier.
var reserved = map[string]bool{"true": true, "false": true, "if": true, "then": true, "else": true, "in": true,
	"is": true, "like": true, "has": true, "__cedar": true}

func actionUID(name string) types.EntityUID {
	return types.NewEntityUID(typeAction, types.String(name))
}

// checkTools refuses catalogs that cannot be told apart in Cedar.
func checkTools(tools []tool) error {
	names, targets := map[string]bool{}, map[types.EntityType]string{}
	for _, t := range tools {
		switch t.name {
		case "", groupRead, groupMutation, groupHigh, actionHandoff:
			return fmt.Errorf("tool name %q is taken by the policy vocabulary", t.name)
		}
		if names[t.name] {
			return fmt.Errorf("tool %q is there twice", t.name)
		}
		names[t.name] = true
		for _, target := range t.targets {
			et := entityType(target)
			if other, ok := targets[et]; ok && other != target {
				return fmt.Errorf("target types %q and %q are both %s in Cedar", other, target, et)
			}
			targets[et] = target
		}
	}
	return nil
}
