package verbatim_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// probe is a tool that counts its runs and does what a test says.
type probe struct {
	mu   sync.Mutex
	runs []string
	do   func(ctx context.Context, in execute.Input) (execute.Output, error)
}

func (p *probe) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	p.mu.Lock()
	p.runs = append(p.runs, string(in.JSON()))
	do := p.do
	p.mu.Unlock()
	if do != nil {
		return do(ctx, in)
	}
	return execute.Output{Bytes: []byte(`{"done":true}`)}, nil
}

func (p *probe) ran() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.runs...)
}

func (p *probe) set(do func(context.Context, execute.Input) (execute.Output, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.do = do
}

// tapped is the real store with a test's hand on each verb.
type tapped struct {
	verbatim.Store
	mu     sync.Mutex
	before map[string]func() error // by verb; an error stands for a store that fails
	calls  map[string]int
	votes  func([]action.Vote) []action.Vote // what becomes of the signatures of grants; nil: nothing
}

func (s *tapped) on(verb string, f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before[verb] = f
}

func (s *tapped) fail(verb string) { s.on(verb, func() error { return errDisk }) }

var errDisk = errors.New("disk full")

func (s *tapped) tap(verb string) error {
	s.mu.Lock()
	s.calls[verb]++
	f := s.before[verb]
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	return f()
}

func (s *tapped) RejectInput(ctx context.Context, r action.Rejection) error {
	if err := s.tap("RejectInput"); err != nil {
		return err
	}
	return s.Store.RejectInput(ctx, r)
}

// row runs a verb that answers with a row, unless the test makes it fail.
func (s *tapped) row(verb string, f func() (action.Action, error)) (action.Action, error) {
	if err := s.tap(verb); err != nil {
		return action.Action{}, err
	}
	return f()
}

func (s *tapped) Decide(ctx context.Context, a action.Action) (action.Action, error) {
	return s.row("Decide", func() (action.Action, error) { return s.Store.Decide(ctx, a) })
}

func (s *tapped) Suspend(ctx context.Context, a action.Action) (action.Action, error) {
	return s.row("Suspend", func() (action.Action, error) { return s.Store.Suspend(ctx, a) })
}

func (s *tapped) Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error) {
	return s.row("Claim", func() (action.Action, error) { return s.Store.Claim(ctx, id, lease) })
}

func (s *tapped) Begin(ctx context.Context, b action.Start) (action.Action, error) {
	return s.row("Begin", func() (action.Action, error) { return s.Store.Begin(ctx, b) })
}

func (s *tapped) Finish(ctx context.Context, e action.Ending) (action.Action, error) {
	return s.row("Finish", func() (action.Action, error) { return s.Store.Finish(ctx, e) })
}

func (s *tapped) Action(ctx context.Context, tenant, id string) (action.Action, error) {
	return s.row("Action", func() (action.Action, error) { return s.Store.Action(ctx, tenant, id) })
}

func (s *tapped) ByKey(ctx context.Context, tenant, principal, key string) (action.Action, error) {
	return s.row("ByKey", func() (action.Action, error) { return s.Store.ByKey(ctx, tenant, principal, key) })
}

func (s *tapped) Joinable(ctx context.Context, tenant, principal string, d canon.Digest) ([]action.Action, error) {
	if err := s.tap("Joinable"); err != nil {
		return nil, err
	}
	return s.Store.Joinable(ctx, tenant, principal, d)
}

func (s *tapped) Votes(ctx context.Context, tenant, id string) ([]action.Vote, error) {
	if err := s.tap("Votes"); err != nil {
		return nil, err
	}
	return s.Store.Votes(ctx, tenant, id)
}

func (s *tapped) GrantVotes(ctx context.Context, tenant, id string) ([]action.Vote, error) {
	votes, err := s.Store.GrantVotes(ctx, tenant, id)
	if s.votes != nil {
		votes = s.votes(votes)
	}
	return votes, err
}

func (s *tapped) Now(ctx context.Context) (time.Time, error) {
	if err := s.tap("Now"); err != nil {
		return time.Time{}, err
	}
	return s.Store.Now(ctx)
}

func (s *tapped) SetPolicy(ctx context.Context, tenant, tool string, d canon.Digest) (string, error) {
	if err := s.tap("SetPolicy"); err != nil {
		return "", err
	}
	return s.Store.SetPolicy(ctx, tenant, tool, d)
}

func (s *tapped) Stops(ctx context.Context, tenant string) ([]action.Stop, error) {
	if err := s.tap("Stops"); err != nil {
		return nil, err
	}
	return s.Store.Stops(ctx, tenant)
}

func (s *tapped) Leave(ctx context.Context, id string) error {
	if err := s.tap("Leave"); err != nil {
		return err
	}
	return s.Store.Leave(ctx, id)
}

