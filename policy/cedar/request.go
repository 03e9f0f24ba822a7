package cedar

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
)

// principal is who asks: User::"id" in its roles and tenant.
type principal struct {
	uid     types.EntityUID
	parents []types.EntityUID
}

func principalOf(s identity.Session) principal {
	p := principal{uid: types.NewEntityUID(typeUser, types.String(s.Principal))}
	p.parents = append(p.parents, types.NewEntityUID(typeTenant, types.String(s.Tenant)))
	for _, role := range s.Roles {
		p.parents = append(p.parents, types.NewEntityUID(typeRole, types.String(role)))
	}
	return p
}

func (p principal) in(uid types.EntityUID) bool {
	return p.uid == uid || slices.Contains(p.parents, uid)
}

// entities are the few that a call can reach: who asks, what is asked for,
// and the action groups. Everything else has neither parents nor attributes.
type entities struct {
	user   types.Entity
	action types.Entity
	groups map[types.EntityUID]types.Entity
}

// Get implements Cedar's EntityGetter.
func (e entities) Get(uid types.EntityUID) (types.Entity, bool) {
	switch uid {
	case e.user.UID:
		return e.user, true
	case e.action.UID:
		return e.action, true
	}
	entity, ok := e.groups[uid]
	return entity, ok
}

// resources are what the call acts on, each once: its targets, or the tool
// itself.
func resources(in policy.Input) []types.EntityUID {
	if in.Handoff != nil {
		return []types.EntityUID{types.NewEntityUID(typeAgent, types.String(in.Handoff.ToAgentName))}
	}
	seen := map[types.EntityUID]bool{}
	var out []types.EntityUID
	for _, t := range in.Proposal.Targets {
		uid := types.NewEntityUID(entityType(t.Type), types.String(t.ID))
		if !seen[uid] {
			seen[uid] = true
			out = append(out, uid)
		}
	}
	if len(out) == 0 {
		out = append(out, types.NewEntityUID(typeTool, types.String(in.Proposal.ToolName)))
	}
	return out
}

// contextOf builds the context record, with what the rules of the operation
// read and nothing else: what no rule reads cannot change an answer.
func contextOf(in policy.Input, a *operation, args canon.Value) types.Record {
	out := make(types.RecordMap, len(a.facts))
	for _, name := range a.facts {
		if v := fact(name, in, a, args); v != nil {
			out[types.String(name)] = v
		}
	}
	return types.NewRecord(out)
}

// fact returns a member of context; nil if it is absent.
func fact(name string, in policy.Input, a *operation, args canon.Value) types.Value {
	switch name {
	case "args":
		return a.readArgs(args)
	case "agent":
		return types.String(in.Session.Agent)
	case "owner":
		return types.String(in.Session.Owner)
	case "task":
		return present(in.Session.Task)
	case "grant":
		return present(in.Session.Grant.ID)
	case "grant_exact":
		return types.Boolean(grantExact(&in))
	case "turn":
		return types.Long(in.Turn)
	case "taint":
		return texts(in.Session.Taint)
	case "now":
		return types.NewDatetime(in.Now)
	case "changes":
		return changes(in)
	case "confusable":
		return confusable(args)
	case "nulls":
		return types.NewSet(nulls(args, "", nil)...)
	case "resolvers":
		return resolvers(in)
	case "targets":
		return types.Long(len(in.Proposal.Targets))
	case "tool":
		return toolFacts(in.Tool, a)
	case "approval":
		return approvalFacts(in.Approval)
	}
	return nil
}

// readArgs is the record of the arguments, with the members that the rules of
// the operation read.
func (a *operation) readArgs(args canon.Value) types.Record {
	if a.wanted == nil {
		return record(args, a.args)
	}
	out := make(types.RecordMap, len(a.wanted))
	for _, name := range a.wanted {
		value, present := args.Get(name)
		m, shown := a.args.member(name)
		if !present || !shown || value.IsNull() {
			continue
		}
		if converted, ok := convert(value, m.shape); ok {
			out[types.String(name)] = converted
		}
	}
	return types.NewRecord(out)
}

// grantExact: the delegated authority is for exactly this call, as its digest
// is the proposal hash.
func grantExact(in *policy.Input) bool {
	hash := in.Proposal.Hash
	if in.Handoff != nil {
		hash = in.Handoff.Hash
	}
	return in.Session.Grant.ID != "" && in.Session.Grant.Digest == canon.Digest(hash) && in.Session.Grant.Digest != (canon.Digest{})
}

func present(s string) types.Value {
	if s == "" {
		return nil
	}
	return types.String(s)
}

func approvalFacts(f *policy.ApprovalFacts) types.Value {
	if f == nil {
		return nil
	}
	return types.NewRecord(types.RecordMap{"id": types.String(f.ID), "voters": texts(f.Voters), "exact": types.Boolean(f.Exact)})
}

// toolFacts takes the group from the rules' own catalog, which Decide has
// compared with the caller's.
func toolFacts(t policy.Tool, a *operation) types.Record {
	return types.NewRecord(types.RecordMap{
		"name":        a.uid.ID,
		"impact":      types.String(t.Impact),
		"effect":      types.String(t.Effect),
		"mutation":    types.Boolean(a.group != groupRead),
		"high_impact": types.Boolean(a.group == groupHigh),
		"cataloged":   types.Boolean(t.Cataloged),
	})
}

func texts(list []string) types.Set {
	out := make([]types.Value, len(list))
	for i, s := range list {
		out[i] = types.String(s)
	}
	return types.NewSet(out...)
}

// changes are the pointers of what changed, by kind.
func changes(in policy.Input) types.Record {
	sets := map[string][]string{}
	for _, c := range in.Proposal.Changes {
		sets[string(c.Kind)] = append(sets[string(c.Kind)], c.Pointer)
	}
	return recordOf(changeKinds, sets)
}

// confusable are the pointers of texts that may not be what they look like,
// by kind.
func confusable(args canon.Value) types.Record {
	c := policy.ConfusableIn(args)
	return recordOf(confusableKinds, map[string][]string{"mixed": c.Mixed, "alike": c.Alike, "unseen": c.Unseen})
}

func recordOf(names []string, sets map[string][]string) types.Record {
	out := make(types.RecordMap, len(names))
	for _, name := range names {
		out[types.String(name)] = texts(sets[name])
	}
	return types.NewRecord(out)
}

// resolvers are written as name and pointer: "vendors:/vendorId".
func resolvers(in policy.Input) types.Set {
	out := make([]types.Value, len(in.Proposal.Evidence))
	for i, e := range in.Proposal.Evidence {
		out[i] = types.String(e.Resolver + ":" + e.Pointer)
	}
	return types.NewSet(out...)
}
