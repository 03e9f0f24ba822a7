package verbatim_test

import (
	"errors"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
)

func TestHighImpactAndStepUpTakeAFreshProofOfWhoDecides(t *testing.T) {
	t.Parallel()
	one := []action.Requirement{groups(action.Group{Name: "admin", Votes: 1})}
	for name, p := range map[string]parts{
		"asked for":   {policy: needing(policy.Approval{Requirements: one, StepUp: true})},
		"high impact": {spec: financial("note", noteSchema), policy: needing(policy.Approval{Requirements: one})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, p)
			o := s.call(`{"text":"a"}`)
			a := s.state(o.ActionID, action.PendingApproval)
			v := s.Sign(action.Vote{ActionID: a.ID, Voter: "ada", Approve: true, Digest: a.Terms.Digest, Nonce: "n", Method: action.MethodOIDC})
			for _, at := range []time.Time{{}, v.LoginAt.Add(-5*time.Minute - time.Second)} {
				stale := v
				stale.LoginAt = at
				if _, err := s.Gate.Vote(t.Context(), stale); !errors.Is(err, action.ErrStepUp) {
					t.Errorf("a login of %s: %v", at, err)
				}
			}
			s.state(a.ID, action.PendingApproval)
			if _, err := s.Gate.Vote(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: a.ID}), verbatim.StatusOK, verbatim.CodeOK)
		})
	}
}
