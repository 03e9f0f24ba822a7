package verbatim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// counted is an engine that counts how often it is asked.
func counted(asked *int, effect policy.Effect) policy.Engine {
	inner := decide(effect)
	return policy.FromFunc("1", func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		*asked++
		return inner.Decide(ctx, in)
	})
}

func (s *stage) freeze(stop action.Stop) int {
	s.t.Helper()
	if stop.By == "" {
		stop.By = action.ByHost
	}
	running, err := s.Gate.Freeze(s.t.Context(), stop)
	if err != nil {
		s.t.Fatal(err)
	}
	return running
}

func (s *stage) unfreeze(stop action.Stop) {
	s.t.Helper()
	stop.By, stop.Reason = "bob", "over"
	if err := s.Gate.Unfreeze(s.t.Context(), stop); err != nil {
		s.t.Fatal(err)
	}
}

func TestFrozenCallIsRefusedBeforeAnybodyIsAsked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec   catalog.Spec
		effect policy.Effect
	}{
		"a read":         {reading("note", noteSchema), policy.Allow},
		"an allowed one": {ordinary("note", noteSchema), policy.Allow},
		"one for people": {ordinary("note", noteSchema), policy.RequireApproval},
	} {
		for member, stop := range map[string]action.Stop{
			"everything": {}, "tenant": {Tenant: "acme"}, "tool": {Tenant: "acme", Tool: "note"},
			"agent": {Tenant: "acme", Agent: "Support Agent"}, "agent_tool": {Tenant: "acme", Agent: "Support Agent", Tool: "note"},
		} {
			t.Run(name+" by "+member, func(t *testing.T) {
				t.Parallel()
				asked := 0
				s := newStage(t, parts{spec: tc.spec, policy: counted(&asked, tc.effect)})
				s.freeze(stop)
				o := s.call(`{}`)
				want(t, o, verbatim.StatusDenied, verbatim.CodeStopped)
				if o.Member != member || asked != 0 {
					t.Errorf("stopped by %q, policy was asked %d times", o.Member, asked)
				}
				s.state(o.ActionID, action.Denied)
				s.unfreeze(stop)
				if o := s.call(`{}`); o.Code == verbatim.CodeStopped {
					t.Error("it is stopped still")
				}
			})
		}
	}
}

func TestFreezeCutsNothingThatRunsAndSaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	started, leave := make(chan struct{}), make(chan struct{})
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		close(started)
		<-leave
		return execute.Output{Bytes: []byte(`{"done":true}`)}, nil
	})
	answer := make(chan verbatim.Outcome, 1)
	go func() {
		o, err := s.Gate.Call(context.Background(), s.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`), IdempotencyKey: "k"})
		if err != nil {
			t.Error(err)
		}
		answer <- o
	}()
	<-started
	if running := s.freeze(action.Stop{Tenant: "acme"}); running != 1 {
		t.Errorf("%d runs are said to go on, want 1", running)
	}
	close(leave)
	want(t, <-answer, verbatim.StatusOK, verbatim.CodeOK)
	o := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"})
	want(t, o, verbatim.StatusOK, verbatim.CodeOK) // the stored answer starts nothing
	if !o.Replayed {
		t.Error("it ran again")
	}
	s.runs(1)
}

func TestCallThatWaitsForPeopleDoesNotRunWhenFrozen(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	waits, answer := make(chan string, 1), make(chan verbatim.Outcome, 1)
	go func() {
		o, err := s.Gate.Call(context.Background(), s.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`),
			Wait: time.Minute, Suspended: func(o verbatim.Outcome) { waits <- o.ActionID }})
		if err != nil {
			t.Error(err)
		}
		answer <- o
	}()
	id := <-waits
	stop := action.Stop{Tenant: "acme", Tool: "note"}
	s.freeze(stop)
	s.Approve(id, "ada")
	want(t, <-answer, verbatim.StatusDenied, verbatim.CodeStopped)
	s.state(id, action.Approved)
	s.runs(0)
	s.unfreeze(stop)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: id}), verbatim.StatusOK, verbatim.CodeOK)
	s.runs(1)
}

func TestFrozenHandoffIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	s.freeze(action.Stop{Tenant: "acme"})
	o, err := s.Gate.Handoff(t.Context(), s.Session(), verbatim.Handoff{To: "Other Agent", Payload: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	want(t, o, verbatim.StatusDenied, verbatim.CodeStopped)
}

func TestOnlyAPersonLiftsAStop(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	stop := action.Stop{Tenant: "acme", By: action.ByHost}
	s.freeze(stop)
	if err := s.Gate.Unfreeze(t.Context(), stop); !errors.Is(err, action.ErrIneligible) {
		t.Errorf("the host lifted it: %v", err)
	}
	want(t, s.call(`{}`), verbatim.StatusDenied, verbatim.CodeStopped)
	stops, err := s.Gate.Stops(t.Context(), "acme")
	if err != nil || len(stops) != 1 || stops[0].Kind() != "tenant" {
		t.Errorf("%v, %v", stops, err)
	}
}

func TestUnreadableFreezeSwitchRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	s.store.fail("Stops")
	if _, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`)}); !errors.Is(err, verbatim.ErrRecord) {
		t.Errorf("error %v, want ErrRecord", err)
	}
	s.runs(0)
}
