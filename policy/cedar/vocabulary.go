package cedar

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"

	"github.com/seed-de4804fb/verbatim/canon"
)

// operation is one thing that can be asked for: a tool, or a handoff.
type operation struct {
	uid       types.EntityUID
	group     string // "" for a handoff
	resources []types.EntityType
	targets   map[string]types.EntityType // by the catalog's name of the type
	args      *shape
	rules     []*rule // that can apply, in load order
	byID      map[string]*rule
	facts     []string     // members of context that the rules read
	wanted    []string     // members of the arguments that the rules read; nil: all
	self      types.Entity // of the action
	program   *program     // nil for a stranger
	version   string
	spells    spelling
}

// in reports whether the action is uid or lies below it.
func (a *operation) in(uid types.EntityUID) bool {
	return a.uid == uid || slices.Contains(groupsOf(a.group), uid)
}

// groupsOf returns the group and the groups above it: what is high-impact is
// a mutation too.
func groupsOf(group string) []types.EntityUID {
	switch group {
	case groupHigh:
		return []types.EntityUID{actionUID(groupHigh), actionUID(groupMutation)}
	case "":
		return nil
	default:
		return []types.EntityUID{actionUID(group)}
	}
}

func newAction(t tool) *operation {
	a := &operation{uid: actionUID(t.name), group: t.group, args: argsShape(t.root, t.applied), spells: t.spells,
		targets: map[string]types.EntityType{}}
	for _, target := range t.targets {
		a.targets[target] = entityType(target)
		a.resources = append(a.resources, a.targets[target])
	}
	a.resources = append(a.resources, typeTool)
	return a
}

func handoffAction() *operation {
	return &operation{uid: actionUID(actionHandoff), resources: []types.EntityType{typeAgent}, args: &shape{form: formRecord}}
}

// stranger is a tool that is listed by an upstream but was not there when the
// policies were loaded: a high-impact mutation whose arguments are invisible.
func stranger(name string) *operation {
	return &operation{uid: actionUID(name), group: groupHigh, resources: []types.EntityType{typeTool},
		args: &shape{form: formRecord}}
}

// cedarSchema is the Cedar schema of the catalog.
func cedarSchema(actions []*operation) *resolved.Schema {
	s := &resolved.Schema{
		Namespaces: map[types.Path]resolved.Namespace{},
		Entities: map[types.EntityType]resolved.Entity{
			typeUser:   {Name: typeUser, ParentTypes: []types.EntityType{typeRole, typeTenant}},
			typeRole:   {Name: typeRole},
			typeTenant: {Name: typeTenant},
			typeTool:   {Name: typeTool},
			typeAgent:  {Name: typeAgent},
		},
		Enums:   map[types.EntityType]resolved.Enum{},
		Actions: map[types.EntityUID]resolved.Action{},
	}
	for uid, entity := range groupEntities() {
		s.Actions[uid] = resolved.Action{Entity: entity}
	}
	for _, a := range actions {
		for _, et := range a.resources {
			if _, ok := s.Entities[et]; !ok {
				s.Entities[et] = resolved.Entity{Name: et}
			}
		}
		s.Actions[a.uid] = resolved.Action{Entity: a.entity(), AppliesTo: &resolved.AppliesTo{
			Principals: []types.EntityType{typeUser}, Resources: a.resources, Context: contextType(a.args)}}
	}
	return s
}

func (a *operation) entity() types.Entity {
	var parents []types.EntityUID
	if a.group != "" {
		parents = append(parents, actionUID(a.group))
	}
	return types.Entity{UID: a.uid, Parents: types.NewEntityUIDSet(parents...)}
}

func groupEntities() map[types.EntityUID]types.Entity {
	read, mutation, high := actionUID(groupRead), actionUID(groupMutation), actionUID(groupHigh)
	return map[types.EntityUID]types.Entity{
		read:     {UID: read},
		mutation: {UID: mutation},
		high:     {UID: high, Parents: types.NewEntityUIDSet(mutation)},
	}
}

// contextType is the type of context: the same facts for every action, and
// its own arguments.
func contextType(args *shape) resolved.RecordType {
	text, long, flag := resolved.StringType{}, resolved.LongType{}, resolved.BoolType{}
	set := resolved.SetType{Element: text}
	return resolved.RecordType{
		"args":        {Type: args.cedar()},
		"agent":       {Type: text},
		"owner":       {Type: text},
		"task":        {Type: text, Optional: true},
		"grant":       {Type: text, Optional: true},
		"grant_exact": {Type: flag},
		"turn":        {Type: long},
		"taint":       {Type: set},
		"now":         {Type: resolved.ExtensionType("datetime")},
		"changes":     {Type: setsOf(changeKinds)},
		"confusable":  {Type: setsOf(confusableKinds)},
		"nulls":       {Type: set},
		"resolvers":   {Type: set},
		"targets":     {Type: long},
		"approval":    {Type: resolved.RecordType{"id": {Type: text}, "voters": {Type: set}, "exact": {Type: flag}}, Optional: true},
		"tool": {Type: resolved.RecordType{"name": {Type: text}, "impact": {Type: text}, "effect": {Type: text},
			"mutation": {Type: flag}, "high_impact": {Type: flag}, "cataloged": {Type: flag}}},
	}
}

// changeKinds are the members of context.changes: one set of pointers for each
// kind.
var changeKinds = []string{string(canon.ChangeNullDropped), string(canon.ChangeCoerced), string(canon.ChangeTransformed), string(canon.ChangeFilled),
	string(canon.ChangeDefault), string(canon.ChangeStripped), string(canon.ChangeResolved), string(canon.ChangeConsumed)}

// confusableKinds are the members of context.confusable.
var confusableKinds = []string{"mixed", "alike", "unseen"}

func setsOf(names []string) resolved.RecordType {
	out := resolved.RecordType{}
	for _, name := range names {
		out[types.String(name)] = resolved.Attribute{Type: resolved.SetType{Element: resolved.StringType{}}}
	}
	return out
}
