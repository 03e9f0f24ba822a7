package verbatim_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// bank counts what really happened.
type bank struct {
	mu   sync.Mutex
	runs []string // the bytes that each run got
	fail error
	says []byte // answer with isError
	hold chan struct{}
}

func (b *bank) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	if b.hold != nil {
		<-b.hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs = append(b.runs, string(in.JSON()))
	if b.says != nil {
		return execute.Output{Bytes: b.says, IsError: true}, nil
	}
	return execute.Output{Bytes: []byte(`{"paid":true}`)}, b.fail
}

func (b *bank) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.runs)
}

const transferSchema = `{"type":"object","properties":{
	"to":{"type":"string"},"amount":{"type":["number","string"]},"unit":{"type":"string"},
	"currency":{"type":"string"},"user_id":{"type":"string"},"memo":{"type":"string","default":"none"}},
	"required":["to","amount","currency"],"additionalProperties":false}`

const ownSchema = `{"type":"object","properties":{
	"vendorId":{"type":"string"},"amountMinor":{"type":"integer"},"currency":{"type":"string"},
	"user_id":{"type":"string"},"memo":{"type":"string"}},
	"required":["vendorId","amountMinor","currency"],"additionalProperties":false}`

// vendors is an alias table that a test can move.
type vendors struct {
	mu   sync.Mutex
	rows map[string]string
}

func (v *vendors) set(alias, id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rows[alias] = id
}

func (v *vendors) Resolve(_ context.Context, in map[string]canon.Value) (resolve.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, ok := v.rows[in["value"].Text()]
	if !ok {
		return resolve.Answer{}, canon.Refuse("/value", resolve.RuleUnresolved, "a known vendor")
	}
	return resolve.Answer{Values: map[string]canon.Value{"value": canon.StringValue(id)}, Version: "1"}, nil
}

func transfer(t *testing.T, b *bank, v *vendors) verbatim.Bound {
	t.Helper()
	money, err := resolve.NewMoney(resolve.MoneyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := verbatim.Untyped(catalog.Spec{Name: "transfer", Schema: []byte(ownSchema), ProposalSchema: []byte(transferSchema),
		Impact: catalog.Financial,
		Resolvers: []resolve.Rule{
			{Name: "vendors", From: map[string]string{"value": "/to"}, Into: map[string]string{"value": "/vendorId"}, Resolver: v},
			{Name: "money", From: map[string]string{"amount": "/amount", "unit": "/unit", "currency": "/currency"},
				Into: map[string]string{"amountMinor": "/amountMinor", "currency": "/currency"}, Resolver: money}},
		Identity: []identity.Member{{Pointer: "/user_id", Names: identity.NamesPrincipal, Fill: true}},
		Targets:  []catalog.TargetRule{{Type: "Vendor", Pointer: "/vendorId"}},
	}, b)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

func decide(e policy.Effect) policy.Engine { return policy.FromFunc("v1", answer(e)) }

func answer(e policy.Effect) policy.Func {
	return func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: e, Reason: "test"}, nil
	}
}

type world struct {
	*verbatimtest.Fixture
	bank    *bank
	vendors *vendors
}

func newWorld(t *testing.T, e policy.Engine) *world {
	t.Helper()
	w := &world{bank: &bank{}, vendors: &vendors{rows: map[string]string{"Vendor A": "VENDOR-001", "VENDOR-001": "VENDOR-001"}}}
	w.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{transfer(t, w.bank, w.vendors)}, Policy: e})
	return w
}

const pay = `{"to":"Vendor A","amount":8.4,"unit":"thousand","currency":"USD"}`
const paid = `{"amountMinor":840000,"currency":"USD","memo":"none","user_id":"maria","vendorId":"VENDOR-001"}`

func (w *world) call(t *testing.T, c verbatim.Call) verbatim.Outcome {
	t.Helper()
	if c.Tool == "" {
		c.Tool = "transfer"
	}
	o, err := w.Gate.Call(t.Context(), w.Session(), c)
	if err != nil {
		t.Fatalf("call: %v", err)
	}
	return o
}

func want(t *testing.T, o verbatim.Outcome, status verbatim.Status, code verbatim.Code) {
	t.Helper()
	if o.Status != status || o.Code != code {
		t.Fatalf("got %s %s (%s), want %s %s", o.Status, o.Code, o.Violations.Error(), status, code)
	}
}

func TestApprovedCallRunsExactlyTheSnapshotOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.Allow)) // financial: a mere allow becomes require_approval
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	if w.bank.count() != 0 {
		t.Fatal("ran before the approval")
	}
	w.Approve(o.ActionID, "ada")
	again := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	want(t, again, verbatim.StatusOK, verbatim.CodeOK)
	if again.ActionID != o.ActionID {
		t.Error("the approved call ran as another action")
	}
	if diff := cmp.Diff([]string{paid}, w.bank.runs); diff != "" {
		t.Error(diff)
	}
	third := w.call(t, verbatim.Call{Arguments: []byte(pay), Approval: o.ActionID})
	if !third.Replayed || w.bank.count() != 1 {
		t.Errorf("the consumed approval ran again: %+v, %d runs", third, w.bank.count())
	}
}

