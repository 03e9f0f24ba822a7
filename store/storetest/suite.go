package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Open opens a fresh store whose clock is now. The suite does not close it.
type Open func(t *testing.T, now func() time.Time) verbatim.Store

// Run runs the whole suite.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) verbatim.Store) {
	t.Helper()
	for _, group := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"Edges", testEdges}, {"Fresh", testFresh}, {"Keys", testKeys}, {"Votes", testVotes}, {"Begin", testBegin},
		{"Resend", testResend}, {"Endings", testEndings}, {"Expiry", testExpiry}, {"Policy", testPolicy}, {"Records", testRecords}, {"Log", testLog}, {"Following", testFollow}, {"Erasing", testErase}, {"Aging", testAging},
		{"Stops", testStops}, {"People", testPeople}, {"Standins", testStandins}, {"Limits", testLimits}, {"Budgets", testBudgets}, {"Forgetting", testForgetting}, {"Reads", testReads}, {"Earlier", testEarlier}, {"Races", testRaces}, {"Rounds", testRounds}, {"Model", testModel},
		{"Histories", testHistories}, {"Standing", testStanding}, {"Standing grants", testStandingModel}, {"Ties", testTies},
	} {
		t.Run(group.name, func(t *testing.T) { group.run(t, open) })
	}
}

// accounts is what the suite needs of a store beside the verbs.
type accounts interface {
	AddAccount(ctx context.Context, a auth.Account) error
	Disable(ctx context.Context, id string) error
	AddCredential(ctx context.Context, c auth.Credential) error
	RemoveCredential(ctx context.Context, id []byte, at time.Time) error
}

// clock is the time of one test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// The people of every test. Pat's agents propose.
const (
	tenant = "acme"
	other  = "rival"
	pat    = "acc_pat"
	ann    = "acc_ann"
	bob    = "acc_bob"
	fay    = "acc_fay"
	opal   = "acc_opal"
	zoe    = "acc_zoe"

	principal = "user:pat"
	agent     = "helper"
	tool      = "bank.pay"
	lease     = 30 * time.Second
)

func people() []auth.Account {
	return []auth.Account{
		{ID: pat, Name: "Pat", Tenant: tenant, Principal: principal, Groups: []string{"admin"}},
		{ID: ann, Name: "Ann", Tenant: tenant, Groups: []string{"admin"}},
		{ID: bob, Name: "Bob", Tenant: tenant, Groups: []string{"admin", "finance"}},
		{ID: fay, Name: "Fay", Tenant: tenant, Groups: []string{"finance"}},
		{ID: opal, Name: "Opal", Tenant: tenant, Groups: []string{"operator"}},
		{ID: zoe, Name: "Zoe", Tenant: other, Groups: []string{"admin", "operator"}},
	}
}

// bench is one store with its people and one policy.
type bench struct {
	*testing.T
	store   verbatim.Store
	book    accounts
	clock   *clock
	version string
	mu      sync.Mutex
	made    int // guarded by mu
}

func prepare(t *testing.T, open Open) *bench {
	t.Helper()
	b := &bench{T: t, clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	b.store = open(t, b.clock.read)
	book, ok := b.store.(accounts)
	if !ok {
		t.Fatalf("the store keeps no accounts: %T", b.store)
	}
	b.book = book
	for _, a := range people() {
		a.Key, a.Active, a.CreatedAt = a.ID, true, b.clock.read()
		b.must(book.AddAccount(t.Context(), a))
	}
	b.version = b.policy("rules")
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// refused fails unless err is want.
func (b *bench) refused(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error %v, want %v", err, want)
	}
}

func (b *bench) policy(rules string) string {
	b.Helper()
	version, err := b.store.SetPolicy(b.Context(), tenant, tool, canon.Sum([]byte(rules)))
	b.must(err)
	return version
}

// next numbers what a test makes.
func (b *bench) next() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made++
	return b.made
}

// call is a proposed mutation that policy allowed. Each has arguments of its
// own.
func (b *bench) call() action.Action { return b.callWith(fmt.Sprintf("n%d", b.next())) }

// callFor is a call of another tool.
func (b *bench) callFor(name string) action.Action {
	b.Helper()
	a := b.call()
	args, err := snapshot.Thaw(a.Payload.Args)
	b.must(err)
	a.Tool, a.Hash = name, snapshot.Propose(agent, name, args).Hash
	return a
}

