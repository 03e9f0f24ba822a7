package main

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// The tests of this file and of the entrypoints_*_test.go beside it enumerate
// every way into the product from the code itself, so that a new one fails
// until somebody says here how it is tried. In each, a witness stands where
// the tool would be and looks into the store at the moment of the run.

// arena is a gate with an ordinary and a high-impact mutation. Policy allows
// everything.
type arena struct {
	*verbatimtest.Fixture
	t *testing.T
	witness
}

// witness is a tool that checks its own authority in the store.
type witness struct {
	store verbatim.Store
	mu    sync.Mutex
	runs  []string // tools, in order
	fault []string
}

func (w *witness) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	a, err := w.store.Action(ctx, "acme", in.ActionID())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, a.Tool)
	if err != nil || a.State != action.Executing || a.Decision.Effect == policy.Deny.String() || a.Decision.PolicyVersion == "" {
		w.fault = append(w.fault, fmt.Sprintf("a run without a stored decision: %+v, %v", a, err))
	}
	if a.HighImpact {
		w.checkApproval(ctx, a)
	}
	return execute.Output{Bytes: []byte(`{}`)}, nil
}

func (w *witness) checkApproval(ctx context.Context, a action.Action) {
	votes, err := w.store.Votes(ctx, a.Tenant, a.ID)
	yes := slices.ContainsFunc(votes, func(v action.Vote) bool { return v.Approve && v.Digest == a.Terms.Digest })
	if err != nil || a.Terms == nil || !yes {
		w.fault = append(w.fault, fmt.Sprintf("a high-impact run without a stored approval: %+v, %v", a, err))
	}
}

func (w *witness) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.runs)
}

func newArena(t *testing.T) *arena {
	t.Helper()
	r := &arena{t: t}
	schema := []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	note, err := verbatim.Untyped(catalog.Spec{Name: "files.note", Schema: schema, Impact: catalog.Ordinary, Reason: "test"}, r)
	if err != nil {
		t.Fatal(err)
	}
	pay, err := verbatim.Untyped(catalog.Spec{Name: "files.pay", Schema: schema, Impact: catalog.Financial}, r)
	if err != nil {
		t.Fatal(err)
	}
	warrants, err := keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{3}, 32))
	if err != nil {
		t.Fatal(err)
	}
	note.Audience, pay.Audience = "files.example", "files.example"
	r.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{note, pay}, Gate: func(c *verbatim.Config) { c.Warrants = warrants },
		Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})})
	r.store = r.Store
	t.Cleanup(func() {
		for _, f := range r.fault {
			t.Error(f)
		}
	})
	return r
}

func (r *arena) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	return r.witness.Handle(ctx, in)
}

