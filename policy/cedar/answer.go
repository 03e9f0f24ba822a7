package cedar

import (
	"slices"
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
	c := calls.Get().(*call)
	defer calls.Put(c)
	defer c.clear()
	c.in = in
	if !c.targets(a) {
		return policy.Decision{}, false
	}
	c.read(a.program)
	d, ok := a.program.answer(c)
	d.PolicyVersion = a.version
	return d, ok
}

// read takes from the frozen arguments what the program reads.
func (c *call) read(p *program) {
	if !p.whole && len(p.roots) <= len(c.room) {
		c.picked = c.room[:len(p.roots)]
		if c.in.Proposal.Args.Pick(p.roots, c.picked) {
			return
		}
		c.picked = nil
	}
	c.args = c.in.Proposal.Args.Value()
}

// bounded reports whether running the program is little work.
func (p *program) bounded(in *policy.Input) bool {
	size := len(in.Proposal.Args.Text()) + len(in.Session.Roles) + len(in.Session.Taint) +
		len(in.Proposal.Changes) + len(in.Proposal.Evidence)
	size *= max(1, len(in.Proposal.Targets))
	return size <= maxWork/(reading+p.cost+len(p.places)+len(p.tests))
}

// maxTargets is how many targets a call may have to be answered at once.
const maxTargets = 8

// targets finds what the call acts on, as [resources] does. It reports false
// if that is much, or something that the catalog does not give to the tool.
func (c *call) targets(a *operation) bool {
	if len(c.in.Proposal.Targets) > maxTargets {
		return false
	}
	for i := range c.in.Proposal.Targets {
		t := &c.in.Proposal.Targets[i]
		et, known := a.targets[t.Type]
		if !known {
			return false
		}
		uid := types.NewEntityUID(et, types.String(t.ID))
		if !slices.Contains(c.acted, uid) {
			c.acted = append(c.acted, uid)
		}
	}
	if len(c.acted) == 0 {
		c.acted = append(c.acted, types.NewEntityUID(typeTool, a.uid.ID))
	}
	return true
}

// answer loads the places and asks every rule about every target. It reports
// false where Cedar must judge.
func (p *program) answer(c *call) (policy.Decision, bool) {
	for i := range p.places {
		s, ok := p.places[i].load(c)
		if !ok {
			return policy.Decision{}, false
		}
		c.spots = append(c.spots, s)
	}
	var several []policy.Decision
	for _, resource := range c.acted {
		c.resource = resource
		if !p.run(c) {
			return policy.Decision{}, false
		}
		if len(c.acted) == 1 {
			return c.decision(), true
		}
		several = append(several, c.decision())
	}
	return policy.Combine(several...), true
}

// run asks every rule about one target.
func (p *program) run(c *call) bool {
	c.permits, c.forbids = c.permits[:0], c.forbids[:0]
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
	clear(c.acted)
	clear(c.spots)
	clear(c.forbids)
	clear(c.permits)
	clear(c.picked)
	acted, spots, forbids, permits := c.acted[:0], c.spots[:0], c.forbids[:0], c.permits[:0]
	*c = call{} // in place: a literal that reads c would be built beside it and copied
	c.acted, c.spots, c.forbids, c.permits = acted, spots, forbids, permits
}
