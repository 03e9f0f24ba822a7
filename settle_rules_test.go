package verbatim_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// settling is a stage whose tool calls a pretend provider of one effect class.
type settling struct {
	*stage
	provider *verbatimtest.Provider
}

func settles(t *testing.T, effect catalog.EffectClass, change func(*parts)) *settling {
	t.Helper()
	s := &settling{provider: verbatimtest.NewProvider(filepath.Join(t.TempDir(), "provider"), effect)}
	spec := ordinary("note", noteSchema)
	spec.Effect = effect
	if effect != catalog.Queryable && effect != catalog.Blind {
		spec.Retention = time.Hour
	}
	p := parts{spec: spec, handler: s.provider.Handler()}
	if change != nil {
		change(&p)
	}
	s.stage = newStage(t, p)
	return s
}

// lose makes the provider's next answers get lost at a step.
func (s *settling) lose(step string) {
	s.provider.OnStep(func(_ context.Context, at string) error {
		if at == step {
			return execute.ErrLost
		}
		return nil
	})
}

// lost makes a call whose answer is lost at a step.
func (s *settling) lost(step string) verbatim.Outcome {
	s.t.Helper()
	s.lose(step)
	o := s.call(`{"text":"a"}`)
	want(s.t, o, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	s.provider.OnStep(nil)
	return o
}

// settle tries once and checks what became of an action and of the world.
func (s *settling) settle(id string, state action.State, effects int) action.Action {
	s.t.Helper()
	if _, err := s.Gate.Settle(s.t.Context(), action.Filter{Tenant: "acme"}); err != nil {
		s.t.Fatal(err)
	}
	a := s.state(id, state)
	all, err := s.provider.Effects()
	if err != nil {
		s.t.Fatal(err)
	}
	if got := all[action.ProviderKey(id, 1)]; got != effects {
		s.t.Fatalf("it took effect %d times, want %d", got, effects)
	}
	return a
}

func TestEachEffectClassSettlesWhatItCanKnow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		effect     catalog.EffectClass
		happened   action.State // where only the reply was lost
		unhappened action.State // where the request was lost
		effects    int          // of the lost request, afterwards
	}{
		{catalog.Keyed, action.Succeeded, action.Succeeded, 1},
		{catalog.LocalTx, action.Succeeded, action.Succeeded, 1},
		{catalog.Natural, action.Succeeded, action.Succeeded, 1},
		{catalog.KeyedCancel, action.ReconciledSucceeded, action.ReconciledFailed, 0},
		{catalog.Queryable, action.ReconciledSucceeded, action.Uncertain, 0},
		{catalog.Blind, action.Uncertain, action.Uncertain, 0},
	} {
		t.Run(string(tc.effect), func(t *testing.T) {
			t.Parallel()
			s := settles(t, tc.effect, nil)
			s.settle(s.lost(verbatimtest.StepDone).ActionID, tc.happened, 1)
			s = settles(t, tc.effect, nil)
			id := s.lost(verbatimtest.StepArrive).ActionID
			s.settle(id, tc.unhappened, tc.effects)
			s.settle(id, tc.unhappened, tc.effects) // once more changes nothing
		})
	}
}

func TestRequestOnItsWayIsNeverCalledFailed(t *testing.T) {
	t.Parallel()
	for effect, tc := range map[catalog.EffectClass]struct {
		before, after action.State
		effects       int
	}{
		catalog.Queryable:   {action.Uncertain, action.ReconciledSucceeded, 1},
		catalog.KeyedCancel: {action.ReconciledFailed, action.ReconciledFailed, 0}, // the provider keeps its word
		catalog.Keyed:       {action.Uncertain, action.Succeeded, 1},
		catalog.Natural:     {action.Uncertain, action.Succeeded, 1},
		catalog.Blind:       {action.Uncertain, action.Uncertain, 1},
	} {
		s := settles(t, effect, nil)
		s.provider.Hold()
		id := s.call(`{}`).ActionID
		s.settle(id, tc.before, 0) // nothing is known yet
		if err := s.provider.Release(); err != nil {
			t.Fatal(err)
		}
		s.settle(id, tc.after, tc.effects)
	}
}

func TestSettledActionAnswersItsKeyWithWhatTheProviderSaid(t *testing.T) {
	t.Parallel()
	for effect, state := range map[catalog.EffectClass]action.State{catalog.Keyed: action.Succeeded,
		catalog.Queryable: action.ReconciledSucceeded, catalog.KeyedCancel: action.ReconciledSucceeded} {
		s := settles(t, effect, nil)
		s.lose(verbatimtest.StepDone)
		c := verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}
		first := s.with(c)
		s.provider.OnStep(nil)
		a := s.settle(first.ActionID, state, 1)
		again := s.with(c)
		want(t, again, verbatim.StatusOK, verbatim.CodeOK)
		if !again.Replayed || len(again.Output) == 0 || string(again.Output) != string(a.Result.Output) {
			t.Errorf("%s: %+v", effect, again)
		}
	}
}

func TestCancelledActionFreesItsKeyForANewOne(t *testing.T) {
	t.Parallel()
	s := settles(t, catalog.KeyedCancel, nil)
	s.lose(verbatimtest.StepArrive)
	c := verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}
	first := s.with(c)
	s.provider.OnStep(nil)
	s.settle(first.ActionID, action.ReconciledFailed, 0)
	next := s.with(c)
	want(t, next, verbatim.StatusOK, verbatim.CodeOK)
	if next.ActionID == first.ActionID {
		t.Error("the same action")
	}
}

