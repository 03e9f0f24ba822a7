package cedar

import (
	"sync"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/policy"
)

var _ policy.Prompt = (*Engine)(nil)

// maxWork bounds what [Engine.Answer] does: nodes of rules and places in the
// arguments, times bytes to look at. At a nanosecond for each, the longest
// answer takes a few milliseconds, below the shortest timeout.
const (
	maxWork = 1 << 22
	reading = 16 // what decoding the arguments costs
)

// calls keeps the state of evaluations for the next ones.
var calls = sync.Pool{New: func() any { return new(call) }}

// Answer decides at once where the rules of the tool are compiled, every value
// that they read fits, none of them fails, and the call is not large. It says
// what [Engine.Decide] says, or false.
func (e *Engine) Answer(in policy.Input) (policy.Decision, bool) {
	if in.Handoff != nil || in.Proposal.Args.IsZero() || in.Proposal.ToolName != in.Tool.Name {
		return policy.Decision{}, false
	}
	a, known := e.actions[actionUID(in.Tool.Name)]
	if !known || a.group == "" || a.group != groupOf(in.Tool) || !a.program.bounded(&in) {
		return policy.Decision{}, false
	}
	resource, ok := a.resource(&in)
	if !ok {
		return policy.Decision{}, false
	}
	c := calls.Get().(*call)
	defer calls.Put(c)
	defer c.clear()
	c.in, c.args, c.resource = in, in.Proposal.Args.Value(), resource
	if !a.program.run(c) {
		return policy.Decision{}, false
	}
	d := c.decision()
	d.PolicyVersion = a.version
	return d, true
}

// bounded reports whether running the program is little work.
func (p *program) bounded(in *policy.Input) bool {
	size := len(in.Proposal.Args.Text()) + len(in.Session.Roles) + len(in.Session.Taint) +
		len(in.Proposal.Changes) + len(in.Proposal.Evidence)
	return size <= maxWork/(reading+p.cost+len(p.places)+len(p.tests))
}

// resource is the one thing that the call acts on. It reports false if there
// are several, or one that the catalog does not give to the tool.
func (a *operation) resource(in *policy.Input) (types.EntityUID, bool) {
	switch len(in.Proposal.Targets) {
	case 0:
		return types.NewEntityUID(typeTool, a.uid.ID), true
	case 1:
		t := in.Proposal.Targets[0]
		et, known := a.targets[t.Type]
		return types.NewEntityUID(et, types.String(t.ID)), known
	default:
		return types.EntityUID{}, false
	}
}

// run loads the places and asks every rule. It reports false where Cedar must
// judge.
func (p *program) run(c *call) bool {
	for i := range p.places {
		s, ok := p.places[i].load(c.args)
		if !ok {
			return false
		}
		c.spots = append(c.spots, s)
	}
	for i := range p.tests {
		t := &p.tests[i]
		holds := t.says(c)
		switch {
		case c.left:
			return false
		case holds && t.rule.permit():
			c.permits = append(c.permits, t.rule)
		case holds:
			c.forbids = append(c.forbids, t.rule)
		}
	}
	return true
}

// decision is what the satisfied rules say. As in Cedar, permits do not count
// where a forbid is satisfied.
func (c *call) decision() policy.Decision {
	satisfied := c.permits
	if len(c.forbids) > 0 {
		satisfied = c.forbids
	}
	return verdict(nil, satisfied)
}

// clear lets go of everything that belongs to the call.
func (c *call) clear() {
	clear(c.spots)
	clear(c.forbids)
	clear(c.permits)
	*c = call{spots: c.spots[:0], forbids: c.forbids[:0], permits: c.permits[:0]}
}
