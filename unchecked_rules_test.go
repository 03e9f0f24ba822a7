package verbatim_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/policy"
)

// away is a verifier whose database may be gone.
type away struct {
	approval.Verifier
	gone atomic.Bool
}

func (a *away) VerifyVote(ctx context.Context, v action.Vote) error {
	if a.gone.Load() {
		return fmt.Errorf("%w: %w", approval.ErrUnchecked, errDisk)
	}
	return a.Verifier.VerifyVote(ctx, v)
}

func TestVotesThatNobodyCanCheckNowVoidNothingAndRunNothing(t *testing.T) {
	t.Parallel()
	votes := &away{}
	s := newStage(t, parts{policy: decide(policy.RequireApproval), gate: func(c *verbatim.Config) {
		votes.Verifier = c.Votes
		c.Votes = votes
	}})
	call := verbatim.Call{Tool: s.name, Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}
	o := s.approved(call)
	votes.gone.Store(true)
	if _, err := s.Gate.Call(t.Context(), s.Session(), call); !errors.Is(err, approval.ErrUnchecked) || !errors.Is(err, errDisk) {
		t.Errorf("the call answered %v; want that the votes could not be checked", err)
	}
	s.runs(0)
	s.state(o.ActionID, action.Approved)
	votes.gone.Store(false)
	want(t, s.with(call), verbatim.StatusOK, verbatim.CodeOK)
	s.runs(1)
}
