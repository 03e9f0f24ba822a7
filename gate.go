package verbatim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
)

// Config is all that a Gate needs. No field weakens a check by being absent:
// New fails, or every call is denied.
type Config struct {
	Store  Store         // required
	Tools  Tools         // required
	Policy policy.Engine // nil denies everything with policy_not_configured
	// Votes verifies signed votes. nil: nothing that needs approval runs.
	Votes approval.Verifier
	// Approvers may approve where neither policy nor catalog names groups.
	Approvers []action.Requirement
	// CanApprove reports whether anybody could vote in a tenant yet. nil: yes.
	CanApprove func(ctx context.Context, tenant string) (bool, error)

	// ArgumentErrors says how refused arguments are delivered; the default is
	// tool_result, so that the model corrects itself.
	ArgumentErrors policy.ResultMode
	// Denials says how every other outcome that did not run is delivered
	// where policy does not say; the default is throw.
	Denials policy.ResultMode

	// Receipts signs the promise that goes with each outcome; its purpose is
	// keys.Receipts. nil: outcomes have none.
	Receipts *keys.Signer
	// ReadReceipts has reads get one, too: it costs them a look into the log.
	ReadReceipts bool

	// Warrants signs what executors may run; its purpose is keys.Warrants. nil:
	// nothing can be authorized for others to run.
	Warrants *keys.Signer

	// EraseKeys destroys the keys that payloads of rows are sealed with, such as
	// keys.Ring.Erase; nil: nothing can be erased.
	EraseKeys func(rows ...keys.Place) error

	// ForgetKeys destroys the keys of whole days, such as keys.Ring.Forget; nil:
	// nothing is forgotten by age.
	ForgetKeys func(before []keys.Shelf, old bool, held ...keys.Place) error

	// Observe is told of every call that was answered, on the caller's own
	// goroutine: it must return at once. nil: nobody is told.
	Observe func(Observation)

	PolicyTimeout time.Duration // default 1 s, 10 ms to 10 s
	// Shadow is told what policy decides, so that a candidate can be compared
	// with it. It authorizes nothing and no call waits for it. nil: nobody is.
	Shadow *shadow.Watcher
	// ResolveTimeout bounds the transforms and resolvers of one call; the
	// default is 10 s, the range 10 ms to 1 min.
	ResolveTimeout time.Duration
	Log            *slog.Logger // nil discards
}

// Gate is the one way through. It is safe for concurrent use.
type Gate struct {
	cfg     Config
	log     *slog.Logger
	changes *changes
	epochs  *epochs
	runs    *sync.WaitGroup // runs that have passed the commit point
	busy    *busy           // uncertain actions that are being settled
	origin  *logName        // of the store
	hand    *handover       // of one call that its caller runs; else nil
}

// New checks a configuration. It fails if the store or the tools are missing,
// or if a high-impact tool could never be approved by anybody.
func New(cfg Config) (*Gate, error) {
	if cfg.Store == nil {
		return nil, errors.New("verbatim: config without store")
	}
	if cfg.Tools == nil {
		return nil, errors.New("verbatim: config without tools")
	}
	if cfg.Receipts != nil && cfg.Receipts.Purpose() != keys.Receipts {
		return nil, errors.New("verbatim: receipts need a key for receipts")
	}
	if cfg.Warrants != nil && cfg.Warrants.Purpose() != keys.Warrants {
		return nil, errors.New("verbatim: warrants need a key for warrants")
	}
	if err := checkModes(&cfg); err != nil {
		return nil, err
	}
	if set, ok := cfg.Tools.(Toolset); ok {
		if err := checkApprovable(set, cfg.Approvers); err != nil {
			return nil, err
		}
	}
	cfg.ResolveTimeout = resolveTimeout(cfg.ResolveTimeout)
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Gate{cfg: cfg, log: log, changes: newChanges(), epochs: newEpochs(), runs: new(sync.WaitGroup), busy: newBusy(), origin: new(logName)}, nil
}

// With returns a gate that shares everything but its tools: one store, one
// policy, one set of waiting calls. It serves one upstream connection.
func (g *Gate) With(tools Tools) *Gate {
	other := *g
	other.cfg.Tools, other.runs = tools, new(sync.WaitGroup)
	return &other
}

// Counting is With for somebody who counts the runs of several gates: each
// run is added to the group until it has ended and is recorded.
func (g *Gate) Counting(tools Tools, runs *sync.WaitGroup) *Gate {
	other := *g
	other.cfg.Tools, other.runs = tools, runs
	return &other
}

// Wait returns when every run that calls of this very gate have begun has
// ended and is recorded. A call that ends early leaves its run behind; whoever
// owns the tools must not close them before.
func (g *Gate) Wait() { g.runs.Wait() }

