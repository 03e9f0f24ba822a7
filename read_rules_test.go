package verbatim_test

import (
	"context"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/execute"
)

func TestReadIsAnsweredOnlyOnceItsRecordIsCommitted(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("look", noteSchema)})
	ran, commit := make(chan struct{}), make(chan struct{})
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		close(ran)
		return execute.Output{Bytes: []byte(`{"n":1}`)}, nil
	})
	s.store.on("Decide", func() error { <-commit; return nil })
	done := s.begin(t.Context(), verbatim.Call{Arguments: []byte(`{}`)})
	<-ran // beside the record
	select {
	case o := <-done:
		t.Fatalf("answered %s without a record", o.Code)
	default:
	}
	close(commit)
	if o := <-done; o.Code != verbatim.CodeOK || string(o.Output) != `{"n":1}` {
		t.Errorf("%s %s", o.Code, o.Output)
	}
}

func TestReadIsRecordedThoughItsCallerHasGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("look", noteSchema)})
	ctx, cancel := context.WithCancel(t.Context())
	s.probe.set(func(ctx context.Context, _ execute.Input) (execute.Output, error) {
		cancel()
		<-ctx.Done()
		return execute.Output{}, ctx.Err()
	})
	recorded := make(chan struct{})
	s.store.on("Decide", func() error {
		<-ctx.Done()
		close(recorded)
		return nil
	})
	o, err := s.Gate.Call(ctx, s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`)})
	<-recorded
	if err != nil || o.Code == verbatim.CodeOK {
		t.Errorf("%s, %v", o.Code, err)
	}
	if got := s.events(); len(got) == 0 || got[len(got)-1] != audit.ReadAllowed {
		t.Errorf("events %v", got)
	}
}

func TestReadThatWasStoppedMeanwhileIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("look", noteSchema)})
	ended := make(chan struct{})
	s.probe.set(func(ctx context.Context, _ execute.Input) (execute.Output, error) {
		<-ctx.Done() // called off, or this test never ends
		close(ended)
		return execute.Output{}, ctx.Err()
	})
	s.store.on("Decide", func() error {
		s.store.on("Decide", nil) // the refusal goes into the record
		s.freeze(action.Stop{Tenant: s.Session().Tenant, Reason: "test"})
		return nil
	})
	if o := s.call(`{}`); o.Code != verbatim.CodeStopped || o.Output != nil {
		t.Errorf("%s %s", o.Code, o.Output)
	}
	<-ended
}
