package verbatim_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// perDay is a limit of 1000 minor units a day for each principal.
var perDay = &catalog.Limit{Name: "daily-spend", Window: action.Day, Per: []catalog.Dimension{catalog.PerPrincipal},
	Amounts: map[string]int64{"USD": 1000}}

func spending(name string) catalog.Spec {
	s := ordinary(name, `{"type":"object","properties":{"amount":{"type":"integer"},"currency":{"type":"string"},"n":{"type":"integer"}}}`)
	s.Limits = []catalog.LimitUse{{Limit: perDay, Amount: "/amount", Currency: "/currency"}}
	return s
}

// pays is a call that pays an amount; n tells calls apart.
func pays(amount, n int) string {
	return fmt.Sprintf(`{"amount":%d,"currency":"USD","n":%d}`, amount, n)
}

// window fails unless the only window holds this much.
func (s *stage) window(reserved, posted int64) {
	s.t.Helper()
	all, err := s.Gate.Budgets(s.t.Context(), action.BudgetFilter{Tenant: "acme"})
	if err != nil || len(all) != 1 || all[0].Reserved != reserved || all[0].Posted != posted {
		s.t.Fatalf("windows %+v (%v), want %d reserved and %d posted", all, err, reserved, posted)
	}
}

func TestLimitIsItsOwnDenial(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: spending("pay")})
	want(t, s.call(pays(700, 1)), verbatim.StatusOK, verbatim.CodeOK)
	o := s.with(verbatim.Call{Arguments: []byte(pays(301, 2)), IdempotencyKey: "k"})
	want(t, o, verbatim.StatusDenied, verbatim.CodeLimitExceeded)
	if o.Member != "daily-spend" {
		t.Errorf("the limit is said to be %q", o.Member)
	}
	s.state(o.ActionID, action.Denied)
	s.runs(1)
	want(t, s.call(pays(300, 3)), verbatim.StatusOK, verbatim.CodeOK)
	s.window(0, 1000)
	s.Clock.Advance(24 * time.Hour)
	// The refusal left the key free: what stood in the way has gone.
	want(t, s.with(verbatim.Call{Arguments: []byte(pays(301, 2)), IdempotencyKey: "k"}), verbatim.StatusOK, verbatim.CodeOK)
}

func TestCallThatNoWindowHasRoomForAsksNobody(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args string
		code verbatim.Code
	}{
		"more than the limit":        {`{"amount":1001,"currency":"USD"}`, verbatim.CodeLimitExceeded},
		"a currency without a limit": {`{"amount":1,"currency":"EUR"}`, verbatim.CodeLimitExceeded},
		"no amount":                  {`{"currency":"USD"}`, verbatim.CodeLimitUncountable},
		"no currency":                {`{"amount":1}`, verbatim.CodeLimitUncountable},
		"a negative amount":          {`{"amount":-1,"currency":"USD"}`, verbatim.CodeLimitUncountable},
		"another spelling":           {`{"amount":1,"currency":"usd"}`, verbatim.CodeLimitUncountable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{spec: spending("pay"), policy: decide(policy.RequireApproval)})
			o := s.call(tc.args)
			want(t, o, verbatim.StatusDenied, tc.code)
			s.state(o.ActionID, action.Denied)
			e, err := s.Gate.Explain(t.Context(), s.Session(), verbatim.Call{Tool: "pay", Arguments: []byte(tc.args)})
			if err != nil || e.Code != tc.code {
				t.Errorf("explained as %s, %v", e.Code, err)
			}
		})
	}
}

func TestApprovedCallOverTheLimitEndsDenied(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: spending("pay"), policy: decide(policy.RequireApproval)})
	first := s.approved(verbatim.Call{Arguments: []byte(pays(600, 1))})
	second := s.approved(verbatim.Call{Arguments: []byte(pays(600, 2))}) // waiting reserves nothing
	a := s.state(second.ActionID, action.Approved)
	room, err := s.Gate.Room(t.Context(), s.bound.Tool, a)
	if err != nil || len(room) != 1 || room[0].Taken != 0 || room[0].Left() != 1000 {
		t.Fatalf("room %+v, %v", room, err)
	}
	want(t, s.with(verbatim.Call{Arguments: []byte(pays(600, 1)), Approval: first.ActionID}), verbatim.StatusOK, verbatim.CodeOK)
	if room, err = s.Gate.Room(t.Context(), s.bound.Tool, a); err != nil || room[0].Left() != 400 {
		t.Fatalf("room %+v, %v", room, err)
	}
	o := s.with(verbatim.Call{Arguments: []byte(pays(600, 2)), Approval: second.ActionID})
	want(t, o, verbatim.StatusDenied, verbatim.CodeLimitExceeded)
	if o.Member != "daily-spend" || o.ActionID != second.ActionID {
		t.Errorf("%+v", o)
	}
	s.state(second.ActionID, action.Denied)
	s.runs(1)
	s.window(0, 600)
}

func TestLimitHoldsWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, parts{spec: spending("pay"), dir: dir})
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		return execute.Output{}, execute.ErrLost
	})
	lost := s.call(pays(600, 1))
	want(t, lost, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	s.window(600, 0)
	s.Store.Close()
	again := newStage(t, parts{spec: spending("pay"), dir: dir}) // a restart
	if _, err := again.Gate.Sweep(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	again.window(600, 0)
	want(t, again.call(pays(401, 2)), verbatim.StatusDenied, verbatim.CodeLimitExceeded)
	_, err := again.Gate.Reconcile(t.Context(), "acme", action.Reconciliation{ID: lost.ActionID, State: action.ReconciledFailed,
		By: "bob", Evidence: "the bank has no such payment"})
	if err != nil {
		t.Fatal(err)
	}
	again.window(0, 0)
	want(t, again.call(pays(401, 2)), verbatim.StatusOK, verbatim.CodeOK)
}

func TestProvedFailureGivesRoomBackAndTheToolsWordDoesNot(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: spending("pay")})
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		return execute.Output{}, execute.ErrNotRun
	})
	want(t, s.call(pays(600, 1)), verbatim.StatusFailed, verbatim.CodeToolNotRun)
	s.window(0, 0)
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		return execute.Output{Bytes: []byte(`{}`), IsError: true}, nil
	})
	want(t, s.call(pays(600, 2)), verbatim.StatusFailed, verbatim.CodeToolError)
	s.window(0, 600)
}

func TestP01ParallelCallsNeverPassTheLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: spending("pay")})
	want(t, s.call(pays(900, 0)), verbatim.StatusOK, verbatim.CodeOK)
	var wg sync.WaitGroup
	codes := make([]verbatim.Code, 8)
	for i := range codes {
		wg.Go(func() {
			o, err := s.Gate.Call(context.Background(), s.Session(), verbatim.Call{Tool: "pay", Arguments: []byte(pays(50, i+1))})
			if err != nil {
				t.Error(err)
			}
			codes[i] = o.Code
		})
	}
	wg.Wait()
	ran := 0
	for _, c := range codes {
		switch c {
		case verbatim.CodeOK:
			ran++
		case verbatim.CodeLimitExceeded:
		default:
			t.Errorf("code %s", c)
		}
	}
	if ran != 2 {
		t.Errorf("%d of 50 ran beside 900 of 1000", ran)
	}
	s.window(0, 1000)
}

func TestP02LimitAddsUpOverTools(t *testing.T) {
	t.Parallel()
	wire := &probe{}
	s := newStage(t, parts{spec: spending("pay_card"), more: []verbatim.Bound{bind(t, spending("pay_wire"), wire)}})
	want(t, s.call(pays(600, 1)), verbatim.StatusOK, verbatim.CodeOK)
	want(t, s.with(verbatim.Call{Tool: "pay_wire", Arguments: []byte(pays(600, 1))}), verbatim.StatusDenied, verbatim.CodeLimitExceeded)
	if len(wire.ran()) != 0 {
		t.Error("the second tool ran")
	}
}

func TestReplayedCallIsCountedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: spending("pay")})
	for range 3 {
		want(t, s.with(verbatim.Call{Arguments: []byte(pays(600, 1)), IdempotencyKey: "k"}), verbatim.StatusOK, verbatim.CodeOK)
	}
	s.runs(1)
	s.window(0, 600)
	rows, err := s.Gate.Records(t.Context(), audit.Filter{Tenant: "acme", Event: audit.ActionStarted})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d starts, %v", len(rows), err)
	}
	taken, err := s.Gate.Reservations(t.Context(), "acme", rows[0].Action)
	if err != nil || len(taken) != 1 || taken[0].State != action.Posted || taken[0].Amount != 600 {
		t.Errorf("reservations %+v, %v", taken, err)
	}
}

func TestDeniedCallReservesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: spending("pay"), policy: decide(policy.Deny)})
	want(t, s.call(pays(600, 1)), verbatim.StatusDenied, verbatim.CodePolicyDenied)
	all, err := s.Gate.Budgets(t.Context(), action.BudgetFilter{Tenant: "acme"})
	if err != nil || len(all) != 0 {
		t.Errorf("windows %+v, %v", all, err)
	}
}