// callWith is a call whose arguments, and so whose fingerprint, are given.
func (b *bench) callWith(to string) action.Action {
	b.Helper()
	args, err := snapshot.FreezeGo(map[string]any{"to": to})
	b.must(err)
	return action.Action{
		ID: fmt.Sprintf("act_%d", b.next()), Kind: action.KindCall, Tenant: tenant, Principal: principal, Agent: agent,
		Owner: principal, Task: "task-1", Tool: tool, Definition: canon.Sum([]byte("definition")), Mutation: true,
		Fingerprint: canon.Sum([]byte("fingerprint " + to)), Hash: snapshot.Propose(agent, tool, args).Hash,
		Targets:  []snapshot.Target{{Type: "payee", ID: to}},
		Evidence: []snapshot.Evidence{{Pointer: "/to", Resolver: "payees", Version: "7", Digest: canon.Sum([]byte(to))}},
		Changes:  []canon.Change{{Pointer: "/to", Kind: canon.ChangeTransformed, By: "trim"}},
		Model:    "model-1", CallID: "call_0",
		Decision: action.Decision{Effect: "allow", Code: "ok", Reason: "rule 1", PolicyVersion: b.version, Rules: []string{"rule1"}},
		Payload: action.Payload{Raw: []byte(`{"to":" ` + to + `"}`), Requested: `{"to":" ` + to + `"}`, Args: args.Text(),
			Preview: `{"fee":1}`, Facts: `{"turn":1}`},
	}
}

// oneAdmin asks for one vote of the group admin.
func oneAdmin() []action.Requirement {
	return []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}
}

// asking turns a call into one that needs an approval.
func (b *bench) asking(a action.Action, requirements []action.Requirement) action.Action {
	now := b.clock.read()
	a.HighImpact = true
	a.Decision.Effect, a.Decision.Code = "require_approval", "approval_required"
	a.Terms = &action.Terms{Requirements: requirements, PendingUntil: now.Add(time.Hour), TTL: 10 * time.Minute,
		StepUp: true, Nonce: "nonce " + a.ID, RequestedAt: now, ExpiresAt: now.Add(2 * time.Hour),
		Preview: canon.Sum([]byte(a.Payload.Preview))}
	a.Terms.Digest = approval.Digest(a)
	return a
}

func (b *bench) suspend(a action.Action) action.Action {
	b.Helper()
	row, err := b.store.Suspend(b.Context(), a)
	b.must(err)
	return row
}

func (b *bench) pending() action.Action { return b.suspend(b.asking(b.call(), oneAdmin())) }

func vote(row action.Action, voter string, approve bool) action.Vote {
	v := action.Vote{ActionID: row.ID, Voter: voter, Approve: approve, Reason: "seen", Nonce: "v " + voter, Method: "password",
		Envelope: []byte("signed"), LoginAt: row.UpdatedAt}
	if row.Terms != nil {
		v.Digest = row.Terms.Digest
	}
	return v
}

func (b *bench) approve(row action.Action, voters ...string) action.Action {
	b.Helper()
	for _, voter := range voters {
		var err error
		row, err = b.store.Vote(b.Context(), vote(row, voter, true))
		b.must(err)
	}
	return row
}

func (b *bench) approved() action.Action { return b.approve(b.pending(), ann) }

func (b *bench) claim(row action.Action) action.Action {
	b.Helper()
	row, err := b.store.Claim(b.Context(), row.ID, lease)
	b.must(err)
	return row
}

func (b *bench) claimed() action.Action { return b.claim(b.approved()) }

func (b *bench) begin(a action.Action) action.Action {
	b.Helper()
	row, err := b.store.Begin(b.Context(), action.Start{Action: a, Lease: lease})
	b.must(err)
	return row
}

func (b *bench) finish(row action.Action, state action.State) action.Action {
	b.Helper()
	row, err := b.store.Finish(b.Context(), ending(row, state))
	b.must(err)
	return row
}

func ending(row action.Action, state action.State) action.Ending {
	e := action.Ending{ID: row.ID, Fence: row.Fence, State: state, Result: action.Result{Output: []byte(`{"done":true}`), Code: "ok",
		Comparison: "equal"}}
	switch state {
	case action.Failed:
		e.Result = action.Result{Evidence: action.EvidenceProved, Code: "tool_not_run"}
	case action.Uncertain:
		e.Result = action.Result{Code: "outcome_uncertain", Detail: "timeout"}
	}
	return e
}

func (b *bench) settle(row action.Action, state action.State) action.Action {
	b.Helper()
	row, err := b.store.Reconcile(b.Context(), action.Reconciliation{ID: row.ID, State: state, By: opal, Evidence: "looked it up"})
	b.must(err)
	return row
}

func (b *bench) row(id string) action.Action {
	b.Helper()
	row, err := b.store.Action(b.Context(), tenant, id)
	b.must(err)
	return row
}

// same fails unless two rows are equal.
func (b *bench) same(want, got action.Action) {
	b.Helper()
	want.Leaf, got.Leaf = nil, nil // of the verb, not of the row
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.Fatalf("row differs (-want +got):\n%s", diff)
	}
}

// records returns the events of an action, oldest first.
func (b *bench) records(id string) []audit.Record {
	b.Helper()
	records, err := b.store.Records(b.Context(), audit.Filter{Tenant: tenant, Action: id})
	b.must(err)
	for i, j := 0, len(records)-1; i < j; i, j = i+1, j-1 {
		records[i], records[j] = records[j], records[i]
	}
	return records
}

func (b *bench) events(id string) []string {
	b.Helper()
	var out []string
	for _, r := range b.records(id) {
		out = append(out, r.Event)
	}
	return out
}
