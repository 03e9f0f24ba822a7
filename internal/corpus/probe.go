package corpus

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Probe is an honest call with its arguments altered, to see one rule at work.
type Probe struct {
	Tool  string
	Alter func(args canon.Value) canon.Value
	Read  []string // the labels of the session
}

// Try walks probes in one domain, in their order. Each is the first published
// call of its tool, altered; the customer says yes to the altered action, and
// the user has read what the probe says, nothing if it says nothing. It fails if no published call of the
// tool is free of computed arguments.
func Try(ctx context.Context, p Paths, gate MakeGate, domain string, probes []Probe) (Report, error) {
	d, err := open(p, domain, gate)
	if err != nil {
		return nil, err
	}
	w := &walker{domain: d, ctx: ctx}
	for _, probe := range probes {
		t, c, ok := d.first(probe.Tool)
		if !ok {
			return nil, fmt.Errorf("%s: no call of %s was published", domain, probe.Tool)
		}
		c.Args = probe.Alter(c.Args)
		customer := user
		if d.facts != nil {
			customer = t.Customer
		}
		s := session(Honest, customer)
		s.Taint = probe.Read
		if d.facts != nil {
			if s, err = w.confirmed(s, c); err != nil {
				return nil, err
			}
		}
		if err := w.call(Honest, t.ID, s, c); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// first is the first honest call of a tool that was published as a whole.
func (d *domain) first(tool string) (Task, Call, bool) {
	for _, t := range d.honest {
		for _, c := range t.Calls {
			if c.Tool == tool && !c.Computed {
				return t, c, true
			}
		}
	}
	return Task{}, Call{}, false
}
