package verbatim_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// nested holds an object and a list, so that a policy can reach below the top.
const nestedSchema = `{"type":"object","properties":{"pay":{"type":"object","properties":{"amount":{"type":"integer"}}},
	"ids":{"type":"array","items":{"type":"string"}}}}`

const nestedArgs = `{"ids":["a","b"],"pay":{"amount":5}}`

func allowing(f func(view map[string]any)) policy.Engine {
	return policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		f(in.View())
		return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
	})
}

func TestWhateverPolicyDoesWrongDenies(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	for _, tc := range []struct {
		name   string
		engine policy.Engine
		code   verbatim.Code
	}{
		{"RFC0016 1: a member added to the view", allowing(func(v map[string]any) { v["pay2"] = "x" }), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 1: a member deleted from the view", allowing(func(v map[string]any) { delete(v, "ids") }), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 2: a nested member changed", allowing(func(v map[string]any) {
			v["pay"].(map[string]any)["amount"] = int64(1)
		}), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 2: an element changed", allowing(func(v map[string]any) { v["ids"].([]any)[0] = "z" }), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 3: a time in the view", allowing(func(v map[string]any) { v["ids"] = time.Now() }), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 3: not a number", allowing(func(v map[string]any) {
			v["pay"].(map[string]any)["amount"] = math.NaN()
		}), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 3: a cycle", allowing(func(v map[string]any) { v["pay"] = v }), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 3: a function", allowing(func(v map[string]any) { v["pay"] = func() {} }), verbatim.CodePolicyMutatedArgs},
		{"RFC0016 4: no answer in time", allowing(func(map[string]any) { <-released }), verbatim.CodePolicyTimeout},
		{"RFC0016 5: a panic", allowing(func(map[string]any) { panic("secret") }), verbatim.CodePolicyError},
		{"RFC0016 5: an error", policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "r"}, errDisk
		}), verbatim.CodePolicyError},
		{"RFC0016 6: no policy", nil, verbatim.CodePolicyNotConfigured},
		{"RFC0016 7: no reason", answering(policy.Decision{Effect: policy.Allow}), verbatim.CodeInvalidPolicyResult},
		{"RFC0016 7: the zero result", answering(policy.Decision{}), verbatim.CodeInvalidPolicyResult},
		{"RFC0016 7: an unknown decision", answering(policy.Decision{Effect: 7, Reason: "r"}), verbatim.CodeInvalidPolicyResult},
		{"RFC0016 7: an unknown result mode", answering(policy.Decision{Effect: policy.Allow, Reason: "r", ResultMode: "shout"}), verbatim.CodeInvalidPolicyResult},
		{"RFC0016 7: expired already", answering(policy.Decision{Effect: policy.Allow, Reason: "r", ExpiresAt: time.Unix(1, 0)}), verbatim.CodeInvalidPolicyResult},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{spec: ordinary("pay", nestedSchema), gate: func(c *verbatim.Config) {
				c.Policy, c.PolicyTimeout = tc.engine, 300*time.Millisecond
			}})
			o := s.call(nestedArgs)
			want(t, o, verbatim.StatusDenied, tc.code)
			s.runs(0)
			s.state(o.ActionID, "denied")
			if diff := cmp.Diff([]string{audit.ActionDenied}, s.events()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func answering(d policy.Decision) policy.Engine {
	return policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) { return d, nil })
}

func TestHandlerGetsAFreshDecodeOfTheFrozenBytes(t *testing.T) {
	t.Parallel()
	t.Run("RFC0016 8: not the tree that policy was shown", func(t *testing.T) {
		t.Parallel()
		var shown map[string]any
		s := newStage(t, parts{spec: ordinary("pay", nestedSchema), policy: allowing(func(v map[string]any) { shown = v })})
		s.probe.set(func(_ context.Context, in execute.Input) (execute.Output, error) {
			shown["pay"].(map[string]any)["amount"] = int64(1_000_000) // after the decision: too late to matter
			if diff := cmp.Diff(map[string]any{"ids": []any{"a", "b"}, "pay": map[string]any{"amount": int64(5)}}, in.View()); diff != "" {
				t.Error(diff)
			}
			return execute.Output{Bytes: in.JSON()}, nil
		})
		if o := s.call(nestedArgs); string(o.Output) != nestedArgs {
			t.Errorf("ran %s", o.Output)
		}
	})
	t.Run("RFC0016 9: what the handler changes leaks nowhere", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{spec: ordinary("pay", nestedSchema)})
		s.probe.set(func(_ context.Context, in execute.Input) (execute.Output, error) {
			view, bytes := in.View(), in.JSON()
			view["pay"].(map[string]any)["amount"] = int64(9)
			for i := range bytes {
				bytes[i] = ' '
			}
			if string(in.JSON()) != nestedArgs || in.View()["pay"].(map[string]any)["amount"] != int64(5) {
				t.Error("the input changed")
			}
			return execute.Output{Bytes: []byte(`{}`)}, nil
		})
		o := s.call(nestedArgs)
		if a := s.state(o.ActionID, "succeeded"); a.Payload.Args != nestedArgs {
			t.Errorf("stored %s", a.Payload.Args)
		}
	})
	t.Run("RFC0016 8: the caller's buffer is not read twice", func(t *testing.T) {
		t.Parallel()
		raw := []byte(`{"text":"a"}`)
		s := newStage(t, parts{policy: allowing(func(map[string]any) { copy(raw, `{"text":"b"}`) })})
		o := s.with(verbatim.Call{Arguments: raw})
		want(t, o, verbatim.StatusOK, verbatim.CodeOK)
		a := s.state(o.ActionID, "succeeded")
		if string(a.Payload.Raw) != `{"text":"a"}` || a.Payload.Args != `{"text":"a"}` {
			t.Errorf("raw %s, args %s", a.Payload.Raw, a.Payload.Args)
		}
	})
}