// pending proposes one high-impact call and returns its action.
func (r *arena) pending() action.Action {
	r.t.Helper()
	o, err := r.Gate.Call(context.Background(), r.Session(), verbatim.Call{Tool: "files.pay", Arguments: []byte(`{"n":1}`)})
	if err != nil || o.Status != verbatim.StatusApprovalRequired {
		r.t.Fatalf("%+v, %v", o, err)
	}
	a, err := r.Gate.Action(context.Background(), "acme", o.ActionID)
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// libraryEntries says how each method of the gate is tried and which tools
// may run by it.
var libraryEntries = map[string]struct {
	try  func(ctx context.Context, r *arena, a action.Action)
	runs []string
}{
	"Call": {func(ctx context.Context, r *arena, a action.Action) {
		for _, c := range []verbatim.Call{
			{Tool: "files.note", Arguments: []byte(`{"n":2}`)},
			{Tool: "files.pay", Arguments: []byte(`{"n":2}`)},
			{Tool: "files.pay", Arguments: []byte(`{"n":1}`), Approval: a.ID},
			{Tool: "files.pay", Arguments: []byte(`{"n":1}`), IdempotencyKey: "k"},
			{Tool: "files.pay", Arguments: []byte(`{"n":1}`), Supersedes: a.ID},
			{Tool: "files.pay", Arguments: []byte(`{"n":1}`), Wait: time.Millisecond},
			{Tool: "files.other", Arguments: []byte(`{}`)},
		} {
			_, _ = r.Gate.Call(ctx, r.Session(), c)
		}
	}, []string{"files.note"}},
	"Handoff": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Handoff(ctx, r.Session(), verbatim.Handoff{To: "files.pay", Payload: []byte(`{"n":1}`), Approval: a.ID})
	}, nil},
	"Explain": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.Explain(ctx, r.Session(), verbatim.Call{Tool: "files.note", Arguments: []byte(`{"n":2}`)})
		_, _ = r.Gate.Explain(ctx, r.Session(), verbatim.Call{Tool: "files.pay", Arguments: []byte(`{"n":2}`)})
	}, nil},
	"Counting": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.Counting(verbatim.Toolset{}, new(sync.WaitGroup)).Call(ctx, r.Session(), verbatim.Call{Tool: "files.pay", Arguments: []byte(`{}`)})
	}, nil},
	"With": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.With(verbatim.Toolset{}).Call(ctx, r.Session(), verbatim.Call{Tool: "files.pay", Arguments: []byte(`{}`)})
	}, nil},
	"Wait": {func(_ context.Context, r *arena, _ action.Action) { r.Gate.Wait() }, nil},
	"Vote": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Vote(ctx, action.Vote{ActionID: a.ID, Voter: "ada", Approve: true, Digest: a.Terms.Digest})
		_, _ = r.Vote(a.ID, "maria", true) // nobody of that name
		_, _ = r.Vote(a.ID, "ada", true)   // a vote alone starts nothing
	}, nil},
	"DraftGrant": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.DraftGrant(ctx, "acme", a.ID, anyN(), 5, time.Hour)
	}, nil},
	"Grant": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Grant(ctx, standingGrant(a), r.Sign(action.Vote{Voter: "ada", Approve: true, Digest: standingGrant(a).Digest, Nonce: "n", Method: "password"}))
		_, _ = r.Gate.Call(ctx, r.Session(), verbatim.Call{Tool: "files.pay", Arguments: []byte(`{"n":1}`)}) // high impact: nothing covers it
	}, nil},
	"SignGrant": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.SignGrant(ctx, "acme", r.Sign(action.Vote{ActionID: standingGrant(a).ID, Voter: "ada", Approve: true, Digest: standingGrant(a).Digest, Nonce: "n"}))
		_, _ = r.Gate.Call(ctx, r.Session(), verbatim.Call{Tool: "files.pay", Arguments: []byte(`{"n":1}`)})
	}, nil},
	"RevokeGrant": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.RevokeGrant(ctx, "acme", standingGrant(a).ID, "ada")
	}, nil},
	"Grants": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.Grants(ctx, action.StandingFilter{})
	}, nil},
	"StandingGrant": {func(ctx context.Context, r *arena, a action.Action) {
		_, _, _ = r.Gate.StandingGrant(ctx, "acme", standingGrant(a).ID)
	}, nil},
	"CoveredBy": {func(ctx context.Context, r *arena, a action.Action) { _, _ = r.Gate.CoveredBy(ctx, "acme", a.ID) }, nil},
	"Revoke": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Revoke(ctx, "acme", a.ID, "ada", "x")
	}, nil},
	"Reconcile": {func(ctx context.Context, r *arena, a action.Action) {
		r.Approve(a.ID, "ada")
		for _, state := range []action.State{action.ReconciledSucceeded, action.ReconciledFailed, action.Executing} {
			_, _ = r.Gate.Reconcile(ctx, "acme", action.Reconciliation{ID: a.ID, State: state, By: "ada", Evidence: "x"})
		}
	}, nil},
	"Dismiss": {func(ctx context.Context, r *arena, a action.Action) { _, _ = r.Gate.Dismiss(ctx, r.Session(), a.ID) }, nil},
	"Sweep": {func(ctx context.Context, r *arena, a action.Action) {
		r.Approve(a.ID, "ada")
		_, _ = r.Gate.Sweep(ctx, true)
	}, nil},
	"Settle": {func(ctx context.Context, r *arena, a action.Action) {
		r.Approve(a.ID, "ada")
		_, _ = r.Gate.Settle(ctx, action.Filter{}) // nothing is uncertain
	}, nil},
	"Tend": {func(ctx context.Context, r *arena, a action.Action) {
		r.Approve(a.ID, "ada")
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		r.Gate.Tend(ctx, verbatim.Upkeep{Sweep: true}) // an approved call does not begin by itself
	}, nil},
	"Freeze": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.Freeze(ctx, action.Stop{Tenant: "acme", By: "ada"})
	}, nil},
	"Unfreeze": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Freeze(ctx, action.Stop{Tenant: "acme", By: "ada"})
		r.Approve(a.ID, "ada")
		_ = r.Gate.Unfreeze(ctx, action.Stop{Tenant: "acme", By: "ada", Reason: "x"}) // lifting starts nothing
	}, nil},
	"Now":    {func(ctx context.Context, r *arena, _ action.Action) { _, _ = r.Gate.Now(ctx) }, nil},
	"Counts": {func(ctx context.Context, r *arena, _ action.Action) { _, _ = r.Gate.Counts(ctx, "acme") }, nil},
	"ForgetKeys": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.ForgetKeys(ctx, action.MinKeyRetention)
	}, nil},
	"Budgets": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.Budgets(ctx, action.BudgetFilter{Tenant: "acme"})
	}, nil},
	"Reservations": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Reservations(ctx, "acme", a.ID)
	}, nil},
	"Room": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Room(ctx, &catalog.Tool{Name: a.Tool}, a)
	}, nil},
	"Erase": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Erase(ctx, a.Tenant, a.ID, "ada", "x")
	}, nil},
	"ForgetPayloads": {func(ctx context.Context, r *arena, _ action.Action) {
		_, _ = r.Gate.ForgetPayloads(ctx, action.Retention{action.ClassMutation: action.MinRetention})
	}, nil},
	"Evidence": {func(ctx context.Context, r *arena, a action.Action) {
		_, _ = r.Gate.Evidence(ctx, a.Tenant, a.ID, true)
	}, nil},
	"Authorize": {func(ctx context.Context, r *arena, a action.Action) {
		for _, c := range []verbatim.Call{
			{Tool: "files.note", Arguments: []byte(`{"n":2}`)}, // a warrant leaves, and nothing runs here
			{Tool: "files.pay", Arguments: []byte(`{"n":2}`)},
			{Tool: "files.pay", Arguments: []byte(`{"n":1}`), Approval: a.ID},
			{Tool: "files.pay", Arguments: []byte(`{"n":1}`), Supersedes: a.ID},
		} {
			got, _ := r.Gate.Authorize(ctx, r.Session(), c)
			if got.Warrant != nil && c.Tool != "files.note" {
				r.t.Errorf("a warrant for %s that nobody approved", c.Tool)
			}
		}
	}, nil},
	"Report": {func(ctx context.Context, r *arena, a action.Action) {
		got, _ := r.Gate.Authorize(ctx, r.Session(), verbatim.Call{Tool: "files.note", Arguments: []byte(`{"n":2}`)})
		for _, id := range []string{a.ID, got.Outcome.ActionID} {
			for _, ended := range []verbatim.Reported{"succeeded", "failed", "uncertain"} {
				_, _ = r.Gate.Report(ctx, r.Session(), id, verbatim.Report{Warrant: got.Warrant, Ended: ended})
			}
		}
	}, nil},
	"Stored": {func(ctx context.Context, r *arena, a action.Action) {
		r.Approve(a.ID, "ada")
		_, _ = r.Gate.Stored(ctx, a.Tenant, a.ID) // telling of an approval does not use it
	}, nil},
	"Receipts": {func(ctx context.Context, r *arena, a action.Action) { _, _ = r.Gate.Receipts(ctx, a.Tenant, a.ID) }, nil},
	"Earlier":  {func(ctx context.Context, r *arena, a action.Action) { _, _ = r.Gate.Earlier(ctx, a) }, nil},
	"Stops":    {func(ctx context.Context, r *arena, _ action.Action) { _, _ = r.Gate.Stops(ctx, "acme") }, nil},
	"Action":   {func(ctx context.Context, r *arena, a action.Action) { _, _ = r.Gate.Action(ctx, "acme", a.ID) }, nil},
	"Actions":  {func(ctx context.Context, r *arena, _ action.Action) { _, _ = r.Gate.Actions(ctx, action.Filter{}) }, nil},
	"Votes":    {func(ctx context.Context, r *arena, a action.Action) { _, _ = r.Gate.Votes(ctx, "acme", a.ID) }, nil},
	"Records":  {func(ctx context.Context, r *arena, _ action.Action) { _, _ = r.Gate.Records(ctx, audit.Filter{}) }, nil},
}

