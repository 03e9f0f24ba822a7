package verbatim_test

import (
	"context"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// begin starts a call of its own context and returns what it answers.
func (s *stage) begin(ctx context.Context, c verbatim.Call) <-chan verbatim.Outcome {
	s.t.Helper()
	if c.Tool == "" {
		c.Tool = s.name
	}
	done := make(chan verbatim.Outcome, 1)
	go func() {
		o, err := s.Gate.Call(ctx, s.Session(), c)
		if err != nil {
			s.t.Errorf("call: %v", err)
		}
		done <- o
	}()
	return done
}

func TestCallOfACallerThatLeftWhileItRanIsJoined(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	release := make(chan struct{})
	s.probe.set(func(ctx context.Context, _ execute.Input) (execute.Output, error) {
		select {
		case <-release:
			return execute.Output{Bytes: []byte(`{"done":true}`)}, nil
		case <-ctx.Done():
			return execute.Output{}, ctx.Err()
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	first := s.begin(ctx, verbatim.Call{Arguments: []byte(`{}`)})
	s.eventually("it runs", func() bool { return len(s.probe.ran()) == 1 })
	cancel()
	left := <-first
	want(t, left, verbatim.StatusInProgress, verbatim.CodeInProgress)

	again := s.call(`{}`)
	want(t, again, verbatim.StatusInProgress, verbatim.CodeInProgress)
	if !again.Joined || again.ActionID != left.ActionID {
		t.Errorf("the retry was not joined: %+v", again)
	}
	s.runs(1)
	close(release) // the caller's end did not end the run
	s.Gate.Wait()
	s.state(left.ActionID, action.Succeeded)
	if later := s.call(`{}`); later.ActionID == left.ActionID || later.Status != verbatim.StatusOK {
		t.Errorf("after the end it is a new action: %+v", later)
	}
}

func TestTwoLiveCallsAreTwoActions(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	release := make(chan struct{})
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		<-release
		return execute.Output{Bytes: []byte(`{}`)}, nil
	})
	a, b := s.begin(t.Context(), verbatim.Call{Arguments: []byte(`{}`)}), s.begin(t.Context(), verbatim.Call{Arguments: []byte(`{}`)})
	s.eventually("both run", func() bool { return len(s.probe.ran()) == 2 })
	close(release)
	if x, y := <-a, <-b; x.ActionID == y.ActionID {
		t.Error("two live calls became one")
	}
}

func TestCallOfACallerThatLeftWhilePendingIsJoined(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan verbatim.Outcome, 1)
	first := s.begin(ctx, verbatim.Call{Arguments: []byte(`{}`), Wait: time.Minute, Suspended: func(o verbatim.Outcome) { waiting <- o }})
	pending := <-waiting
	other := s.call(`{}`) // the first caller still waits: this is a proposal of its own
	if other.ActionID == pending.ActionID || other.Joined {
		t.Error("a live call was joined")
	}
	if _, err := s.Gate.Dismiss(t.Context(), s.Session(), other.ActionID); err != nil {
		t.Fatal(err)
	}
	cancel()
	want(t, <-first, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	again := s.call(`{}`)
	if again.ActionID != pending.ActionID || !again.Joined {
		t.Errorf("the retry is %+v, not joined to %s", again, pending.ActionID)
	}
	s.Approve(pending.ActionID, "ada")
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	s.runs(1)
}

func TestWaitEndsWithoutEndingTheProposal(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.with(verbatim.Call{Arguments: []byte(`{}`), Wait: time.Millisecond})
	want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.state(o.ActionID, action.PendingApproval)
	if o.ExpiresAt.IsZero() {
		t.Error("nobody is told until when it waits")
	}
}

func TestWaitingCallLearnsOfARejectionAndADismissal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(s *stage, id string)
		code verbatim.Code
	}{
		"rejection": {func(s *stage, id string) { s.Reject(id, "ada") }, verbatim.CodeRejected},
		"dismissal": {func(s *stage, id string) {
			if _, err := s.Gate.Dismiss(s.t.Context(), s.Session(), id); err != nil {
				s.t.Error(err)
			}
		}, verbatim.CodeRevoked},
		"expiry": {func(s *stage, _ string) { s.Clock.Advance(25 * time.Hour); sweep(s) }, verbatim.CodeExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{policy: decide(policy.RequireApproval)})
			waiting := make(chan verbatim.Outcome, 1)
			done := s.begin(t.Context(), verbatim.Call{Arguments: []byte(`{}`), Wait: time.Minute, Suspended: func(o verbatim.Outcome) { waiting <- o }})
			tc.end(s, (<-waiting).ActionID)
			want(t, <-done, verbatim.StatusDenied, tc.code)
			s.runs(0)
		})
	}
}

func TestManyWaitersOfOneApprovalRunItOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.call(`{}`)
	waiting := make(chan verbatim.Outcome, 8)
	var all []<-chan verbatim.Outcome
	for range 8 {
		all = append(all, s.begin(t.Context(), verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID, Wait: time.Minute,
			Suspended: func(o verbatim.Outcome) { waiting <- o }}))
	}
	for range 8 {
		<-waiting
	}
	s.Approve(o.ActionID, "ada")
	for _, done := range all {
		if got := <-done; got.ActionID != o.ActionID || got.Status != verbatim.StatusOK && got.Status != verbatim.StatusInProgress {
			t.Errorf("a waiter got %+v", got)
		}
	}
	s.runs(1)
}

func TestWaitingHandoffPassesOnByItselfWhenApproved(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	h := verbatim.Handoff{To: "note", Payload: []byte(`{}`)}
	o, err := s.Gate.Handoff(t.Context(), s.Session(), h)
	if err != nil {
		t.Fatal(err)
	}
	s.Approve(o.ActionID, "ada")
	// The tool of the same name must not run on the approval of a handoff.
	call := s.with(verbatim.Call{Tool: "note", Arguments: []byte(`{}`), Approval: o.ActionID})
	want(t, call, verbatim.StatusDenied, verbatim.CodeApprovalUnknown)
	s.state(o.ActionID, action.Approved)
	s.runs(0)
	got, err := s.Gate.Handoff(t.Context(), s.Session(), h)
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, verbatim.StatusOK, verbatim.CodeOK)
}
