package verbatim_test

import (
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// TestCommitPointChecksEverythingOnceMore changes the world between the last
// look of the gate and the commit point of an approved action.
func TestCommitPointChecksEverythingOnceMore(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(s *stage, id string) error
		code   verbatim.Code
		member string
		state  action.State
	}{
		{"the voter is disabled", func(s *stage, _ string) error { return s.Store.Disable(s.t.Context(), "ada") },
			verbatim.CodeApprovalStale, "votes", action.Denied},
		{"another gateway has other rules", func(s *stage, _ string) error {
			_, err := s.Store.SetPolicy(s.t.Context(), "acme", s.name, canon.Sum([]byte("other rules")))
			return err
		}, verbatim.CodeApprovalStale, "policyVersion", action.Denied},
		{"an operator stops the tool", func(s *stage, _ string) error {
			_, err := s.Store.Stop(s.t.Context(), action.Stop{Tenant: "acme", Tool: s.name, By: "bob", Reason: "r"})
			return err
		}, verbatim.CodeStopped, "", action.Denied},
		{"an approver revokes it", func(s *stage, id string) error {
			_, err := s.Gate.Revoke(s.t.Context(), "acme", id, "bob", "r")
			return err
		}, verbatim.CodeRevoked, "", action.Revoked},
		{"its time ends", func(s *stage, _ string) error { s.Clock.Advance(10 * time.Minute); return nil },
			verbatim.CodeExpired, "", action.Claimed},
		{"another executor takes it over", func(s *stage, id string) error {
			s.Clock.Advance(31 * time.Second)
			_, err := s.Store.Claim(s.t.Context(), id, time.Minute)
			return err
		}, verbatim.CodeInProgress, "", action.Claimed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{policy: decide(policy.RequireApproval)})
			o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
			s.store.on("Begin", func() error { s.store.on("Begin", nil); return tc.change(s, o.ActionID) })
			got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
			if got.Code != tc.code || got.Member != tc.member || got.ActionID != o.ActionID {
				t.Errorf("got %s of %q, want %s of %q", got.Code, got.Member, tc.code, tc.member)
			}
			s.state(o.ActionID, tc.state)
			s.runs(0)
		})
	}
}

func TestCommitPointOfAnAllowedCallComparesTheRules(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	s.store.on("Begin", func() error {
		s.store.on("Begin", nil)
		_, err := s.Store.SetPolicy(t.Context(), "acme", s.name, canon.Sum([]byte("other rules")))
		return err
	})
	c := verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}
	got := s.with(c)
	want(t, got, verbatim.StatusDenied, verbatim.CodePolicyChanged)
	s.state(got.ActionID, action.Denied)
	s.runs(0)
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK) // decided again, under rules that are registered
}

func TestApprovalIsConsumedOnceWhateverTheRowSays(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	row, err := s.Store.Claim(t.Context(), o.ActionID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Begin(t.Context(), action.Start{Action: row, Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Begin(t.Context(), action.Start{Action: row, Lease: time.Minute}); err == nil {
		t.Error("one approval began twice")
	}
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusInProgress, verbatim.CodeInProgress)
	s.runs(0)
}

func TestToolWithoutAHandlerIsProvedNotToHaveRun(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]catalog.Spec{"mutation": ordinary("x", noteSchema), "read": reading("x", noteSchema)} {
		s := newStage(t, parts{spec: spec})
		gate := s.Gate.With(verbatim.Toolset{"x": {Tool: s.bound.Tool}})
		o, err := gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: "x", Arguments: []byte(`{}`)})
		if err != nil || o.Code != verbatim.CodeToolNotRun || o.Evidence != action.EvidenceProved {
			t.Errorf("%s: %s %q %v", name, o.Code, o.Evidence, err)
		}
	}
}

func TestApprovedReadEndsLikeARead(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("look", noteSchema), policy: decide(policy.RequireApproval)})
	s.probe.set(failing(execute.ErrLost))
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusFailed, verbatim.CodeToolError)
	s.state(o.ActionID, action.Failed) // it changes nothing, so nothing is uncertain
}

func TestCallBesideAnUncertainOneMakesNoRow(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	s.probe.set(failing(execute.ErrLost))
	s.call(`{}`)
	want(t, s.call(`{}`), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	if n := len(s.rows()); n != 1 {
		t.Errorf("%d rows", n)
	}
}
