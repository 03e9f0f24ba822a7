package verbatim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/schema"
)

// rewriting is a tool whose arguments a transform of the embedder rewrites.
func rewriting(pointer string, to canon.Value) catalog.Spec {
	spec := ordinary("note", noteSchema)
	spec.Normalize.Transforms = []schema.Transform{{Pointer: pointer, Name: "rewrite",
		Func: func(canon.Value) (canon.Value, error) { return to, nil }}}
	return spec
}

func TestA01RewritesComeBeforeWhatThePersonSees(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: rewriting("/amount", canon.IntValue(50)), policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{"amount":100}`)})
	a := s.state(o.ActionID, action.Approved)
	if a.Payload.Args != `{"amount":50}` || a.Payload.Requested != `{"amount":100}` {
		t.Errorf("the approver saw %s, requested %s", a.Payload.Args, a.Payload.Requested)
	}
	changes := []canon.Change{{Pointer: "/amount", Kind: canon.ChangeTransformed, By: "rewrite"}}
	if diff := cmp.Diff(changes, a.Changes); diff != "" {
		t.Error(diff)
	}
	ran := s.call(`{"amount":100}`)
	want(t, ran, verbatim.StatusOK, verbatim.CodeOK)
	if diff := cmp.Diff([]string{a.Payload.Args}, s.probe.ran()); diff != "" || ran.ProposalHash != o.ProposalHash {
		t.Errorf("shown %s, ran %s: %s", o.ProposalHash, ran.ProposalHash, diff)
	}
}

func TestA02PolicyReadsWhatTheToolWillGet(t *testing.T) {
	t.Parallel()
	var got seen
	s := newStage(t, parts{spec: ordinary("refund", refundSchema), policy: byAmount(&got)})
	want(t, s.call(`{}`), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	if got.Parsed != `{"amount":500}` || got.Requested != `{}` {
		t.Errorf("policy saw %+v", got)
	}
}

func TestA05DenyOnTheRequestedViewIsNotLowered(t *testing.T) {
	t.Parallel()
	spec := rewriting("/text", canon.StringValue("/opt/stall-guard -c 'rm -rf /srv/x'"))
	s := newStage(t, parts{spec: spec, policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		requested, _ := in.Requested.Get("text")
		effective, _ := in.View()["text"].(string)
		answers := []policy.Decision{{Effect: policy.RequireApproval, Reason: "a command"}}
		if strings.HasPrefix(requested.Text(), "rm -rf") || strings.HasPrefix(effective, "rm -rf") {
			answers = append(answers, policy.Decision{Effect: policy.Deny, Reason: "rm -rf"})
		}
		return policy.Combine(answers...), nil
	})})
	want(t, s.call(`{"text":"rm -rf /srv/x"}`), verbatim.StatusDenied, verbatim.CodePolicyDenied)
	want(t, s.call(`{"text":"ls"}`), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
}

func TestA06NothingRewritesAfterTheDecision(t *testing.T) {
	t.Parallel()
	var decided string
	s := newStage(t, parts{spec: rewriting("/text", canon.StringValue("/etc/shadow")),
		policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			decided = in.Proposal.Args.Text()
			if in.View()["text"] != "/srv/readme" {
				return policy.Decision{Effect: policy.Deny, Reason: "not a safe path"}, nil
			}
			return policy.Decision{Effect: policy.Allow, Reason: "safe"}, nil
		})})
	want(t, s.call(`{"text":"/srv/readme"}`), verbatim.StatusDenied, verbatim.CodePolicyDenied)
	if decided != `{"text":"/etc/shadow"}` {
		t.Errorf("decided on %s", decided)
	}
	s.runs(0)
}

func TestA07EditIsANewProposalWithItsOwnChecks(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: ordinary("write", `{"type":"object","properties":{"path":{"type":"string","pattern":"^[a-z.]+$"}}}`),
		policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{"path":"a.txt"}`)})
	edited := s.with(verbatim.Call{Arguments: []byte(`{"path":"../../.ssh/authorized_keys"}`), Approval: o.ActionID})
	want(t, edited, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
	edited = s.with(verbatim.Call{Arguments: []byte(`{"path":"b.txt"}`), Approval: o.ActionID})
	want(t, edited, verbatim.StatusDenied, verbatim.CodeApprovalMismatch)
	fresh := s.call(`{"path":"b.txt"}`)
	want(t, fresh, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	if fresh.ProposalHash == o.ProposalHash || fresh.ActionID == o.ActionID {
		t.Error("the edit rides on the old approval")
	}
	s.runs(0)
}

func TestA09MissingArgumentIsNoDenial(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: ordinary("bash", `{"type":"object","required":["command"],
		"properties":{"command":{"type":"string"},"description":{"type":"string"}}}`), policy: decide(policy.Deny)})
	o := s.call(`{"description":"Push git changes to remote"}`)
	want(t, o, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
	if o.Stage != verbatim.StageSchema || len(o.Violations) != 1 || o.Violations[0].Pointer != "/command" {
		t.Errorf("stage %s, %v", o.Stage, o.Violations)
	}
	if diff := cmp.Diff([]string{audit.InputRejected}, s.events()); diff != "" {
		t.Error(diff)
	}
}

func TestA10OneToolPerProposal(t *testing.T) {
	t.Parallel()
	global := &probe{}
	s := newStage(t, parts{spec: ordinary("exec", `{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}`),
		handler: global, policy: decide(policy.RequireApproval)})
	scoped := bind(t, ordinary("exec", `{"type":"object","required":["cmd"],"properties":{"cmd":{"type":"string"}}}`), s.probe)
	turn := s.Gate.With(verbatim.Toolset{"exec": scoped})
	o, err := turn.Call(t.Context(), s.Session(), verbatim.Call{Tool: "exec", Arguments: []byte(`{}`)})
	if err != nil || len(o.Violations) != 1 || o.Violations[0].Pointer != "/cmd" {
		t.Fatalf("%v %v", o.Violations, err)
	}
	c := verbatim.Call{Tool: "exec", Arguments: []byte(`{"cmd":"ls"}`)}
	if o, err = turn.Call(t.Context(), s.Session(), c); err != nil {
		t.Fatal(err)
	}
	s.Approve(o.ActionID, "ada")
	c.Approval = o.ActionID
	if a := s.state(o.ActionID, action.Approved); a.Definition != scoped.Tool.Definition {
		t.Error("the approval binds another definition")
	}
	want(t, s.with(c), verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments) // the other tool set
	if o, err = turn.Call(t.Context(), s.Session(), c); err != nil {
		t.Fatal(err)
	}
	want(t, o, verbatim.StatusOK, verbatim.CodeOK)
	if len(global.ran()) != 0 {
		t.Error("another tool ran")
	}
}
