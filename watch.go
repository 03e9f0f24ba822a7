package verbatim

import (
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
)

// watch keeps what a candidate policy is to be told of a decision. A call that
// resumes an approval has an id; another one gets it with its row. Whatever
// the candidate says, it never comes back here.
func (g *Gate) watch(p *proposal, in policy.Input, d policy.Decision, found *action.Action) {
	if g.cfg.Shadow == nil {
		return
	}
	in.RawArguments = p.raw // the engine that has decided may have kept the other copy
	o := shadow.Observation{Input: in, Groups: g.approvers(p), Live: d}
	if found == nil {
		p.watched = &o
		return
	}
	o.Action = found.ID
	g.cfg.Shadow.Observe(o)
}

// watchAs tells the candidate of a call that has its id now.
func (g *Gate) watchAs(p *proposal, id string) {
	if o := p.watched; o != nil {
		o.Action, p.watched = id, nil
		g.cfg.Shadow.Observe(*o)
	}
}
