package cedar

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
)

var _ policy.Engine = (*Engine)(nil)

// Decide answers for one proposal: one Cedar request per target, all of which
// must pass. It fails if the input contradicts the catalog that the policies
// were loaded for. Call it through [policy.Evaluate], and apply
// [policy.HighImpact] to the answer.
func (e *Engine) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	a, args, err := e.subject(in)
	if err != nil {
		return policy.Decision{}, err
	}
	who, acted := principalOf(in.Session), resources(in)
	for _, resource := range acted {
		// The index by action left out rules for other types.
		if !slices.Contains(a.resources, resource.Type) {
			return policy.Decision{}, errors.New("a target has a type that the catalog does not give to the tool")
		}
	}
	if d, faulty := a.faults(args, who, acted); faulty {
		d.PolicyVersion = a.version
		return d, nil
	}
	known := entities{user: types.Entity{UID: who.uid, Parents: types.NewEntityUIDSet(who.parents...)},
		action: a.self, groups: e.groups}
	request := cedar.Request{Principal: who.uid, Action: a.uid, Context: contextOf(in, a, args)}
	answers := make([]policy.Decision, 0, len(acted))
	for _, resource := range acted {
		if err := ctx.Err(); err != nil {
			return policy.Decision{}, err
		}
		request.Resource = resource
		_, diagnostic := cedar.Authorize(a, known, request)
		answers = append(answers, a.answer(diagnostic))
	}
	d := policy.Combine(answers...)
	d.PolicyVersion = a.version
	return d, nil
}

// subject finds what is asked for and its arguments.
func (e *Engine) subject(in policy.Input) (*operation, canon.Value, error) {
	if in.Handoff != nil {
		if in.Handoff.Payload.IsZero() {
			return nil, canon.Value{}, errors.New("the handoff has no frozen payload")
		}
		return e.actions[actionUID(actionHandoff)], in.Handoff.Payload.Value(), nil
	}
	name := in.Proposal.ToolName
	if slices.Contains(groupNames, name) || name == actionHandoff || name == "" || name != in.Tool.Name {
		return nil, canon.Value{}, errors.New("the proposal is not for the tool that the catalog facts are about")
	}
	if in.Proposal.Args.IsZero() {
		return nil, canon.Value{}, errors.New("the proposal has no frozen arguments")
	}
	a, known := e.actions[actionUID(name)]
	switch {
	case known && a.group != groupOf(in.Tool):
		return nil, canon.Value{}, errors.New("the tool has another class than when the policies were loaded")
	case !known && in.Tool.Cataloged:
		return nil, canon.Value{}, errors.New("the tool was not in the catalog when the policies were loaded")
	case !known:
		a = e.action(name)
	}
	return a, in.Proposal.Args.Value(), nil
}

func groupOf(t policy.Tool) string {
	switch {
	case !t.Cataloged || t.HighImpact:
		return groupHigh
	case t.Mutation:
		return groupMutation
	default:
		return groupRead
	}
}

// faults denies before evaluation if a rule whose scope covers the call reads
// a value that it would not see exactly.
func (a *operation) faults(args canon.Value, who principal, acted []types.EntityUID) (policy.Decision, bool) {
	for _, r := range a.rules {
		if len(r.reads.args) == 0 || !r.about(who, acted) {
			continue
		}
		for _, place := range r.reads.args {
			if why := fault(args, a.args, place, &r.reads); why != "" {
				return policy.Decision{Effect: policy.Deny, Code: policy.ReasonError, Rules: []string{r.id},
					Reason: fmt.Sprintf("rule %s cannot be evaluated: %s", r.place(), why)}, true
			}
		}
	}
	return policy.Decision{}, false
}

// All implements Cedar's PolicyIterator: only the rules of this action, in
// load order, by number.
func (a *operation) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, r := range a.rules {
			if !yield(cedar.PolicyID(r.id), r.policy) {
				return
			}
		}
	}
}

// answer turns Cedar's diagnostic for one resource into a decision. Cedar's
// own verdict is not used: it skips rules that fail.
func (a *operation) answer(diagnostic cedar.Diagnostic) policy.Decision {
	var failed []policy.Decision
	for _, f := range diagnostic.Errors {
		r := a.byID[string(f.PolicyID)]
		failed = append(failed, policy.Decision{Effect: policy.Deny, Code: policy.ReasonError, Rules: []string{r.id},
			Reason: fmt.Sprintf("rule %s failed: %s", r.place(), failure(f.Message))})
	}
	satisfied := make([]*rule, len(diagnostic.Reasons))
	for i, s := range diagnostic.Reasons {
		satisfied[i] = a.byID[string(s.PolicyID)]
	}
	return verdict(failed, satisfied)
}

// verdict joins what failed with what the satisfied rules say, in their order.
func verdict(failed []policy.Decision, satisfied []*rule) policy.Decision {
	strong := failed // everything but mere allows
	allows := 0
	for _, r := range satisfied {
		if r.says.Effect == policy.Allow {
			allows++
		} else {
			strong = append(strong, r.says)
		}
	}
	switch {
	case allows == 0:
		return policy.Combine(strong...)
	case len(strong) == 0:
		return allowed(satisfied, allows)
	default:
		return policy.Combine(append(strong, allowed(satisfied, allows))...)
	}
}

// allowed joins the rules that merely allow: the first gives the reason, the
// first that has a public one gives that. Ids are unique here, so they need
// not be compared with each other.
func allowed(satisfied []*rule, allows int) policy.Decision {
	d := policy.Decision{Effect: policy.Allow, Rules: make([]string, 0, allows)}
	for _, r := range satisfied {
		if r.says.Effect != policy.Allow {
			continue
		}
		d.Rules = append(d.Rules, r.id)
		d.RaiseImpact = d.RaiseImpact || r.says.RaiseImpact
		if d.Reason == "" {
			d.Reason = r.says.Reason
		}
		if d.PublicReason == "" {
			d.PublicReason = r.says.PublicReason
		}
	}
	return d
}

// decision is what the rule says when it is satisfied. [policy.Combine] copies
// it, so that one is enough for all calls.
func (r *rule) decision() policy.Decision {
	d := policy.Decision{PublicReason: r.terms.publicReason, RaiseImpact: r.terms.high, Rules: []string{r.id}}
	switch {
	case !r.permit():
		d.Reason = "forbidden by rule " + r.place()
	case r.terms.ask:
		approval := r.terms.approval
		d.Effect, d.Approval, d.Reason = policy.RequireApproval, &approval, "approval required by rule "+r.place()
	default:
		d.Effect, d.Reason = policy.Allow, "permitted by rule "+r.place()
	}
	return d
}

// failure classes a message of Cedar's, which may hold argument values.
func failure(message string) string {
	for _, known := range []string{"integer overflow", "type error", "does not have the attribute", "does not exist"} {
		if strings.Contains(message, known) {
			return known
		}
	}
	return "evaluation error"
}
