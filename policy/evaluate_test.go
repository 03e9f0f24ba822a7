package policy_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func frozen(t testing.TB, v map[string]any) snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.FreezeGo(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func input(t testing.TB) policy.Input {
	t.Helper()
	args := frozen(t, map[string]any{"amount": int64(500), "tags": []any{"a", "b"}, "to": map[string]any{"id": "V1"}})
	return policy.Input{
		Proposal:     snapshot.Propose("a", "bank.pay", args),
		RawArguments: []byte(`{"amount":500}`),
		Requested:    canon.ObjectValue(canon.Member{Name: "amount", Value: canon.StringValue("500")}),
		Session:      identity.Session{Tenant: "t", Principal: "ann", Roles: []string{"clerk"}, Agent: "a"},
		Tool:         policy.Tool{Name: "bank.pay", Mutation: true, Cataloged: true},
		Now:          noon,
	}
}

func allow(context.Context, policy.Input) (policy.Decision, error) {
	return policy.Decision{Effect: policy.Allow, Reason: "fine"}, nil
}

func engine(f policy.Func) policy.Engine { return policy.FromFunc("v1", f) }

func returning(d policy.Decision) policy.Func {
	return func(context.Context, policy.Input) (policy.Decision, error) { return d, nil }
}

func TestMissingPolicyDenies(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]policy.Engine{"no engine": nil, "nil func": policy.FromFunc("v1", nil)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policy.Evaluate(t.Context(), e, input(t), 0)
			want := policy.Decision{Code: "policy_not_configured", Reason: "no policy engine is configured"}
			if diff := cmp.Diff(want, d); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAllowIsReturnedWithTheEnginesVersion(t *testing.T) {
	t.Parallel()
	d := policy.Evaluate(t.Context(), engine(allow), input(t), 0)
	want := policy.Decision{Effect: policy.Allow, Reason: "fine", PolicyVersion: "v1"}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

type typedNil struct{ version string }

func (e *typedNil) Decide(context.Context, policy.Input) (policy.Decision, error) {
	return policy.Decision{Effect: policy.Allow, Reason: e.version}, nil
}
func (e *typedNil) Version(string) string { return e.version }

type panickingVersion struct{}

func (panickingVersion) Decide(context.Context, policy.Input) (policy.Decision, error) {
	return policy.Decision{Effect: policy.Allow, Reason: "fine"}, nil
}
func (panickingVersion) Version(string) string { panic("no version") }

func TestFailingPolicyDeniesWithPolicyError(t *testing.T) {
	t.Parallel()
	tests := map[string]policy.Engine{
		"error": engine(func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "fine"}, errors.New("broken")
		}),
		"panic":     engine(func(context.Context, policy.Input) (policy.Decision, error) { panic("secret-123") }),
		"nil panic": engine(func(context.Context, policy.Input) (policy.Decision, error) { panic(nil) }),
		"ends its goroutine": engine(func(context.Context, policy.Input) (policy.Decision, error) {
			runtime.Goexit()
			return policy.Decision{}, nil
		}),
		"typed nil engine":    (*typedNil)(nil),
		"panic while stamped": panickingVersion{},
	}
	for name, e := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policy.Evaluate(t.Context(), e, input(t), 0)
			if d.Effect != policy.Deny || d.Code != "policy_error" {
				t.Errorf("got %v %q", d.Effect, d.Code)
			}
			if strings.Contains(d.Reason, "secret-123") {
				t.Error("the panic value is in the reason")
			}
		})
	}
}

func TestSlowPolicyDeniesWithPolicyTimeout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		timeout, want time.Duration
	}{
		{"default is one second", 0, time.Second},
		{"as configured", 300 * time.Millisecond, 300 * time.Millisecond},
		{"never below the range", time.Nanosecond, 10 * time.Millisecond},
		{"never above the range", time.Hour, 10 * time.Second},
		{"negative is the lowest", -time.Second, 10 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := func(_ context.Context, in policy.Input) (policy.Decision, error) {
					in.View()["amount"] = int64(1) // not inspected after a timeout
					time.Sleep(time.Minute)
					return policy.Decision{Effect: policy.Allow, Reason: "late"}, nil
				}
				start := time.Now()
				d := policy.Evaluate(t.Context(), engine(slow), input(t), tt.timeout)
				if d.Effect != policy.Deny || d.Code != "policy_timeout" {
					t.Errorf("got %v %q", d.Effect, d.Code)
				}
				if took := time.Since(start); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
				time.Sleep(2 * time.Minute) // the lingering engine ends and nobody minds
			})
		})
	}
}

func TestAnswerAtTheDeadlineIsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waits := func(ctx context.Context, _ policy.Input) (policy.Decision, error) {
			<-ctx.Done()
			return policy.Decision{Effect: policy.Allow, Reason: "late"}, nil
		}
		d := policy.Evaluate(t.Context(), engine(waits), input(t), time.Second)
		if d.Effect != policy.Deny || d.Code != "policy_timeout" {
			t.Errorf("got %v %q", d.Effect, d.Code)
		}
	})
}

