package verbatim_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/schema"
)

// seen is what a policy saw of one call.
type seen struct {
	Requested, Parsed, Hash string
	Changes                 []canon.ChangeKind
}

// byAmount asks people about more than 100 and notes what it saw.
func byAmount(got *seen) policy.Engine {
	return policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		*got = seen{Requested: string(in.Requested.Canonical()), Parsed: in.Proposal.Args.Text(), Hash: in.Proposal.Hash.String()}
		for _, c := range in.Proposal.Changes {
			got.Changes = append(got.Changes, c.Kind)
		}
		amount, _ := in.View()["amount"].(int64)
		if amount > 100 {
			return policy.Decision{Effect: policy.RequireApproval, Reason: "more than 100"}, nil
		}
		return policy.Decision{Effect: policy.Allow, Reason: "small"}, nil
	})
}

const refundSchema = `{"type":"object","properties":{"amount":{"type":"integer","default":500},"to":{"type":"string"}}}`

func TestEffectiveArgumentsDecide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, schema, raw string
		opt               schema.Options
		want              seen
	}{
		{"RFC0015 1: an added default decides", refundSchema, `{}`, schema.Options{},
			seen{Requested: `{}`, Parsed: `{"amount":500}`, Changes: []canon.ChangeKind{canon.ChangeDefault}}},
		{"RFC0015 2: a coerced value decides", refundSchema, `{"amount":"500"}`, schema.Options{Coerce: true},
			seen{Requested: `{"amount":"500"}`, Parsed: `{"amount":500}`, Changes: []canon.ChangeKind{canon.ChangeCoerced}}},
		{"RFC0015 3: a stripped member does not decide", refundSchema, `{"amount":500,"approved":true}`,
			schema.Options{Unknown: schema.UnknownStrip},
			seen{Requested: `{"amount":500,"approved":true}`, Parsed: `{"amount":500}`, Changes: []canon.ChangeKind{canon.ChangeStripped}}},
		{"RFC0015 4: a transformed value decides", refundSchema, `{"amount":5,"to":"  bob "}`,
			schema.Options{Transforms: []schema.Transform{
				{Pointer: "/to", Name: "trim"},
				{Pointer: "/amount", Name: "hundredfold", Func: func(v canon.Value) (canon.Value, error) {
					n, _ := v.Int64()
					return canon.IntValue(100 * n), nil
				}}}},
			seen{Requested: `{"amount":5,"to":"  bob "}`, Parsed: `{"amount":500,"to":"bob"}`,
				Changes: []canon.ChangeKind{canon.ChangeTransformed, canon.ChangeTransformed}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got seen
			spec := ordinary("refund", tc.schema)
			spec.Normalize = tc.opt
			s := newStage(t, parts{spec: spec, policy: byAmount(&got)})
			o := s.call(tc.raw)
			want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
			tc.want.Hash = o.ProposalHash
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("policy saw something else (-want +got):\n%s", diff)
			}
			a := s.rows()[0]
			if a.Payload.Requested != tc.want.Requested || a.Payload.Args != tc.want.Parsed || string(a.Payload.Raw) != tc.raw {
				t.Errorf("stored raw %s requested %s args %s", a.Payload.Raw, a.Payload.Requested, a.Payload.Args)
			}
			s.Approve(o.ActionID, "ada")
			want(t, s.call(tc.raw), verbatim.StatusOK, verbatim.CodeOK)
			if diff := cmp.Diff([]string{tc.want.Parsed}, s.probe.ran()); diff != "" {
				t.Errorf("something else ran: %s", diff)
			}
		})
	}
}