func TestBlindToolIsNotAskedWhateverItCanDo(t *testing.T) {
	t.Parallel()
	s := settles(t, catalog.KeyedCancel, func(p *parts) {
		p.spec.Effect, p.spec.Retention = "", 0
	})
	s.settle(s.lost(verbatimtest.StepDone).ActionID, action.Uncertain, 1)
}

func TestNoAccountSettlesInTheNameOfTheProvider(t *testing.T) {
	t.Parallel()
	s := settles(t, catalog.Blind, nil)
	o := s.lost(verbatimtest.StepDone)
	for _, by := range []string{action.ByProvider, action.ByLateReply} {
		if _, err := s.Gate.Reconcile(t.Context(), "acme", action.Reconciliation{ID: o.ActionID, State: action.ReconciledSucceeded,
			By: by, Evidence: "x", Result: &action.Result{}}); !errors.Is(err, action.ErrIneligible) {
			t.Errorf("%s: %v", by, err)
		}
	}
	s.state(o.ActionID, action.Uncertain)
}

func TestTendEndsWhatIsOverdueAndSettlesWhatIsUncertain(t *testing.T) {
	t.Parallel()
	s := settles(t, catalog.Keyed, nil)
	s.lose(verbatimtest.StepDone)
	s.store.fail("Finish") // the process cannot say how it ended
	o := s.call(`{}`)
	s.store.on("Finish", nil)
	s.provider.OnStep(nil)
	s.state(o.ActionID, action.Executing)
	s.Clock.Advance(10 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Gate.Tend(ctx, verbatim.Upkeep{Every: 10 * time.Millisecond, Sweep: true})
		close(ended)
	}()
	s.eventually("it is settled", func() bool {
		a, err := s.Gate.Action(t.Context(), "acme", o.ActionID)
		return err == nil && a.State == action.Succeeded
	})
	cancel()
	<-ended
	s.settle(o.ActionID, action.Succeeded, 1)
}

func TestClaimThatIsVoidedTooLateAnswersWithWhatWon(t *testing.T) {
	t.Parallel()
	engine := &swap{}
	engine.set("1")
	s := newStage(t, parts{policy: engine, spec: financial("note", noteSchema)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	engine.set("2") // the approval is stale now
	s.store.on("Decide", func() error {
		_, err := s.Gate.Revoke(t.Context(), "acme", o.ActionID, "ada", "no")
		return err
	})
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusDenied, verbatim.CodeRevoked)
}

func TestCatalogNamesTheReadToolThatLooksUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		err    error
		state  action.State
	}{
		"it says yes":         {`{"status":"paid"}`, nil, action.ReconciledSucceeded},
		"it says no":          {`{"status":"unknown"}`, nil, action.Uncertain},
		"it says nothing":     {`{}`, nil, action.Uncertain},
		"it fails":            {`{"status":"paid"}`, errors.New("no"), action.Uncertain},
		"it says what is odd": {`{"status":["paid"]}`, nil, action.Uncertain},
		"it says no JSON":     {`paid`, nil, action.Uncertain},
	} {
		asked := &probe{do: func(_ context.Context, in execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(tc.answer)}, tc.err
		}}
		find := bind(t, reading("find", `{"type":"object","properties":{"ref":{"type":"string"},"key":{"type":"string"}},"additionalProperties":false}`), asked)
		s := newStage(t, parts{more: []verbatim.Bound{find}, spec: catalog.Spec{Name: "note", Schema: []byte(noteSchema),
			Impact: catalog.Ordinary, Reason: "test", Effect: catalog.Queryable,
			Lookup: &catalog.Lookup{Tool: "find", Arguments: map[string]string{"ref": "/text", "key": catalog.ProviderKey},
				At: "/status", Is: []string{"paid", "booked"}}}})
		s.probe.set(failing(execute.ErrLost))
		o := s.call(`{"text":"a"}`)
		if _, err := s.Gate.Settle(t.Context(), action.Filter{}); err != nil {
			t.Fatal(err)
		}
		s.state(o.ActionID, tc.state)
		if got := asked.ran(); len(got) != 1 || got[0] != `{"key":"`+action.ProviderKey(o.ActionID, 1)+`","ref":"a"}` {
			t.Errorf("%s: asked %v", name, got)
		}
	}
}

func TestCallWhoseProcessDiedIsJoinedAfterTheRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, parts{dir: dir, policy: decide(policy.RequireApproval)})
	waiting := make(chan verbatim.Outcome, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.Gate.Call(ctx, s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), Wait: time.Hour,
			Suspended: func(o verbatim.Outcome) { waiting <- o }})
	}()
	first := <-waiting
	if err := s.Fixture.Store.Close(); err != nil { // from here on it can say nothing
		t.Fatal(err)
	}
	cancel()
	<-ended

	next := newStage(t, parts{dir: dir, policy: decide(policy.RequireApproval)})
	if o := next.call(`{}`); o.Joined || o.ActionID == first.ActionID {
		t.Errorf("before anybody knows that the caller is gone: %+v", o)
	} else if _, err := next.Gate.Dismiss(t.Context(), next.Session(), o.ActionID); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Gate.Sweep(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if o := next.call(`{}`); !o.Joined || o.ActionID != first.ActionID {
		t.Errorf("after the restart: %+v", o)
	}
	next.Approve(first.ActionID, "ada")
	if o := next.call(`{}`); o.ActionID != first.ActionID || o.Status != verbatim.StatusOK {
		t.Errorf("once it is approved: %+v", o)
	}
	next.runs(1)
}
