package cedar

import (
	"slices"
	"sync"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
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
// what [Engine.Decide] says, or false. The decision is shared: nobody may change
// it, and [policy.Evaluate] copies it.
func (e *Engine) Answer(in policy.Input) (policy.Decision, bool) {
	if in.Handoff != nil || in.Proposal.Args.IsZero() || in.Proposal.ToolName != in.Tool.Name {
		return policy.Decision{}, false
	}
	a, known := e.tools[in.Tool.Name]
	if !known || a.group == "" || a.group != groupOf(in.Tool) || !a.program.bounded(&in) {
		return policy.Decision{}, false
	}
	c := calls.Get().(*call)
	defer calls.Put(c)
	defer c.clear()
	if a.program.facts {
		c.in, c.told = in, true
	}
	c.holds = slices.Grow(c.holds[:0], a.program.words())[:a.program.words()]
	if !c.targets(a, in.Proposal.Targets) {
		return policy.Decision{}, false
	}
	c.read(a.program, &in.Proposal.Args)
	d, ok := a.program.answer(c)
	d.PolicyVersion = a.version
	return d, ok
}

// read takes from the frozen arguments what the program reads.
func (c *call) read(p *program, args *snapshot.Snapshot) {
	if !p.whole && len(p.roots) <= len(c.room) {
		c.picked = c.room[:len(p.roots)]
		if args.Pick(p.roots, c.picked) {
			return
		}
		c.picked = nil
	}
	c.args = args.Value()
}

// bounded reports whether running the program is little work.
func (p *program) bounded(in *policy.Input) bool {
	size := len(in.Proposal.Args.Text()) + len(in.Session.Roles) + len(in.Session.Taint) +
		len(in.Proposal.Changes) + len(in.Proposal.Evidence)
	size *= max(1, len(in.Proposal.Targets))
	return size <= maxWork/(reading+p.cost+len(p.places)+len(p.tests))
}

// words is how many words have a bit for each rule.
func (p *program) words() int { return (len(p.tests) + 63) / 64 }

// maxTargets is how many targets a call may have to be answered at once.
const maxTargets = 8

// targets finds what the call acts on, as [resources] does. It reports false
// if that is much, or something that the catalog does not give to the tool.
func (c *call) targets(a *operation, of []snapshot.Target) bool {
	if len(of) > maxTargets {
		return false
	}
	for i := range of {
		t := &of[i]
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
	if len(c.acted) == 1 {
		return p.one(c, c.acted[0])
	}
	several := make([]policy.Decision, 0, len(c.acted))
	for _, resource := range c.acted {
		d, ok := p.one(c, resource)
		if !ok {
			return policy.Decision{}, false
		}
		several = append(several, d)
	}
	return policy.Combine(several...), true
}

// one asks every rule about one target.
func (p *program) one(c *call, resource types.EntityUID) (policy.Decision, bool) {
	c.resource = resource
	clear(c.holds)
	for i := range p.tests {
		holds := p.tests[i].says(c)
		if c.left {
			return policy.Decision{}, false
		}
		if holds {
			c.holds[i/64] |= 1 << (i % 64)
		}
	}
	return p.decision(c.holds), true
}

// verdicts is what some satisfied rules say together.
type verdicts struct {
	holds []uint64 // a bit for each rule, in load order
	says  policy.Decision
}

// decision is what the rules say that hold. Calls of one tool are much alike:
// it is made once for those that satisfy the same rules as the call before.
// Nobody changes it; [policy.Evaluate] copies what it gives on.
func (p *program) decision(holds []uint64) policy.Decision {
	if last := p.last.Load(); last != nil && slices.Equal(last.holds, holds) {
		return last.says
	}
	var forbids, permits []*rule
	for i := range p.tests {
		r := p.tests[i].rule
		switch {
		case holds[i/64]>>(i%64)&1 == 0:
		case r.permit():
			permits = append(permits, r)
		default:
			forbids = append(forbids, r)
		}
	}
	satisfied := permits
	if len(forbids) > 0 { // as in Cedar, permits do not count then
		satisfied = forbids
	}
	d := verdict(nil, satisfied)
	p.last.Store(&verdicts{slices.Clone(holds), d})
	return d
}

// clear lets go of everything that belongs to the call. It leaves alone what was
// not used: while the collector runs, clearing costs more.
func (c *call) clear() {
	clear(c.acted)
	clear(c.spots)
	clear(c.picked)
	c.acted, c.spots, c.picked = c.acted[:0], c.spots[:0], nil
	c.args, c.resource, c.left = canon.Value{}, types.EntityUID{}, false
	if c.told {
		c.in, c.told = policy.Input{}, false
	}
}