func TestCancelledEvaluationDenies(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := policy.Evaluate(ctx, engine(allow), input(t), 0)
	if d.Effect != policy.Deny || d.Code != "policy_error" {
		t.Errorf("got %v %q", d.Effect, d.Code)
	}
}

func TestChangedViewOverridesAnyDecision(t *testing.T) {
	t.Parallel()
	shared := []any{"x"}
	mutations := map[string]func(v map[string]any){
		"member set":               func(v map[string]any) { v["amount"] = int64(1) },
		"member added":             func(v map[string]any) { v["note"] = "x" },
		"member deleted":           func(v map[string]any) { delete(v, "tags") },
		"nested member set":        func(v map[string]any) { v["to"].(map[string]any)["id"] = "V2" },
		"element set":              func(v map[string]any) { v["tags"].([]any)[0] = "z" },
		"elements swapped":         func(v map[string]any) { a := v["tags"].([]any); a[0], a[1] = a[1], a[0] },
		"type outside the domain":  func(v map[string]any) { v["amount"] = float32(500) },
		"struct":                   func(v map[string]any) { v["to"] = struct{ ID string }{"V1"} },
		"cycle":                    func(v map[string]any) { v["to"] = v },
		"repeated reference":       func(v map[string]any) { v["tags"], v["more"] = shared, shared },
		"value to another kind":    func(v map[string]any) { v["amount"] = "500" },
		"negative zero":            func(v map[string]any) { v["amount"] = negativeZero() },
		"everything deleted":       func(v map[string]any) { clear(v) },
		"invalid UTF-8 in a value": func(v map[string]any) { v["to"].(map[string]any)["id"] = "\xff" },
	}
	results := map[string]policy.Decision{
		"allow":            {Effect: policy.Allow, Reason: "fine"},
		"require_approval": {Effect: policy.RequireApproval, Reason: "ask"},
		"deny":             {Effect: policy.Deny, Reason: "no"},
		"invalid result":   {Effect: policy.Allow},
	}
	for name, mutate := range mutations {
		for result, said := range results {
			t.Run(name+"/"+result, func(t *testing.T) {
				t.Parallel()
				d := policy.Evaluate(t.Context(), engine(func(_ context.Context, in policy.Input) (policy.Decision, error) {
					mutate(in.View())
					return said, nil
				}), input(t), 0)
				if d.Effect != policy.Deny || d.Code != "policy_mutated_arguments" {
					t.Errorf("got %v %q", d.Effect, d.Code)
				}
			})
		}
	}
}

func negativeZero() float64 {
	zero := 0.0
	return -zero * 1
}

func TestViewMayBeChangedBackAndReadFreely(t *testing.T) {
	t.Parallel()
	d := policy.Evaluate(t.Context(), engine(func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		in.View()["amount"] = int64(1)
		in.View()["amount"] = float64(500) // same canonical form
		return allow(ctx, in)
	}), input(t), 0)
	if d.Effect != policy.Allow {
		t.Errorf("got %v %q", d.Effect, d.Code)
	}
}

func TestHandoffPayloadIsTheView(t *testing.T) {
	t.Parallel()
	h := snapshot.ProposeHandoff("A", "B", frozen(t, map[string]any{"case": "7"}))
	in := policy.Input{Handoff: &h, Now: noon}
	read := func(_ context.Context, in policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: in.View()["case"].(string)}, nil
	}
	if d := policy.Evaluate(t.Context(), engine(read), in, 0); d.Effect != policy.Allow || d.Reason != "7" {
		t.Errorf("got %+v", d)
	}
	change := func(_ context.Context, in policy.Input) (policy.Decision, error) {
		in.View()["case"] = "8"
		return policy.Decision{Effect: policy.Allow, Reason: "fine"}, nil
	}
	if d := policy.Evaluate(t.Context(), engine(change), in, 0); d.Code != "policy_mutated_arguments" {
		t.Errorf("got %+v", d)
	}
}