func (s *tapped) Origin(ctx context.Context) (string, error) {
	if err := s.tap("Origin"); err != nil {
		return "", err
	}
	return s.Store.Origin(ctx)
}

func (s *tapped) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[verb]
}

// parts is what a stage is made of; zero fields are a small allowed tool.
type parts struct {
	spec    catalog.Spec
	tool    func(*catalog.Tool) // changes the defined tool
	policy  policy.Engine
	gate    func(*verbatim.Config)
	handler execute.Handler // instead of the probe
	more    []verbatim.Bound
	dir     string
}

// stage is a gate on a real store with one tool, "note" unless the spec says
// otherwise.
type stage struct {
	*verbatimtest.Fixture
	t     *testing.T
	name  string
	probe *probe
	store *tapped
	bound verbatim.Bound
}

const noteSchema = `{"type":"object","properties":{"text":{"type":"string"},"amount":{"type":"integer"}}}`

func ordinary(name, schema string) catalog.Spec {
	return catalog.Spec{Name: name, Schema: []byte(schema), Impact: catalog.Ordinary, Reason: "a note can be taken back"}
}

func financial(name, schema string) catalog.Spec {
	return catalog.Spec{Name: name, Schema: []byte(schema), Impact: catalog.Financial}
}

func reading(name, schema string) catalog.Spec {
	return catalog.Spec{Name: name, Schema: []byte(schema), Read: true, Reason: "it only looks"}
}

func bind(t *testing.T, spec catalog.Spec, h execute.Handler) verbatim.Bound {
	t.Helper()
	b, err := verbatim.Untyped(spec, h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newStage(t *testing.T, p parts) *stage {
	t.Helper()
	s := &stage{t: t, probe: &probe{}}
	if p.spec.Name == "" {
		p.spec = ordinary("note", noteSchema)
	}
	if p.policy == nil {
		p.policy = decide(policy.Allow)
	}
	h := p.handler
	if h == nil {
		h = s.probe
	}
	s.name, s.bound = p.spec.Name, bind(t, p.spec, h)
	if p.tool != nil {
		p.tool(s.bound.Tool)
	}
	s.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: append(p.more, s.bound), Policy: p.policy, Dir: p.dir,
		Gate: func(c *verbatim.Config) {
			s.store = &tapped{Store: c.Store, before: map[string]func() error{}, calls: map[string]int{}}
			c.Store = s.store
			if p.gate != nil {
				p.gate(c)
			}
		}})
	return s
}

// call proposes arguments for the stage's tool.
func (s *stage) call(args string) verbatim.Outcome {
	s.t.Helper()
	return s.with(verbatim.Call{Arguments: []byte(args)})
}

func (s *stage) with(c verbatim.Call) verbatim.Outcome {
	s.t.Helper()
	return s.as(s.Session(), c)
}

func (s *stage) as(session verbatim.Session, c verbatim.Call) verbatim.Outcome {
	s.t.Helper()
	if c.Tool == "" {
		c.Tool = s.name
	}
	o, err := s.Gate.Call(s.t.Context(), session, c)
	if err != nil {
		s.t.Fatalf("call: %v", err)
	}
	return o
}

// approved proposes a call and has it approved by ada.
func (s *stage) approved(c verbatim.Call) verbatim.Outcome {
	s.t.Helper()
	o := s.with(c)
	want(s.t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.Approve(o.ActionID, "ada")
	return o
}

func (s *stage) state(id string, state action.State) action.Action {
	s.t.Helper()
	a, err := s.Store.Action(s.t.Context(), "acme", id)
	if err != nil {
		s.t.Fatal(err)
	}
	if a.State != state {
		s.t.Fatalf("the row is %s, want %s", a.State, state)
	}
	return a
}

func (s *stage) rows() []action.Action {
	s.t.Helper()
	rows, err := s.Store.Actions(s.t.Context(), action.Filter{Tenant: "acme"})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// events lists the events of the record, oldest first, without those of
// accounts and policies.
func (s *stage) events() []string {
	s.t.Helper()
	rs, err := s.Store.Records(s.t.Context(), audit.Filter{Tenant: "acme"})
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for i := len(rs) - 1; i >= 0; i-- {
		switch rs[i].Event {
		case audit.AccountAdded, audit.AccountDisabled, audit.PolicyChanged, audit.CallerLeft:
		default:
			out = append(out, rs[i].Event)
		}
	}
	return out
}

func (s *stage) runs(n int) {
	s.t.Helper()
	if got := len(s.probe.ran()); got != n {
		s.t.Fatalf("the tool ran %d times, want %d", got, n)
	}
}

// eventually waits for what another goroutine is about to do.
func (s *stage) eventually(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if done() {
			return
		}
	}
	s.t.Fatalf("never happened: %s", what)
}