func anyN() action.Scope {
	return action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/n", Rule: action.RuleAny}}}
}

// standingGrant is a grant for a call as its maker would like it: the store must refuse it.
func standingGrant(a action.Action) action.StandingGrant {
	g := action.StandingGrant{Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Owner: a.Owner, Tool: a.Tool,
		Definition: a.Definition, PolicyVersion: a.Decision.PolicyVersion, Source: a.ID, Scope: anyN(), MaxUses: 5, Requirements: a.Terms.Requirements,
		StepUp: true, Nonce: "n", RequestedAt: a.CreatedAt.Truncate(time.Millisecond), ExpiresAt: a.CreatedAt.Truncate(time.Millisecond).Add(time.Hour)}
	g.Digest = approval.StandingDigest(g)
	g.ID = approval.StandingID(g.Digest)
	return g
}

func TestNoLibraryEntryRunsAMutationWithoutDecisionOrApproval(t *testing.T) {
	t.Parallel()
	gate := reflect.TypeFor[*verbatim.Gate]()
	var methods []string
	for i := range gate.NumMethod() {
		methods = append(methods, gate.Method(i).Name)
	}
	sameEntries(t, methods, keysOf(libraryEntries))
	for name, e := range libraryEntries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newArena(t)
			e.try(t.Context(), r, r.pending())
			if diff := cmp.Diff(e.runs, r.seen()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sameEntries fails where the code has an entry point that nobody tries here,
// or the other way round.
func sameEntries(t *testing.T, found, tried []string) {
	t.Helper()
	sort.Strings(found)
	sort.Strings(tried)
	if diff := cmp.Diff(tried, found); diff != "" {
		t.Fatalf("entry points that are tried (-) and that exist (+); say how a new one is tried:\n%s", diff)
	}
}

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, strings.TrimSpace(k))
	}
	return out
}
