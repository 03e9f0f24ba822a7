package policytest

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Result is what became of one case.
type Result struct {
	Case     Case
	Decision policy.Decision
	Problem  string // why the case fails; "" if it passes
}

// Passed reports whether the decision is the right one.
func (r Result) Passed() bool { return r.Problem == "" }

// Run decides every case and compares. approvers are the groups of the
// configuration, for tools whose catalog entry names none.
func Run(ctx context.Context, e policy.Engine, tools []*catalog.Tool, approvers []action.Requirement, cases []Case) []Result {
	byName := make(map[string]*catalog.Tool, len(tools))
	for _, t := range tools {
		byName[t.Name] = t
	}
	results := make([]Result, len(cases))
	for i, c := range cases {
		results[i] = run(ctx, e, byName[c.Tool], approvers, c)
	}
	return results
}

func run(ctx context.Context, e policy.Engine, tool *catalog.Tool, approvers []action.Requirement, c Case) Result {
	if tool == nil {
		return Result{Case: c, Problem: "the catalog has no such tool"}
	}
	proposal, err := propose(tool, c)
	if err != nil {
		return Result{Case: c, Problem: fmt.Sprintf("the arguments do not reach policy: %v", err)}
	}
	in := policy.Input{Proposal: proposal, RawArguments: c.Arguments.Canonical(), Requested: c.Arguments, Session: c.Session,
		Turn: c.Turn, Approval: c.Approval, Now: c.Now,
		Tool: policy.Tool{Name: tool.Name, Mutation: tool.Mutation, HighImpact: tool.HighImpact(), Impact: string(tool.Impact),
			Effect: string(tool.Effect), Cataloged: tool.Cataloged}}
	if c.GrantExact {
		in.Session.Grant.Digest = canon.Digest(proposal.Hash)
	}
	groups := tool.Groups
	if len(groups) == 0 {
		groups = approvers
	}
	d := policy.HighImpact(policy.Evaluate(ctx, e, in, policy.MaxTimeout), in.Tool, groups)
	return Result{Case: c, Decision: d, Problem: c.Want.compare(d)}
}

// propose freezes the arguments as the walk does, but for the resolvers.
func propose(tool *catalog.Tool, c Case) (snapshot.Proposal, error) {
	parsed, changes := c.Arguments, []canon.Change(nil)
	var err error
	if len(tool.Resolvers) == 0 {
		if parsed, changes, err = tool.Proposal.Apply(parsed, nil); err != nil {
			return snapshot.Proposal{}, err
		}
	}
	if tool.Own != tool.Proposal {
		if err := tool.Own.Validate(parsed); err != nil {
			return snapshot.Proposal{}, err
		}
	}
	targets, err := catalog.ExtractTargets(tool.Targets, parsed)
	if err != nil {
		return snapshot.Proposal{}, err
	}
	args, err := snapshot.Freeze(parsed)
	if err != nil {
		return snapshot.Proposal{}, err
	}
	p := snapshot.Propose(c.Session.Agent, tool.Name, args)
	p.Targets, p.Changes = targets, changes
	return p, nil
}

// compare says what is wrong with a decision; "" if nothing is.
func (w Want) compare(d policy.Decision) string {
	switch {
	case d.Effect.String() != w.Decision:
		return fmt.Sprintf("got %s (%s), want %s", d.Effect, d.Reason, w.Decision)
	case w.Code != "" && d.Code != w.Code:
		return fmt.Sprintf("got code %q (%s), want %q", d.Code, d.Reason, w.Code)
	case w.Rules != nil && !slices.Equal(sorted(d.Rules), sorted(w.Rules)):
		return fmt.Sprintf("got rules %q, want %q", sorted(d.Rules), sorted(w.Rules))
	case w.Groups != nil && !slices.Equal(groupsOf(d), sorted(w.Groups)):
		return fmt.Sprintf("got groups %q, want %q", groupsOf(d), sorted(w.Groups))
	}
	return ""
}

func groupsOf(d policy.Decision) []string {
	var out []string
	if d.Approval != nil {
		for _, r := range d.Approval.Requirements {
			for _, g := range r.AnyOf {
				out = append(out, fmt.Sprintf("%s:%d", g.Name, g.Votes))
			}
		}
	}
	return sorted(out)
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}
