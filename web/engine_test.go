package web_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/web"
)

const refundSchema = `{"type":"object","properties":{"order":{"type":"string"},"amountMinor":{"type":"integer"},
	"currency":{"type":"string","default":"EUR"}},"required":["order","amountMinor"],"additionalProperties":false}`

// engine is the real gate over the real store, with pages and accounts.
func engine(t *testing.T, runs *atomic.Int32) (*verbatimtest.Fixture, *bench) {
	t.Helper()
	return engineAsking(t, runs, 1)
}

// engineAsking asks for the votes of some admins.
func engineAsking(t *testing.T, runs *atomic.Int32, admins int) (*verbatimtest.Fixture, *bench) {
	t.Helper()
	return engineOf(t, runs, catalog.Financial, policy.Decision{Effect: policy.Allow, Reason: "refunds are allowed"}, admins)
}

// engineOf has refunds of an impact, and a policy with one answer.
func engineOf(t *testing.T, runs *atomic.Int32, impact catalog.Impact, answer policy.Decision, admins int) (*verbatimtest.Fixture, *bench) {
	t.Helper()
	tool, err := verbatim.Untyped(catalog.Spec{Name: "refund", Schema: []byte(refundSchema), Impact: impact, Reason: "a test says so",
		Sentence: "Refund {amountMinor|money} for order {order}", Targets: []catalog.TargetRule{{Type: "Order", Pointer: "/order"}}},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			runs.Add(1)
			return execute.Output{Bytes: []byte(`{"refunded":true}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	clock := authtest.NewClock(verbatimtest.Start)
	b := &bench{at: origin, clock: clock}
	asked := policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) { return answer, nil })
	f := verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{tool}, Policy: asked,
		Approvers: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: admins}}}}, Gate: func(c *verbatim.Config) {
			if b.accounts, err = authtest.Accounts(c.Store.(auth.Book), clock.Now, 3); err != nil {
				t.Fatal(err)
			}
			c.Votes, c.CanApprove = b.accounts, b.accounts.CanApprove
		}})
	find := func(string) (*catalog.Tool, bool) { return tool.Tool, true }
	b.find = find
	if b.site, err = web.New(web.Config{Gate: f.Gate, People: b.accounts, Tools: find, Origin: origin, Now: clock.Now}); err != nil {
		t.Fatal(err)
	}
	return f, b
}

func TestVoteOnThePageStartsTheRealRunOnce(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f, b := engine(t, &runs)
	if _, err := b.accounts.Create(t.Context(), "Grace", password, "acme", "grace", []string{"admin"}); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.cookie, _, err = b.accounts.Login(t.Context(), "Grace", password); err != nil {
		t.Fatal(err)
	}
	call := verbatim.Call{Tool: "refund", Arguments: []byte(`{"order":"A-17","amountMinor":1250}`)}
	o, err := f.Gate.Call(t.Context(), f.Session(), call)
	if err != nil || o.Status != verbatim.StatusApprovalRequired {
		t.Fatalf("call = %+v, %v", o, err)
	}
	path := "/actions/" + o.ActionID
	page := text(b.get(path).Body.String())
	for _, want := range []string{"Refund EUR 12.50 for order “A-17”", "default added", "A-17 Order", "refunds are allowed", "1 person of admin"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if w := b.post(path+"/approve", b.fill(t, path, path+"/approve")); w.Code != http.StatusSeeOther {
		t.Fatalf("approve = %d: %s", w.Code, text(w.Body.String()))
	}
	if a, err := f.Gate.Action(t.Context(), "acme", o.ActionID); err != nil || a.State != action.Approved {
		t.Fatalf("state %s, %v", a.State, err)
	}
	for range 2 {
		if o, err = f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: call.Tool, Arguments: call.Arguments, Approval: o.ActionID}); err != nil || o.Status != verbatim.StatusOK {
			t.Fatalf("resumed call = %+v, %v", o, err)
		}
	}
	if runs.Load() != 1 {
		t.Errorf("%d runs; want one", runs.Load())
	}
	page = text(b.get(path).Body.String())
	for _, want := range []string{"succeeded", "approves Grace", `{"refunded": true}`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q afterwards", want)
		}
	}
	records := text(b.get("/records?action=" + o.ActionID).Body.String())
	if !strings.Contains(records, "refund") || !strings.Contains(records, "approved") {
		t.Error("the records of the action are not listed")
	}
}

func TestRejectionOnThePageEndsTheRealAction(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f, b := engine(t, &runs)
	if _, err := b.accounts.Create(t.Context(), "Grace", password, "acme", "grace", []string{"admin"}); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.cookie, _, err = b.accounts.Login(t.Context(), "Grace", password); err != nil {
		t.Fatal(err)
	}
	call := verbatim.Call{Tool: "refund", Arguments: []byte(`{"order":"A-17","amountMinor":1250}`)}
	o, err := f.Gate.Call(t.Context(), f.Session(), call)
	if err != nil {
		t.Fatal(err)
	}
	path := "/actions/" + o.ActionID
	if w := b.post(path+"/reject", b.fill(t, path, path+"/reject", "reason", "wrong order")); w.Code != http.StatusSeeOther {
		t.Fatalf("reject = %d", w.Code)
	}
	if page := text(b.get(path).Body.String()); !strings.Contains(page, "denied") || !strings.Contains(page, "wrong order") {
		t.Error("the page does not show the rejection")
	}
	call.Approval = o.ActionID
	if o, err = f.Gate.Call(t.Context(), f.Session(), call); err != nil || o.Status == verbatim.StatusOK || runs.Load() != 0 {
		t.Errorf("call after the rejection = %+v, %v, %d runs", o, err, runs.Load())
	}
}
