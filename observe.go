package verbatim

import (
	"context"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
)

// Observation tells of one call that has been answered. It holds no argument
// value, no result, no internal reason and no error text.
type Observation struct {
	Kind      action.Kind
	Tenant    string
	Agent     string
	Principal string
	// Tool is the name in the catalog; "" where no tool was found, because the
	// name is the model's own text then.
	Tool   string
	CallID string // the provider's call id
	Trace  Trace  // as the caller sent it
	Wire   Wire

	Began time.Time
	Took  time.Duration
	Steps []Step // in the order in which they ended; at most 32

	// Decision is what policy said, the last time that it was asked; "" where
	// the call did not come that far.
	Decision      string // allow, deny, require_approval
	DecisionCode  Code   // of that decision
	PolicyVersion string
	Rules         []string

	Outcome  Outcome // without Output, Violations, PublicReason, Member and Receipt
	Unstored bool    // the record failed: nothing was promised
}

// The steps that are timed.
const (
	StepPropose = "propose" // decode, schema, resolve, identity, snapshot
	StepDecide  = "decide"
	StepDryRun  = "dry_run"
	StepWait    = "wait" // people decide
	StepBegin   = "begin"
	StepRun     = "run" // the tool runs, and how it ended is stored
)

// Step is one step of a call.
type Step struct {
	Name  string
	Began time.Time
	Took  time.Duration
}

// Trace is a W3C trace context as a caller sent it. It goes to observers, and
// decides nothing.
type Trace struct{ Parent, State string }

// Wire is how a call came: of a protocol, or zero for a call in Go. It goes to
// observers, and decides nothing.
type Wire struct {
	Method    string // such as tools/call
	Version   string // of the protocol
	Request   string // the id of the request
	Transport string // pipe, tcp
}

// maxSteps bounds the steps of one observation.
const maxSteps = 32

// walked is what one call has gone through so far. Its run may outlive the
// call, so another goroutine may write to it late.
type walked struct {
	mu    sync.Mutex
	o     Observation
	ended bool
}

// step begins a step; the function that it returns ends it. Without a walk
// nothing is noted.
func (w *walked) step(name string) func() {
	if w == nil {
		return func() {}
	}
	began := time.Now()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.ended && len(w.o.Steps) < maxSteps {
			w.o.Steps = append(w.o.Steps, Step{Name: name, Began: began, Took: time.Since(began)})
		}
	}
}

// found notes the tool of a proposal. The agent that a handoff names, and a
// tool that nobody knows, are the model's own text.
func (w *walked) found(p *proposal) {
	if w == nil || p == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.o.Kind = p.kind(); w.o.Kind == action.KindCall && p.refused != CodeUnknownTool {
		w.o.Tool = p.tool.Name
	}
}

// refused notes the tool of input that never became a proposal.
func (w *walked) refused(tool string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.o.Kind == action.KindCall {
		w.o.Tool = tool
	}
}

func (w *walked) decided(d policy.Decision) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.o.Decision, w.o.DecisionCode = d.Effect.String(), Code(d.Code)
	w.o.PolicyVersion, w.o.Rules = d.PolicyVersion, append([]string(nil), d.Rules...)
}

// observing gives a call a walk to be noted in, where somebody wants to know.
func (g *Gate) observing(s Session, c *Call, kind action.Kind) {
	if g.cfg.Observe == nil {
		return
	}
	c.walked = &walked{o: Observation{Kind: kind, Tenant: s.Tenant, Agent: s.Agent, Principal: s.Principal,
		CallID: c.CallID, Trace: c.Trace, Wire: c.Wire, Began: time.Now()}}
}

// observed tells of a call. Whatever the observer does changes no answer.
func (g *Gate) observed(ctx context.Context, w *walked, o Outcome, failed error) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.ended = true
	seen := w.o
	w.mu.Unlock()
	o.Output, o.Violations, o.PublicReason, o.Member, o.Receipt, o.Tool = nil, nil, "", "", nil, seen.Tool
	seen.Took, seen.Outcome, seen.Unstored = time.Since(seen.Began), o, failed != nil
	defer func() {
		if recover() != nil {
			g.log.ErrorContext(ctx, "an observer panicked")
		}
	}()
	g.cfg.Observe(seen)
}