func TestApprovalOfAnotherAmountIsAMismatchAndStaysUsable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	w.Approve(o.ActionID, "ada")
	other := w.call(t, verbatim.Call{Arguments: []byte(`{"to":"Vendor A","amount":9,"unit":"thousand","currency":"USD"}`), Approval: o.ActionID})
	want(t, other, verbatim.StatusDenied, verbatim.CodeApprovalMismatch)
	if other.Member != "/amount" {
		t.Errorf("member is %q", other.Member)
	}
	want(t, w.call(t, verbatim.Call{Arguments: []byte(pay), Approval: o.ActionID}), verbatim.StatusOK, verbatim.CodeOK)
}

func TestMovedAliasDeniesTargetChangedAndRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	w.Approve(o.ActionID, "ada")
	w.vendors.set("Vendor A", "VENDOR-002")
	moved := w.call(t, verbatim.Call{Arguments: []byte(pay), Approval: o.ActionID})
	want(t, moved, verbatim.StatusDenied, verbatim.CodeTargetChanged)
	if moved.Member != "/vendorId" || w.bank.count() != 0 {
		t.Errorf("member %q, %d runs", moved.Member, w.bank.count())
	}
	w.vendors.set("Vendor A", "VENDOR-001")
	back := w.call(t, verbatim.Call{Arguments: []byte(pay), Approval: o.ActionID})
	if back.Status == verbatim.StatusOK {
		t.Error("a void approval came back to life")
	}
}

func TestSpoofedIdentityIsDeniedWithoutPolicy(t *testing.T) {
	t.Parallel()
	asked := false
	w := newWorld(t, policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) {
		asked = true
		return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
	}))
	o := w.call(t, verbatim.Call{Arguments: []byte(`{"to":"Vendor A","amount":1,"currency":"USD","user_id":"otto"}`)})
	want(t, o, verbatim.StatusDenied, verbatim.CodeIdentitySpoof)
	if asked || o.ProposalHash == "" || o.ActionID == "" {
		t.Errorf("policy asked: %v, hash %q, action %q", asked, o.ProposalHash, o.ActionID)
	}
}

func TestRefusedInputIsNoDecision(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		raw, stage string
		code       verbatim.Code
	}{
		"duplicate key": {`{"to":"Vendor A","to":"Vendor B","amount":1,"currency":"USD"}`, "json", verbatim.CodeInvalidArguments},
		"2^53+1":        {`{"to":"Vendor A","amount":9007199254740993,"currency":"USD"}`, "json", verbatim.CodeInvalidArguments},
		"empty":         {``, "json", verbatim.CodeInvalidArguments},
		"missing":       {`{"to":"Vendor A"}`, "schema", verbatim.CodeInvalidArguments},
		"unknown alias": {`{"to":"Nobody","amount":1,"currency":"USD"}`, "resolve", verbatim.CodeTargetUnresolved},
		"below minor":   {`{"to":"Vendor A","amount":0.001,"currency":"USD"}`, "resolve", verbatim.CodeTargetUnresolved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, decide(policy.Allow))
			o := w.call(t, verbatim.Call{Arguments: []byte(tc.raw)})
			want(t, o, verbatim.StatusInvalidArguments, tc.code)
			if o.Stage != tc.stage || o.ActionID != "" {
				t.Errorf("stage %q, action %q", o.Stage, o.ActionID)
			}
			rows, err := w.Gate.Actions(t.Context(), action.Filter{Tenant: "acme"})
			if err != nil || len(rows) != 0 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		})
	}
}

func TestAKeyReplaysTheStoredOutcomeAndNeverAuthorizes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	c := verbatim.Call{Arguments: []byte(pay), IdempotencyKey: "k1"}
	o := w.call(t, c)
	want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	same := w.call(t, c)
	if same.ActionID != o.ActionID {
		t.Error("the key made a second proposal")
	}
	w.Approve(o.ActionID, "ada")
	first := w.call(t, c)
	want(t, first, verbatim.StatusOK, verbatim.CodeOK)
	replay := w.call(t, c)
	if !replay.Replayed || string(replay.Output) != string(first.Output) || w.bank.count() != 1 {
		t.Errorf("replay: %+v, %d runs", replay, w.bank.count())
	}
	c.Arguments = []byte(`{"to":"Vendor A","amount":1,"currency":"USD"}`)
	want(t, w.call(t, c), verbatim.StatusDenied, verbatim.CodeIdempotencyMismatch)
	c.Arguments = []byte(pay)
	w.vendors.set("Vendor A", "VENDOR-002")
	want(t, w.call(t, c), verbatim.StatusDenied, verbatim.CodeTargetChanged)
}

