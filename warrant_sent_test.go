package verbatim_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// checking is a tool in process that checks the warrant that it gets.
type checking struct {
	checker *warrant.Checker
	mu      sync.Mutex
	seen    []warrant.Warrant
	said    []warrant.Verdict
	end     func() (execute.Output, error)
}

func (c *checking) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	w, v := c.checker.Check(ctx, in.Warrant(), in.JSON(), warrant.Expect{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.said = append(c.seen, w), append(c.said, v)
	if c.end != nil {
		return c.end()
	}
	return execute.Output{Bytes: []byte(`{}`), Compared: execute.CompareEqual}, nil
}

func checkingStage(t *testing.T, p parts) (*stage, *checking) {
	t.Helper()
	c := &checking{}
	p.handler = c
	s := remote(t, p)
	var err error
	if c.checker, err = warrant.New(warrant.Config{Audience: executor, Keys: warrantKey(t).Public(), Now: s.Clock.Now}); err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestEachRunGoesWithAWarrantForItsOwnArguments(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]catalog.Spec{"a mutation": ordinary("note", noteSchema), "a read": reading("note", noteSchema)} {
		s, c := checkingStage(t, parts{spec: spec})
		for range 3 {
			want(t, s.call(`{"text":"a"}`), verbatim.StatusOK, verbatim.CodeOK)
		}
		for i, v := range c.said {
			if v != warrant.OK || c.seen[i].Tool != "note" || (c.seen[i].Kind == warrant.Read) != spec.Read {
				t.Errorf("%s, run %d: %s %+v", name, i, v, c.seen[i])
			}
		}
	}
}

func TestAReadWithAWarrantIsRecordedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	s, c := checkingStage(t, parts{spec: reading("note", noteSchema)})
	s.store.fail("Decide")
	if _, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`)}); !errors.Is(err, verbatim.ErrRecord) || len(c.said) > 0 {
		t.Errorf("%v, the tool saw %v", err, c.said)
	}
}

// What is sent again has a higher fence, so that the first sending is refused
// should it still arrive.
func TestASecondSendingHasAWarrantOfItsOwn(t *testing.T) {
	t.Parallel()
	s, c := checkingStage(t, parts{tool: func(t *catalog.Tool) { t.Effect, t.Retention = catalog.Keyed, time.Hour }})
	c.end = func() (execute.Output, error) { return execute.Output{}, execute.ErrLost }
	o := s.call(`{"text":"a"}`)
	want(t, o, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	c.mu.Lock()
	c.end = nil
	c.mu.Unlock()
	if n, err := s.Gate.Settle(t.Context(), action.Filter{}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	s.state(o.ActionID, action.Succeeded)
	if len(c.said) != 2 || c.said[1] != warrant.OK || c.seen[1].Fence <= c.seen[0].Fence || c.seen[1].Attempt != c.seen[0].Attempt ||
		c.seen[1].ProviderKey != c.seen[0].ProviderKey {
		t.Errorf("%v %+v", c.said, c.seen)
	}
}

func TestWhatTheExecutorComparedIsRecorded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		out   execute.Output
		state action.State
	}{
		"equal":             {execute.Output{Compared: execute.CompareEqual}, action.Succeeded},
		"unchecked":         {execute.Output{Compared: execute.CompareUnchecked}, action.Succeeded},
		"arguments_changed": {execute.Output{Compared: "arguments_changed", IsError: true}, action.Failed},
		"replayed":          {execute.Output{Compared: "replayed"}, action.Uncertain}, // it ran all the same
	} {
		s, c := checkingStage(t, parts{})
		c.end = func() (execute.Output, error) { return tc.out, nil }
		o := s.call(`{"text":"a"}`)
		if row := s.state(o.ActionID, tc.state); row.Result.Comparison != name {
			t.Errorf("%s: %+v", name, row.Result)
		}
	}
}

func TestNothingIsSentWhereNoWarrantCanBeSigned(t *testing.T) {
	t.Parallel()
	s, c := checkingStage(t, parts{})
	s.store.fail("Origin")
	o := s.call(`{"text":"a"}`)
	if o.Status != verbatim.StatusFailed || o.Evidence != action.EvidenceProved || len(c.said) > 0 {
		t.Errorf("%+v, the tool saw %v", o, c.said)
	}
}
