package verbatim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

func TestD01LostAnswerIsReplayedNotRunAgain(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	ctx, cancel := context.WithCancel(t.Context())
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		cancel() // the caller is lost after the effect
		return execute.Output{Bytes: []byte(`{"n":1}`)}, nil
	})
	if _, err := s.Gate.Call(ctx, s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), Approval: o.ActionID}); err != nil {
		t.Fatal(err)
	}
	s.Gate.Wait()
	got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
	if !got.Replayed || string(got.Output) != `{"n":1}` {
		t.Errorf("got %+v", got)
	}
	s.runs(1)
}

func TestD02DecisionsAreFinal(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.call(`{}`)
	s.Reject(o.ActionID, "ada")
	if _, err := s.Vote(o.ActionID, "bob", true); !errors.Is(err, action.ErrState) {
		t.Errorf("a change of mind: %v", err)
	}
	s.state(o.ActionID, action.Denied)
	if again := s.call(`{}`); again.ActionID == o.ActionID || again.Status != verbatim.StatusApprovalRequired {
		t.Errorf("a new proposal is %+v", again)
	}
	s.runs(0)
}

func TestD03IDsAreNeverUsedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, parts{dir: dir, policy: decide(policy.RequireApproval)})
	scratch := s.call(`{"text":"delete /scratch/a"}`)
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	next := newStage(t, parts{dir: dir, policy: decide(policy.RequireApproval)})
	prod := next.call(`{"text":"delete /prod"}`)
	if prod.ActionID == scratch.ActionID || len(prod.ActionID) < 20 {
		t.Errorf("ids %s and %s", scratch.ActionID, prod.ActionID)
	}
	next.Approve(scratch.ActionID, "ada")
	next.state(prod.ActionID, action.PendingApproval)
}

func TestD05StepThatRunsAgainReplaysItsEffect(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	for range 3 { // a node that starts over after each interrupt
		want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"charge"}`), IdempotencyKey: "run-1/step-1"}), verbatim.StatusOK, verbatim.CodeOK)
	}
	s.runs(1)
}

func TestD07D09ConnectionThatDropsIsUncertainAndNotRetried(t *testing.T) {
	t.Parallel()
	for _, err := range []error{execute.ErrLost, fmt.Errorf("read body: %w", io.ErrUnexpectedEOF), context.DeadlineExceeded} {
		s := newStage(t, parts{})
		s.probe.set(failing(err))
		o := s.call(`{}`)
		want(t, o, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
		if !strings.Contains(o.Sentence(), "Do not repeat it") {
			t.Errorf("the model is told: %s", o.Sentence())
		}
		s.runs(1)
	}
	s := newStage(t, parts{})
	s.probe.set(failing(fmt.Errorf("%w: connection refused", execute.ErrNotRun)))
	c := verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}
	want(t, s.with(c), verbatim.StatusFailed, verbatim.CodeToolNotRun)
	s.probe.set(nil)
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK) // proved before it was sent
}

func TestD08OneAttemptStartsTheToolOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{tool: func(b *catalog.Tool) { b.Timeout = 30 * time.Millisecond }})
	for _, do := range []func(context.Context, execute.Input) (execute.Output, error){
		failing(errors.New("no")), failing(execute.ErrLost), func(ctx context.Context, _ execute.Input) (execute.Output, error) {
			<-ctx.Done()
			return execute.Output{}, ctx.Err()
		},
	} {
		before := len(s.probe.ran())
		s.probe.set(do)
		s.call(fmt.Sprintf(`{"amount":%d}`, before))
		s.runs(before + 1)
	}
}

func TestD12RunThatDiedDoesNotStayInProgress(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	s.store.fail("Finish") // the process cannot say any more how it ended
	want(t, s.call(`{}`), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	s.store.on("Finish", nil)
	s.Clock.Advance(2 * time.Minute)
	sweep(s)
	s.state(o.ActionID, action.Uncertain)
	settle(action.ReconciledFailed)(s, o.ActionID)
	s.state(o.ActionID, action.ReconciledFailed)
	rs, err := s.Gate.Records(t.Context(), audit.Filter{Tenant: "acme", Action: o.ActionID, Event: audit.ActionSettled})
	if err != nil || len(rs) != 1 || rs[0].By != "ada" {
		t.Errorf("records %+v, %v", rs, err)
	}
}

func TestD13ResubmittedKeyIsTheSamePendingProposal(t *testing.T) {
	t.Parallel()
	s := asks(t)
	c := verbatim.Call{Arguments: []byte(`{"text":"vm-7"}`), IdempotencyKey: "k1"}
	first, second := s.with(c), s.with(c)
	if first.ActionID != second.ActionID || len(s.rows()) != 1 || second.State != action.PendingApproval {
		t.Errorf("%s, then %s", first.ActionID, second.ActionID)
	}
	s.Approve(first.ActionID, "ada")
	if done := s.with(c); done.State != action.Succeeded {
		t.Errorf("state %s", done.State)
	}
}

func TestD14J05ManyCallersWithOneKeyRunItOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]bool{}
	for range 16 {
		wg.Go(func() {
			o, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), IdempotencyKey: "k"})
			if err != nil || o.Status != verbatim.StatusOK && o.Status != verbatim.StatusInProgress {
				t.Errorf("%s %v", o.Code, err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[o.ActionID] = true
		})
	}
	wg.Wait()
	s.runs(1)
	if len(ids) != 1 || len(s.rows()) != 1 {
		t.Errorf("%d ids, %d rows", len(ids), len(s.rows()))
	}
}

func TestJ01J03KeyIsBoundToToolAndAllArguments(t *testing.T) {
	t.Parallel()
	other := &probe{}
	s := newStage(t, parts{more: []verbatim.Bound{bind(t, ordinary("create_application", noteSchema), other)}})
	want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"alice","amount":100}`), IdempotencyKey: "abc"}), verbatim.StatusOK, verbatim.CodeOK)
	for _, c := range []verbatim.Call{
		{Tool: "create_application", Arguments: []byte(`{"text":"alice","amount":100}`)},
		{Arguments: []byte(`{"text":"mallory","amount":100}`)},
		{Arguments: []byte(`{"text":"alice"}`)},
	} {
		c.IdempotencyKey = "abc"
		o := s.with(c)
		want(t, o, verbatim.StatusDenied, verbatim.CodeIdempotencyMismatch)
		if o.Output != nil {
			t.Error("the outcome of another call was given")
		}
	}
	s.runs(1)
	if len(other.ran()) != 0 {
		t.Error("it ran")
	}
}