func TestRejectionAndSilenceDeny(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	c := verbatim.Call{Arguments: []byte(pay), IdempotencyKey: "r"}
	o := w.call(t, c)
	w.Reject(o.ActionID, "bob")
	want(t, w.call(t, c), verbatim.StatusDenied, verbatim.CodeRejected)

	c.IdempotencyKey = "s"
	o = w.call(t, c)
	w.Clock.Advance(25 * time.Hour)
	if _, err := w.Gate.Sweep(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	want(t, w.call(t, c), verbatim.StatusDenied, verbatim.CodeExpired)
	if w.bank.count() != 0 {
		t.Error("something ran")
	}
}

func TestAnApprovalIsGoodForTenMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	w.Approve(o.ActionID, "ada")
	w.Clock.Advance(10*time.Minute + time.Second)
	late := w.call(t, verbatim.Call{Arguments: []byte(pay), Approval: o.ActionID})
	if late.Status == verbatim.StatusOK || w.bank.count() != 0 {
		t.Errorf("ran after its time: %+v", late)
	}
}

func TestTwoImpatientCallersRunAnApprovedActionOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	w.Approve(o.ActionID, "ada")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := w.Gate.Call(t.Context(), w.Session(), verbatim.Call{Tool: "transfer", Arguments: []byte(pay), Approval: o.ActionID}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := w.bank.count(); n != 1 {
		t.Errorf("%d runs", n)
	}
}

func TestAWaitingCallRunsByItselfWhenApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	pending := make(chan verbatim.Outcome, 1)
	go func() {
		o := <-pending
		w.Approve(o.ActionID, "ada")
	}()
	o := w.call(t, verbatim.Call{Arguments: []byte(pay), Wait: 20 * time.Second,
		Suspended: func(o verbatim.Outcome) { pending <- o }})
	want(t, o, verbatim.StatusOK, verbatim.CodeOK)
}

func TestAToolsOwnErrorIsUncertainWhereMoneyMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	w.bank.says = []byte(`{"error":"busy"}`)
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	w.Approve(o.ActionID, "ada")
	want(t, w.call(t, verbatim.Call{Arguments: []byte(pay)}), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	w.bank.says = nil
	want(t, w.call(t, verbatim.Call{Arguments: []byte(pay)}), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	if w.bank.count() != 1 {
		t.Errorf("%d runs", w.bank.count())
	}
}

func TestUnverifiableVotesRunNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.RequireApproval))
	o := w.call(t, verbatim.Call{Arguments: []byte(pay)})
	a, err := w.Gate.Action(t.Context(), "acme", o.ActionID)
	if err != nil {
		t.Fatal(err)
	}
	forged := w.Sign(action.Vote{ActionID: o.ActionID, Voter: "ada", Approve: false, Digest: a.Terms.Digest, Nonce: "n", Method: "password"})
	forged.Approve = true
	if _, err := w.Gate.Vote(t.Context(), forged); err == nil {
		t.Fatal("a rejection passed as an approval")
	}
	if _, err := w.Store.Vote(t.Context(), forged); err != nil { // straight into the store
		t.Fatal(err)
	}
	want(t, w.call(t, verbatim.Call{Arguments: []byte(pay), Approval: o.ActionID}), verbatim.StatusDenied, verbatim.CodeApprovalUnverified)
	if w.bank.count() != 0 {
		t.Error("ran on a forged vote")
	}
}

func TestThrowModeGivesTypedErrors(t *testing.T) {
	t.Parallel()
	b, v := &bank{}, &vendors{rows: map[string]string{"Vendor A": "VENDOR-001"}}
	f := verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{transfer(t, b, v)}, Policy: decide(policy.RequireApproval),
		Gate: func(c *verbatim.Config) { c.Denials, c.ArgumentErrors = "", policy.Throw }})
	_, err := f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "transfer", Arguments: []byte(pay)})
	var required *verbatim.ApprovalRequiredError
	if !errors.As(err, &required) || required.Outcome.ActionID == "" {
		t.Errorf("got %v", err)
	}
	_, err = f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "transfer", Arguments: []byte(`[]`)})
	var arguments *verbatim.ArgumentsError
	if !errors.As(err, &arguments) || arguments.Stage != "json" {
		t.Errorf("got %v", err)
	}
	_, err = f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "nothing", Arguments: []byte(`{}`)})
	var denied *verbatim.DeniedError
	if !errors.As(err, &denied) || denied.Outcome.Code != verbatim.CodeUnknownTool {
		t.Errorf("got %v", err)
	}
}