func TestPolicyCannotReachTheCallersInput(t *testing.T) {
	t.Parallel()
	in := input(t)
	in.Session.Taint = []string{"web"}
	in.Proposal.Targets = []snapshot.Target{{Type: "Vendor", ID: "V1"}}
	in.Approval = &policy.ApprovalFacts{ID: "x", Voters: []string{"bob"}}
	policy.Evaluate(t.Context(), engine(func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		in.RawArguments[0] = 'X'
		in.Session.Roles[0] = "admin"
		in.Session.Taint[0] = ""
		in.Proposal.Targets[0].ID = "V2"
		in.Approval.Voters[0] = "mallory"
		return allow(ctx, in)
	}), in, 0)
	got := []string{string(in.RawArguments), in.Session.Roles[0], in.Session.Taint[0], in.Proposal.Targets[0].ID, in.Approval.Voters[0]}
	if diff := cmp.Diff([]string{`{"amount":500}`, "clerk", "web", "V1", "bob"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultIsCopiedOnce(t *testing.T) {
	t.Parallel()
	kept := policy.Decision{
		Effect: policy.RequireApproval, Reason: "ask", Rules: []string{"r1"}, Metadata: map[string]string{"k": "v"},
		Approval: &policy.Approval{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}},
	}
	d := policy.Evaluate(t.Context(), engine(returning(kept)), input(t), 0)
	kept.Rules[0], kept.Metadata["k"], kept.Approval.Requirements[0].AnyOf[0].Votes = "x", "x", 1
	want := policy.Decision{
		Effect: policy.RequireApproval, Reason: "ask", Rules: []string{"r1"}, Metadata: map[string]string{"k": "v"},
		PolicyVersion: "v1",
		Approval: &policy.Approval{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}},
			TTL: 10 * time.Minute, PendingTTL: 24 * time.Hour},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestIllTypedResultDenies(t *testing.T) {
	t.Parallel()
	ask := func(a policy.Approval) policy.Decision {
		return policy.Decision{Effect: policy.RequireApproval, Reason: "ask", Approval: &a}
	}
	groups := func(gs ...action.Group) policy.Approval {
		return policy.Approval{Requirements: []action.Requirement{{AnyOf: gs}}}
	}
	tests := map[string]policy.Decision{
		"zero decision":                  {},
		"no reason":                      {Effect: policy.Allow},
		"blank reason":                   {Effect: policy.Allow, Reason: " \n"},
		"unknown effect":                 {Effect: 7, Reason: "fine"},
		"unknown result mode":            {Effect: policy.Allow, Reason: "fine", ResultMode: "shout"},
		"expired":                        {Effect: policy.Allow, Reason: "fine", ExpiresAt: noon.Add(-time.Second)},
		"expires now":                    {Effect: policy.Allow, Reason: "fine", ExpiresAt: noon},
		"reason is not UTF-8":            {Effect: policy.Allow, Reason: "a\xff"},
		"public reason is not UTF-8":     {Effect: policy.Deny, Reason: "no", PublicReason: "\xff"},
		"metadata is not UTF-8":          {Effect: policy.Allow, Reason: "fine", Metadata: map[string]string{"\xff": ""}},
		"rule is not UTF-8":              {Effect: policy.Allow, Reason: "fine", Rules: []string{"\xff"}},
		"code on an allow":               {Effect: policy.Allow, Reason: "fine", Code: policy.ReasonError},
		"code that is not the engine's":  {Effect: policy.Deny, Reason: "no", Code: policy.ReasonIdentitySpoof},
		"code outside the list":          {Effect: policy.Deny, Reason: "no", Code: "whatever"},
		"terms on an allow":              {Effect: policy.Allow, Reason: "fine", Approval: &policy.Approval{}},
		"ttl above the range":            ask(policy.Approval{TTL: 24*time.Hour + 1}),
		"negative ttl":                   ask(policy.Approval{TTL: -1}),
		"pending ttl above the range":    ask(policy.Approval{PendingTTL: 25 * time.Hour}),
		"negative pending ttl":           ask(policy.Approval{PendingTTL: -1}),
		"requirement without groups":     ask(groups()),
		"group without name":             ask(groups(action.Group{Votes: 1})),
		"group without votes":            ask(groups(action.Group{Name: "admin"})),
		"group with negative votes":      ask(groups(action.Group{Name: "admin", Votes: -1})),
		"group with more votes than 100": ask(groups(action.Group{Name: "admin", Votes: 101})),
	}
	for name, said := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policy.Evaluate(t.Context(), engine(returning(said)), input(t), 0)
			if d.Effect != policy.Deny || d.Code != "invalid_policy_result" || d.PolicyVersion != "v1" {
				t.Errorf("got %v %q %q", d.Effect, d.Code, d.PolicyVersion)
			}
		})
	}
}

func TestResultWithoutAnyVersionIsInvalid(t *testing.T) {
	t.Parallel()
	d := policy.Evaluate(t.Context(), policy.FromFunc("", allow), input(t), 0)
	if d.Effect != policy.Deny || d.Code != "invalid_policy_result" {
		t.Errorf("got %v %q", d.Effect, d.Code)
	}
}

func TestDenyOfARuleKeepsItsWords(t *testing.T) {
	t.Parallel()
	said := policy.Decision{Reason: "too much", PublicReason: "Ask finance.", ResultMode: policy.Throw, Approval: &policy.Approval{}}
	d := policy.Evaluate(t.Context(), engine(returning(said)), input(t), 0)
	want := policy.Decision{Reason: "too much", PublicReason: "Ask finance.", ResultMode: policy.Throw, PolicyVersion: "v1"}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestDiagnosticCopyOfRequestedArgumentsIsGiven(t *testing.T) {
	t.Parallel()
	d := policy.Evaluate(t.Context(), engine(func(_ context.Context, in policy.Input) (policy.Decision, error) {
		asked, _ := in.Requested.Get("amount")
		return policy.Decision{Effect: policy.Allow, Reason: asked.Text() + string(in.RawArguments)}, nil
	}), input(t), 0)
	if want := `500{"amount":500}`; d.Reason != want {
		t.Errorf("got %q, want %q", d.Reason, want)
	}
}
