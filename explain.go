package verbatim

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Explanation is the walk of one call without running, suspending or
// recording anything.
type Explanation struct {
	Tool         string
	Stage        string           // of refused input; "" where it was accepted
	Code         Code             // of the outcome that the call would have
	Violations   canon.Violations // of refused input
	Requested    string           // RFC 8785 form before the schema
	Parsed       string           // argsCanonicalJson
	ProposalHash string
	Changes      []canon.Change
	Targets      []snapshot.Target
	Evidence     []snapshot.Evidence
	Decision     policy.Decision
	NeedsDryRun  bool           // a dry run would come first; it was not made
	Limits       []action.Limit // what the run would take; what is left was not asked
}

// Explain walks a call up to the decision. It asks resolvers and policy, and
// it runs and records nothing.
func (g *Gate) Explain(ctx context.Context, s Session, c Call) (Explanation, error) {
	p, err := g.propose(ctx, s, c)
	var in *inputError
	if errors.As(err, &in) {
		return explainRefusal(in), nil
	}
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Tool: p.name(), Requested: string(p.request.Canonical()), Parsed: p.frozen.Args.Text(),
		ProposalHash: p.frozen.Hash.String(), Changes: p.frozen.Changes, Targets: p.frozen.Targets,
		Evidence: p.frozen.Evidence, NeedsDryRun: p.tool.DryRun != nil && p.tool.DryRun.Required}
	if p.refused != "" {
		e.Decision = refusal(p.refused)
	} else {
		e.Decision = g.evaluate(ctx, g.input(p), p)
	}
	if e.Decision.Effect != policy.Deny {
		if code, name := g.count(p); code != "" {
			e.Decision = refusal(code)
			e.Decision.Reason = string(code) + ": " + name
		}
	}
	e.Code, e.Limits = Code(e.Decision.Code), p.limits
	return e, nil
}

func explainRefusal(in *inputError) Explanation {
	e := Explanation{Tool: in.tool, Stage: in.stage, Code: CodeInvalidArguments}
	if !errors.As(in.err, &e.Violations) {
		e.Violations = canon.Refuse("", in.stage+"_failed", "a value that this step can read")
	}
	if in.stage == StageResolve {
		e.Code = resolveCode(e.Violations)
	}
	return e
}