func checkModes(cfg *Config) error {
	if cfg.ArgumentErrors == "" {
		cfg.ArgumentErrors = policy.ToolResult
	}
	if cfg.Denials == "" {
		cfg.Denials = policy.Throw
	}
	for _, m := range []policy.ResultMode{cfg.ArgumentErrors, cfg.Denials} {
		if m != policy.Throw && m != policy.ToolResult {
			return fmt.Errorf("verbatim: unknown result mode %q", string(m))
		}
	}
	return nil
}

func checkApprovable(set Toolset, approvers []action.Requirement) error {
	for name, b := range set {
		if b.Tool == nil || b.Handler == nil {
			return fmt.Errorf("verbatim: tool %s without definition or handler", name)
		}
		if b.Tool.Name != name {
			return fmt.Errorf("verbatim: tool %s is registered as %s", b.Tool.Name, name)
		}
		if b.Tool.HighImpact() && len(b.Tool.Groups) == 0 && len(approvers) == 0 {
			return fmt.Errorf("verbatim: tool %s is high-impact, but neither the catalog nor Config.Approvers says who may approve it", name)
		}
	}
	return nil
}

// Call walks one proposed call through every step. The outcome is always
// filled in; the error is a typed one where the delivery mode is throw, or
// wraps ErrRecord where the store failed.
func (g *Gate) Call(ctx context.Context, s Session, c Call) (Outcome, error) {
	g.observing(s, &c, action.KindCall)
	o, err := g.walk(ctx, s, c)
	g.observed(ctx, c.walked, o, err)
	return g.deliver(g.promise(ctx, s, g.credited(ctx, s.Tenant, o), err), err)
}

// walk is the decision cycle of one call. docs/decision-cycle.md tells it in
// words; every name here is a step there.
func (g *Gate) walk(ctx context.Context, s Session, c Call) (Outcome, error) {
	done := c.walked.step(StepPropose)
	p, err := g.propose(ctx, s, c) // decode, schema, resolve, identity, snapshot
	done()
	c.walked.found(p)
	if err != nil {
		return g.reject(ctx, s, c, err)
	}
	return g.settle(ctx, p)
}

// settle takes a frozen proposal to its outcome.
func (g *Gate) settle(ctx context.Context, p *proposal) (Outcome, error) {
	if p.refused != "" { // unknown tool, identity spoof: policy is not asked
		return g.deny(ctx, p, refusal(p.refused))
	}
	if g.hand != nil && !g.warrants(p.audience) { // nobody is named who could run it
		return g.refuse(ctx, p, policy.Decision{}, CodeNoExecutor, "")
	}
	found, o, err := g.earlier(ctx, p) // the same key, a named approval, a joined call
	if err != nil || o != nil {
		return deref(o), err
	}
	if o, err := g.frozen(ctx, p, found); err != nil || o != nil { // somebody has stopped calls like this
		return deref(o), err
	}
	d, err := g.decide(ctx, p, found) // policy, on exactly the frozen bytes
	if err != nil {
		return Outcome{}, err
	}
	if found != nil {
		return g.resume(ctx, p, d, *found)
	}
	if d.Effect == policy.Deny {
		return g.deny(ctx, p, d)
	}
	if o, err := g.counted(ctx, p, d); err != nil || o != nil { // no window could ever take it
		return deref(o), err
	}
	preview, ok := g.preview(ctx, p) // dry run, after any decision that does not deny
	if !ok {
		return g.deny(ctx, p, refusal(CodeDryRunFailed))
	}
	code, member, err := g.aged(ctx, p, d) // old answers are asked for again
	switch {
	case err != nil:
		return Outcome{}, err
	case code != "":
		return g.refuse(ctx, p, d, code, member)
	case d.Effect == policy.RequireApproval:
		return g.suspend(ctx, p, d, preview)
	case !p.tool.Mutation:
		return g.read(ctx, p, d)
	default:
		return g.run(ctx, p, g.row(p, d, preview)) // commit point, tool, outcome
	}
}

func deref(o *Outcome) Outcome {
	if o == nil {
		return Outcome{}
	}
	return *o
}

// deliver adds the typed error where the delivery mode asks for one.
func (g *Gate) deliver(o Outcome, err error) (Outcome, error) {
	if err != nil {
		g.log.Error("the record failed", "tool", o.Tool, "error", err)
		return Outcome{Status: StatusFailed, Code: CodeRecordFailed, Tool: o.Tool, ActionID: o.ActionID},
			fmt.Errorf("%w: %w", ErrRecord, err)
	}
	mode := o.Mode
	switch {
	case o.Status == StatusInvalidArguments:
		mode = g.cfg.ArgumentErrors
	case mode == "":
		mode = g.cfg.Denials
	}
	o.Mode = mode
	if mode == policy.ToolResult {
		return o, nil
	}
	return o, o.Err()
}