func TestSnapshotOutlivesSuspension(t *testing.T) {
	t.Parallel()
	t.Run("RFC0016 10: a replay gives the stored outcome and asks nobody", func(t *testing.T) {
		t.Parallel()
		asked := 0
		s := newStage(t, parts{policy: allowing(func(map[string]any) { asked++ })})
		c := verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}
		first, second := s.with(c), s.with(c)
		if !second.Replayed || string(first.Output) != string(second.Output) || asked != 1 {
			t.Errorf("replayed %v, asked %d times", second.Replayed, asked)
		}
		s.runs(1)
	})
	t.Run("RFC0016 11: a suspended proposal keeps the evaluated bytes", func(t *testing.T) {
		t.Parallel()
		var evaluated, hash string
		s := newStage(t, parts{policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			evaluated, hash = in.Proposal.Args.Text(), in.Proposal.Hash.String()
			return policy.Decision{Effect: policy.RequireApproval, Reason: "r"}, nil
		})})
		o := s.call(` { "text" : "é" , "amount" : 1e2 } `)
		a := s.state(o.ActionID, "pending_approval")
		if a.Payload.Args != evaluated || a.Hash.String() != hash || evaluated != `{"amount":100,"text":"é"}` {
			t.Errorf("stored %s under %s, evaluated %s under %s", a.Payload.Args, a.Hash, evaluated, hash)
		}
		s.Approve(o.ActionID, "ada")
		want(t, s.with(verbatim.Call{Arguments: []byte(`{"amount":100,"text":"é"}`), Approval: o.ActionID}), verbatim.StatusOK, verbatim.CodeOK)
		if diff := cmp.Diff([]string{evaluated}, s.probe.ran()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("RFC0016 12: an approval does not bypass policy", func(t *testing.T) {
		t.Parallel()
		evidence := ""
		s := newStage(t, parts{policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			if in.Approval != nil {
				evidence = in.Approval.ID + " " + in.Approval.Voters[0]
				return policy.Decision{Effect: policy.Deny, Reason: "not today"}, nil
			}
			return policy.Decision{Effect: policy.RequireApproval, Reason: "r"}, nil
		})})
		o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
		denied := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
		want(t, denied, verbatim.StatusDenied, verbatim.CodePolicyDenied)
		if denied.ActionID != o.ActionID || evidence != o.ActionID+" ada" {
			t.Errorf("action %s, evidence %q", denied.ActionID, evidence)
		}
		s.state(o.ActionID, "denied")
		s.runs(0)
	})
}

func TestProposalHashVectors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, agent, tool, raw, hash string }{
		{"RFC0016 vector: one member", "a", "t", `{"amount":5}`, "9cf3a7878cccb3528177861a8bb6e5b4280e9bd8fbc29609caf83f9663e69aac"},
		{"RFC0016 vector: one member, other spelling", "a", "t", "{ \"am\\u006funt\" : 5.0 }\n", "9cf3a7878cccb3528177861a8bb6e5b4280e9bd8fbc29609caf83f9663e69aac"},
		{"RFC0016 vector: empty", "a", "t", `{}`, "4d4ac720426646fe9be26636f700eb64d927acb82c713fb39cc928dc58718c8a"},
		{"RFC0016 vector: three members", "Support Agent", "transfer", `{"currency":"USD","account":"VENDOR-001","amount_minor":840000}`,
			"30a1fcc1c6cec492a4b58b410435c6b1a724a43b12f43a17f71c8dccb5bc94e2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{spec: ordinary(tc.tool, `{"type":"object"}`)})
			session := s.Session()
			session.Agent = tc.agent
			o := s.as(session, verbatim.Call{Arguments: []byte(tc.raw)})
			want(t, o, verbatim.StatusOK, verbatim.CodeOK)
			if o.ProposalHash != tc.hash {
				t.Errorf("hash %s", o.ProposalHash)
			}
		})
	}
	t.Run("RFC0016 vector: an absent arguments member is recorded as absent", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{spec: ordinary("t", `{"type":"object"}`)})
		session := s.Session()
		session.Agent = "a"
		o := s.as(session, verbatim.Call{ArgumentsAbsent: true})
		if o.ProposalHash != "4d4ac720426646fe9be26636f700eb64d927acb82c713fb39cc928dc58718c8a" {
			t.Errorf("hash %s", o.ProposalHash)
		}
		if a := s.state(o.ActionID, "succeeded"); len(a.Payload.Raw) != 0 || a.Payload.Args != "{}" {
			t.Errorf("raw %q, args %q", a.Payload.Raw, a.Payload.Args)
		}
	})
}
