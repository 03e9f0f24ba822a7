package verbatim_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// swap is an engine that a test replaces.
type swap struct {
	policy.Engine
	now atomic.Pointer[policy.Engine]
}

func (s *swap) Current() policy.Engine { return *s.now.Load() }

func (s *swap) set(version string) {
	e := policy.FromFunc(version, answer(policy.Allow))
	s.now.Store(&e)
}

func TestNothingIsSentAgainWhereAuthorityIsGone(t *testing.T) {
	t.Parallel()
	engine := &swap{}
	engine.set("1")
	for name, tc := range map[string]struct {
		change func(*parts)
		then   func(s *settling)
	}{
		"the provider may have forgotten the key": {nil, func(s *settling) { s.Clock.Advance(time.Hour) }},
		"the lease would outlive its memory":      {nil, func(s *settling) { s.Clock.Advance(time.Hour - time.Minute) }},
		"the catalog says no retention":           {func(p *parts) { p.spec.Retention = 0 }, func(*settling) {}},
		"the catalog says it is blind":            {nil, func(s *settling) { s.bound.Tool.Effect = catalog.Blind }},
		"the definition has changed":              {nil, func(s *settling) { s.bound.Tool.Definition[0]++ }},
		"an operator has stopped the tool": {nil, func(s *settling) {
			if _, err := s.Gate.Freeze(s.t.Context(), action.Stop{Tenant: "acme", Tool: "note", By: "ada"}); err != nil {
				s.t.Error(err)
			}
		}},
		"another call supersedes it": {nil, func(s *settling) {
			replaced := s.rows()[0].ID
			want(s.t, s.with(verbatim.Call{Arguments: []byte(`{"text":"b"}`), Supersedes: replaced}), verbatim.StatusOK, verbatim.CodeOK)
		}},
		"the rules have changed": {func(p *parts) { p.policy = engine }, func(*settling) { engine.set("2") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settles(t, catalog.Keyed, tc.change)
			o := s.lost(verbatimtest.StepArrive)
			tc.then(s)
			s.settle(o.ActionID, action.Uncertain, 0)
		})
	}
}

func TestNothingIsSentAgainOnceItsApprovalNoLongerHolds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then    func(s *settling, a action.Action)
		state   action.State
		effects int
	}{
		"it holds":          {func(*settling, action.Action) {}, action.Succeeded, 1},
		"its time is over":  {func(s *settling, a action.Action) { s.Clock.Advance(a.Deadline.Sub(s.Clock.Now())) }, action.Uncertain, 0},
		"the voter is gone": {func(s *settling, _ action.Action) { disable(s.stage, "ada") }, action.Uncertain, 0},
	} {
		s := settles(t, catalog.Keyed, func(p *parts) { p.policy = decide(policy.RequireApproval) })
		asked := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
		s.lose(verbatimtest.StepArrive)
		o := s.call(`{}`)
		s.provider.OnStep(nil)
		if o.ActionID != asked.ActionID {
			t.Fatalf("%s: another action ran", name)
		}
		tc.then(s, s.state(o.ActionID, action.Uncertain))
		s.settle(o.ActionID, tc.state, tc.effects)
	}
}

func disable(s *stage, id string) {
	if err := s.Fixture.Store.Disable(s.t.Context(), id); err != nil {
		s.t.Error(err)
	}
}

func TestNaturalToolIsNotCalledAgainOverALaterCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		targets []catalog.TargetRule
		next    string
		state   action.State
	}{
		"on the same target":       {[]catalog.TargetRule{{Type: "note", Pointer: "/text"}}, `{"text":"a","amount":2}`, action.Uncertain},
		"on another target":        {[]catalog.TargetRule{{Type: "note", Pointer: "/text"}}, `{"text":"b"}`, action.Succeeded},
		"where no target is known": {nil, `{"text":"b"}`, action.Uncertain},
	} {
		s := settles(t, catalog.Natural, func(p *parts) { p.spec.Targets = tc.targets })
		o := s.lost(verbatimtest.StepArrive)
		want(t, s.call(tc.next), verbatim.StatusOK, verbatim.CodeOK)
		if _, err := s.Gate.Settle(t.Context(), action.Filter{}); err != nil {
			t.Fatal(err)
		}
		if a, err := s.Gate.Action(t.Context(), "acme", o.ActionID); err != nil || a.State != tc.state {
			t.Errorf("%s: %s, want %s (%v)", name, a.State, tc.state, err)
		}
	}
}

func TestWhileItIsSentAgainItIsAsUncertainAsBefore(t *testing.T) {
	t.Parallel()
	s := settles(t, catalog.Keyed, nil)
	o := s.lost(verbatimtest.StepArrive)
	arrived, release := make(chan struct{}), make(chan struct{})
	s.provider.OnStep(func(_ context.Context, step string) error {
		if step == verbatimtest.StepArrive {
			close(arrived)
			<-release
		}
		return nil
	})
	done := make(chan int, 1)
	go func() {
		n, err := s.Gate.Settle(t.Context(), action.Filter{})
		if err != nil {
			t.Error(err)
		}
		done <- n
	}()
	<-arrived
	s.state(o.ActionID, action.Executing)
	for name, c := range map[string]verbatim.Call{
		"the same call":              {Arguments: []byte(`{"text":"a"}`)},
		"a call that supersedes it":  {Arguments: []byte(`{"text":"a"}`), Supersedes: o.ActionID},
		"the same call with its own": {Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "new"},
	} {
		got := s.with(c)
		if got.ActionID != o.ActionID || got.Status != verbatim.StatusUncertain && got.Status != verbatim.StatusInProgress {
			t.Errorf("%s: %s %s, action %s", name, got.Status, got.Code, got.ActionID)
		}
	}
	if n, err := s.Gate.Settle(t.Context(), action.Filter{}); n != 0 || err != nil {
		t.Errorf("settled %d more, %v", n, err)
	}
	close(release)
	if n := <-done; n != 1 {
		t.Errorf("settled %d", n)
	}
	s.provider.OnStep(nil)
	s.settle(o.ActionID, action.Succeeded, 1)
}

func TestWhatIsSentAgainNeverEndsAsFailed(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New("the provider is busy"), execute.ErrNotRun, execute.ErrLost, context.DeadlineExceeded} {
		s := settles(t, catalog.Keyed, nil)
		o := s.lost(verbatimtest.StepDone)
		s.provider.OnStep(func(context.Context, string) error { return err })
		s.settle(o.ActionID, action.Uncertain, 1)
		s.provider.OnStep(nil)
		s.settle(o.ActionID, action.Succeeded, 1)
	}
}

func TestOldSenderCannotEndWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	s := settles(t, catalog.Keyed, nil)
	o := s.lost(verbatimtest.StepDone)
	old := s.state(o.ActionID, action.Uncertain)
	s.provider.OnStep(func(_ context.Context, step string) error {
		for _, state := range []action.State{action.Failed, action.Uncertain, action.Succeeded} {
			if _, err := s.Fixture.Store.Finish(t.Context(), action.Ending{ID: old.ID, Fence: old.Fence, State: state,
				Result: action.Result{Evidence: action.EvidenceProved}}); !errors.Is(err, action.ErrFence) {
				t.Errorf("the old sender said %s at %s: %v", state, step, err)
			}
		}
		return nil
	})
	s.settle(o.ActionID, action.Succeeded, 1)
}
