package policy

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
)

// How long an engine may take (semantics §7).
const (
	DefaultTimeout = time.Second
	MinTimeout     = 10 * time.Millisecond
	MaxTimeout     = 10 * time.Second
)

// Evaluate asks the engine about one proposal and returns a complete, valid
// decision. Every failure denies, and its Code says which: see the package
// comment. A timeout of zero means [DefaultTimeout]; any other is brought into
// [MinTimeout], [MaxTimeout].
//
// The engine runs on its own goroutine, which outlives Evaluate if the engine
// ignores its context. Nothing it does then has an effect on the decision, and
// its view is not inspected. A [Prompt] engine is asked without one first.
func Evaluate(ctx context.Context, e Engine, in Input, timeout time.Duration) Decision {
	if e == nil {
		return refusal(ReasonNotConfigured, "no policy engine is configured")
	}
	if in.Now.IsZero() {
		in.Now = time.Now()
	}
	timeout = bounded(timeout)
	if p, ok := e.(Prompt); ok {
		if d, answered := promptly(ctx, p, &in, timeout); answered {
			return d
		}
	}
	return waited(ctx, e, in, timeout)
}

// waited asks an engine that may take its time.
func waited(ctx context.Context, e Engine, in Input, timeout time.Duration) Decision {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer := make(chan Decision, 1)
	go ask(ctx, e, own(in), answer)
	select {
	case d := <-answer:
		// An answer that lost the race against the deadline is late, so that
		// the outcome does not depend on which of the two select picks.
		if ctx.Err() == nil {
			return d
		}
	case <-ctx.Done():
	}
	return unheard(ctx.Err())
}

// unheard is the decision where the answer came too late or nobody waits for
// it any more.
func unheard(why error) Decision {
	if errors.Is(why, context.DeadlineExceeded) {
		return refusal(ReasonTimeout, "the policy engine did not answer in time")
	}
	return refusal(ReasonError, "the evaluation was cancelled")
}

func bounded(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return DefaultTimeout
	}
	return min(max(timeout, MinTimeout), MaxTimeout)
}

// ask runs the engine and sends exactly one decision, also when the engine
// panics or ends its goroutine.
func ask(ctx context.Context, e Engine, in Input, answer chan<- Decision) {
	d := refusal(ReasonError, "the policy engine panicked")
	defer func() {
		// The panic value may hold arguments: it goes nowhere.
		_ = recover()
		answer <- d
	}()
	d = judged(ctx, e, in)
}

func judged(ctx context.Context, e Engine, in Input) Decision {
	said, err := e.Decide(ctx, in)
	if ctx.Err() != nil {
		return Decision{} // nobody takes it; a late view is not inspected
	}
	return concluded(&said, err, e, &in)
}

// concluded makes a complete decision of what the engine said in time.
func concluded(said *Decision, err error, e Engine, in *Input) Decision {
	if in.view.mutated(in) {
		return versioned(refusal(ReasonMutatedArguments, "the policy changed the view of the arguments"), e, in)
	}
	if err != nil {
		return versioned(refusal(ReasonError, "the policy engine failed: "+printable(err.Error())), e, in)
	}
	d := said.clone()
	d.stamp(e, in)
	if fault := d.fault(in.Now); fault != "" {
		return versioned(refusal(ReasonInvalidResult, "invalid policy result: "+fault), e, in)
	}
	d.complete()
	return d
}

func versioned(d Decision, e Engine, in *Input) Decision {
	d.stamp(e, in)
	return d
}

// stamp fills an absent policy version from the engine.
func (d *Decision) stamp(e Engine, in *Input) {
	if d.PolicyVersion == "" {
		d.PolicyVersion = e.Version(in.subject())
	}
}

// subject is the name that the engine knows the rules by: the tool, or for a
// handoff the agent that takes over.
func (in *Input) subject() string {
	if in.Handoff != nil {
		return in.Handoff.ToAgentName
	}
	return in.Proposal.ToolName
}

// own returns an input that shares nothing writable with the caller's.
func own(in Input) Input {
	in.RawArguments = bytes.Clone(in.RawArguments)
	in.Session.Roles = slices.Clone(in.Session.Roles)
	in.Session.Taint = slices.Clone(in.Session.Taint)
	in.Proposal.Targets = slices.Clone(in.Proposal.Targets)
	in.Proposal.Evidence = slices.Clone(in.Proposal.Evidence)
	in.Proposal.Changes = slices.Clone(in.Proposal.Changes)
	if in.Handoff != nil {
		h := *in.Handoff
		in.Handoff = &h
	}
	if in.Approval != nil {
		in.Approval = &ApprovalFacts{ID: in.Approval.ID, Voters: slices.Clone(in.Approval.Voters), Exact: in.Approval.Exact}
	}
	in.view = &handedView{}
	return in
}

func refusal(code, reason string) Decision {
	return Decision{Effect: Deny, Code: code, Reason: reason}
}