func TestJ04OldHolderCannotEndTheNewOnesClaim(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	old, err := s.Store.Claim(t.Context(), o.ActionID, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(11 * time.Second)
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	if _, err := s.Store.Begin(t.Context(), action.Start{Action: old, Lease: time.Minute}); err == nil {
		t.Error("the old holder began")
	}
	if _, err := s.Store.Finish(t.Context(), action.Ending{ID: old.ID, Fence: old.Fence, State: action.Failed,
		Result: action.Result{Evidence: action.EvidenceProved}}); !errors.Is(err, action.ErrFence) {
		t.Errorf("the old holder finished: %v", err)
	}
	s.runs(1)
}

func TestJ08WhichOutcomesAreFinal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		d    policy.Effect
		raw  string
		do   func(context.Context, execute.Input) (execute.Output, error)
		runs int // after the first call and a retry with a tool that works
	}{
		"denied is replayed":                       {policy.Deny, `{}`, nil, 0},
		"invalid is not stored":                    {policy.Allow, `[]`, nil, 0},
		"an error with known no effect is retried": {policy.Allow, `{}`, failing(execute.ErrNotRun), 2},
		"an error with unknown effect is not":      {policy.Allow, `{}`, failing(execute.ErrLost), 1},
		"the tool's own word is retried":           {policy.Allow, `{}`, failing(errors.New("no")), 2},
	} {
		s := newStage(t, parts{policy: decide(tc.d)})
		s.probe.set(tc.do)
		c := verbatim.Call{Arguments: []byte(tc.raw), IdempotencyKey: "k"}
		s.with(c)
		s.probe.set(nil)
		s.with(c)
		if n := len(s.probe.ran()); n != tc.runs {
			t.Errorf("%s: %d runs, want %d", name, n, tc.runs)
		}
		if strings.HasPrefix(name, "invalid") && len(s.rows()) != 0 {
			t.Error("refused input took the key")
		}
	}
}

func TestJ09AmendedRequestUnderAnOldKeyIsAConflict(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	s.probe.set(failing(execute.ErrLost))
	want(t, s.with(verbatim.Call{Arguments: []byte(`{"amount":1000}`), IdempotencyKey: "k"}), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	o := s.with(verbatim.Call{Arguments: []byte(`{"amount":1200}`), IdempotencyKey: "k"})
	want(t, o, verbatim.StatusDenied, verbatim.CodeIdempotencyMismatch)
	if o.State != action.Uncertain {
		t.Errorf("the state of the original is %q", o.State)
	}
	session := s.Session()
	session.Principal = "otto"
	s.probe.set(nil)
	if other := s.as(session, verbatim.Call{Arguments: []byte(`{"amount":1200}`), IdempotencyKey: "k"}); other.State == action.Uncertain {
		t.Error("another principal learns of the key")
	}
}