func TestRefusedInputMakesNoDecision(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, raw, stage string }{
		{"RFC0015 5: at json", `{"amount":1,"amount":2}`, verbatim.StageJSON},
		{"RFC0015 5: null is not an object", `null`, verbatim.StageJSON},
		{"RFC0015 5: JSON in a string", `"{\"amount\":1}"`, verbatim.StageJSON},
		{"RFC0015 5: at schema", `{"amount":"many"}`, verbatim.StageSchema},
		{"RFC0015 5: an unknown member", `{"Amount":1}`, verbatim.StageSchema},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			asked := false
			s := newStage(t, parts{spec: ordinary("refund", refundSchema), policy: policy.FromFunc("v1",
				func(context.Context, policy.Input) (policy.Decision, error) {
					asked = true
					return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
				})})
			o := s.call(tc.raw)
			want(t, o, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
			if o.Stage != tc.stage || len(o.Violations) == 0 || o.ActionID != "" || o.ProposalHash != "" {
				t.Errorf("outcome %+v", o)
			}
			if asked || len(s.rows()) != 0 {
				t.Errorf("policy asked: %v, %d rows", asked, len(s.rows()))
			}
			s.runs(0)
			if diff := cmp.Diff([]string{audit.InputRejected}, s.events()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequestedArgumentsAreADiagnosticCopy(t *testing.T) {
	t.Parallel()
	t.Run("RFC0015 6: changing raw and requested changes nothing that runs", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			for i := range in.RawArguments {
				in.RawArguments[i] = 'x'
			}
			members := in.Requested.Members()
			members[0].Value = canon.StringValue("changed")
			if len(in.Proposal.Targets) > 0 {
				in.Proposal.Targets[0].ID = "changed"
			}
			return policy.Decision{Effect: policy.RequireApproval, Reason: "r"}, nil
		})})
		o := s.approved(verbatim.Call{Arguments: []byte(`{"text":"a"}`)})
		a := s.rows()[0]
		if string(a.Payload.Raw) != `{"text":"a"}` || a.Payload.Requested != `{"text":"a"}` {
			t.Errorf("raw %s, requested %s", a.Payload.Raw, a.Payload.Requested)
		}
		want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: o.ActionID}), verbatim.StatusOK, verbatim.CodeOK)
		if diff := cmp.Diff([]string{`{"text":"a"}`}, s.probe.ran()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHandoffsShareDecodingPolicyAndHashing(t *testing.T) {
	t.Parallel()
	t.Run("RFC0015 7: the payload is frozen, decided on and hashed", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			if in.Handoff == nil || in.Handoff.FromAgentName != "A" || in.Handoff.ToAgentName != "B" {
				return policy.Decision{Effect: policy.Deny, Reason: "no handoff"}, nil
			}
			return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
		})})
		session := s.Session()
		session.Agent = "A"
		o, err := s.Gate.Handoff(t.Context(), session, verbatim.Handoff{To: "B", Payload: []byte(` {} `)})
		if err != nil {
			t.Fatal(err)
		}
		want(t, o, verbatim.StatusOK, verbatim.CodeOK)
		if o.ProposalHash != "51064098ec083e664baa68dce7f6a384f4baaa70688153e1a4960d7ed788f6f7" || string(o.Output) != `{}` {
			t.Errorf("hash %s, output %s", o.ProposalHash, o.Output)
		}
		if diff := cmp.Diff([]string{audit.HandoffAllowed}, s.events()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("RFC0015 7: strict decoding refuses without a decision", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{})
		for _, payload := range []string{``, `[]`, `{"a":1,"a":2}`, `{"a":9007199254740993}`} {
			o, err := s.Gate.Handoff(t.Context(), s.Session(), verbatim.Handoff{To: "B", Payload: []byte(payload)})
			if err != nil {
				t.Fatal(err)
			}
			want(t, o, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
		}
		if len(s.rows()) != 0 {
			t.Error("a refused payload made a row")
		}
	})
	t.Run("RFC0015 7: no policy denies", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{gate: func(c *verbatim.Config) { c.Policy = nil }})
		o, err := s.Gate.Handoff(t.Context(), s.Session(), verbatim.Handoff{To: "B", Payload: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		want(t, o, verbatim.StatusDenied, verbatim.CodePolicyNotConfigured)
	})
	t.Run("RFC0015 7: an approved handoff gives exactly the payload", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, parts{policy: decide(policy.RequireApproval)})
		h := verbatim.Handoff{To: "B", Payload: []byte(`{"b":2,"a":1}`)}
		o, err := s.Gate.Handoff(t.Context(), s.Session(), h)
		if err != nil {
			t.Fatal(err)
		}
		want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
		s.Approve(o.ActionID, "ada")
		h.Approval = o.ActionID
		if o, err = s.Gate.Handoff(t.Context(), s.Session(), h); err != nil {
			t.Fatal(err)
		}
		want(t, o, verbatim.StatusOK, verbatim.CodeOK)
		if string(o.Output) != `{"a":1,"b":2}` {
			t.Errorf("output %s", o.Output)
		}
	})
}
