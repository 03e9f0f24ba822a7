package verbatim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// Reported is how a caller says that an authorized call ended.
type Reported string

// What a caller can say. Uncertain is always true, and never wrong to say.
const (
	ReportSucceeded Reported = "succeeded" // the tool answered that it did it
	ReportFailed    Reported = "failed"    // the tool answered that it failed
	ReportRefused   Reported = "refused"   // the executor refused the warrant; the tool did not run
	ReportUncertain Reported = "uncertain" // nobody knows
)

// Report says how an authorized call ended.
type Report struct {
	Warrant []byte // that was given out for it
	Ended   Reported
	// Verdict is what the executor said of the warrant and the arguments that
	// it received; "" where it did not check.
	Verdict warrant.Verdict
	Output  []byte // of the tool: JSON, at most execute.MaxOutput; nil if none
}

// The ways in which a report is refused. Nothing has changed then. It also
// fails with action.ErrNotFound where the caller's principal has no such
// action, and with action.ErrState where the action has ended otherwise.
var (
	ErrReport  = errors.New("a report that says nothing, or contradicts itself")
	ErrWarrant = errors.New("not the warrant that was given out for this action")
)

// Report records how an authorized call ended, on the word of the principal
// that authorized it. The state machine takes it as it takes the word of a
// tool: a failure is reported, never proved, so that limits stay reserved for
// it; a success that comes late settles what is uncertain, and nothing else
// does. The same report again changes nothing and has the same outcome.
func (g *Gate) Report(ctx context.Context, s Session, id string, r Report) (Outcome, error) {
	if !r.whole() {
		return Outcome{}, ErrReport
	}
	a, err := g.cfg.Store.Action(ctx, s.Tenant, id)
	if err == nil && a.Principal != s.Principal {
		err = action.ErrNotFound
	}
	if err != nil {
		return Outcome{}, unlessMissing(err)
	}
	w, err := g.given(ctx, a, r.Warrant)
	if err != nil {
		return Outcome{}, err
	}
	end := endOf(w, r)
	end.Result.Detail = "reported by its caller: " + end.Result.Detail
	now, err := g.cfg.Store.Finish(context.WithoutCancel(ctx), action.Ending{ID: a.ID, Fence: w.Fence, State: end.State, Result: end.Result})
	g.changes.tell(a.ID)
	switch {
	case err == nil:
		return g.receipted(outcomeOf(now), now.Leaf), nil
	case errors.Is(err, action.ErrFence):
		return Outcome{}, ErrWarrant
	case errors.Is(err, action.ErrState):
		return g.reportedBefore(ctx, a, end)
	default:
		return Outcome{}, unlessMissing(err)
	}
}

// whole: it says one thing.
func (r Report) whole() bool {
	known := r.Verdict == ""
	for _, v := range warrant.Verdicts() {
		known = known || v == r.Verdict
	}
	ran := r.Ended == ReportSucceeded || r.Ended == ReportFailed
	refused := r.Ended == ReportRefused && r.Verdict != "" && r.Verdict != warrant.OK
	return known && (ran || refused || r.Ended == ReportUncertain) &&
		(r.Output == nil || ran && len(r.Output) <= execute.MaxOutput && json.Valid(r.Output))
}

// given checks that a warrant is the one that was given out for an action, to
// be run by its caller.
func (g *Gate) given(ctx context.Context, a action.Action, envelope []byte) (warrant.Warrant, error) {
	if g.cfg.Warrants == nil {
		return warrant.Warrant{}, ErrWarrant
	}
	w, v := warrant.Open(envelope, g.cfg.Warrants.Public()...)
	if v != warrant.OK || w.Kind != warrant.Mutation || w.Action != a.ID || w.Tenant != a.Tenant || w.Principal != a.Principal ||
		w.Attempt != a.Attempt || w.Proposal != canon.Digest(a.Hash) && a.ErasedAt.IsZero() {
		return warrant.Warrant{}, ErrWarrant
	}
	sent, err := g.cfg.Store.SentTo(ctx, a.Tenant, a.ID)
	if errors.Is(err, action.ErrNotFound) || err == nil && sent != handedTo(w.Audience) {
		return warrant.Warrant{}, ErrWarrant // the gate runs it by itself
	}
	return w, unlessMissing(err)
}

// endOf is what a report makes of an attempt.
func endOf(w warrant.Warrant, r Report) execute.Ended {
	comparison := string(r.Verdict)
	switch r.Verdict {
	case "":
		comparison = "unchecked"
	case warrant.OK:
		comparison = "equal"
	}
	result := action.Result{Output: r.Output, Comparison: comparison, Code: string(CodeOutcomeUncertain), Detail: string(r.Ended)}
	ended := func(s action.State, evidence string, code Code) execute.Ended {
		result.Evidence, result.Code = evidence, string(code)
		return execute.Ended{State: s, Result: result}
	}
	agreed := r.Verdict == "" || r.Verdict == warrant.OK
	switch {
	case r.Ended == ReportSucceeded && agreed:
		return ended(action.Succeeded, "", CodeOK)
	case r.Ended == ReportFailed && agreed && w.Errors == warrant.Reported:
		result.IsError = true
		return ended(action.Failed, action.EvidenceReported, CodeToolError)
	case r.Ended == ReportRefused && r.Verdict == warrant.ArgumentsChanged:
		return ended(action.Failed, action.EvidenceReported, CodeArgumentsChanged)
	case r.Ended == ReportRefused && atFirstSight(r.Verdict):
		return ended(action.Failed, action.EvidenceReported, CodeWarrantRefused)
	default: // also: it ran, with other arguments than those that were decided on
		return ended(action.Uncertain, "", CodeOutcomeUncertain)
	}
}

// atFirstSight: a verdict that does not come from presenting the warrant
// twice. After the others the first presentation may have run.
func atFirstSight(v warrant.Verdict) bool {
	switch v {
	case warrant.Replayed, warrant.OtherAttempt, warrant.Late, warrant.Unavailable, warrant.OK, "":
		return false
	default:
		return true
	}
}

// reportedBefore answers a report of an action that is not executing any more.
func (g *Gate) reportedBefore(ctx context.Context, a action.Action, end execute.Ended) (Outcome, error) {
	a, err := g.cfg.Store.Action(ctx, a.Tenant, a.ID)
	if err != nil {
		return Outcome{}, unlessMissing(err)
	}
	o := outcomeOf(a)
	o.Replayed = true
	if a.State == end.State || a.State == action.ReconciledSucceeded && end.State == action.Succeeded {
		return o, nil
	}
	return o, action.ErrState
}

// unlessMissing wraps what is wrong with the store.
func unlessMissing(err error) error {
	if err == nil || errors.Is(err, action.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRecord, err)
}
