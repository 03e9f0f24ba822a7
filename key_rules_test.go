package verbatim_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
)

// TestIdempotencyTable goes through the states in which a key may find its
// action (semantics §9).
func TestIdempotencyTable(t *testing.T) {
	t.Parallel()
	c := verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}
	approve := func(s *stage, id string) { s.Approve(id, "ada") }
	for _, tc := range []struct {
		name   string
		effect policy.Effect
		do     func(context.Context, execute.Input) (execute.Output, error)
		bring  func(s *stage, id string) // into the state
		state  action.State
		status verbatim.Status
		code   verbatim.Code
		same   bool // the same row answers
		runs   int  // in all, afterwards
	}{
		{"succeeded replays", policy.Allow, nil, nil, action.Succeeded, verbatim.StatusOK, verbatim.CodeOK, true, 1},
		{"reconciled_succeeded replays", policy.Allow, failing(execute.ErrLost), settle(action.ReconciledSucceeded), action.ReconciledSucceeded,
			verbatim.StatusOK, verbatim.CodeOK, true, 1},
		{"denied replays", policy.Deny, nil, nil, action.Denied, verbatim.StatusDenied, verbatim.CodePolicyDenied, true, 0},
		{"rejected replays", policy.RequireApproval, nil, func(s *stage, id string) { s.Reject(id, "ada") }, action.Denied,
			verbatim.StatusDenied, verbatim.CodeRejected, true, 0},
		{"expired replays", policy.RequireApproval, nil, func(s *stage, _ string) { s.Clock.Advance(25 * time.Hour); sweep(s) }, action.Expired,
			verbatim.StatusDenied, verbatim.CodeExpired, true, 0},
		{"pending is the same proposal", policy.RequireApproval, nil, nil, action.PendingApproval,
			verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired, true, 0},
		{"approved resumes", policy.RequireApproval, nil, approve, action.Approved, verbatim.StatusOK, verbatim.CodeOK, true, 1},
		{"uncertain stays so", policy.Allow, failing(execute.ErrLost), nil, action.Uncertain,
			verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain, true, 1},
		{"failed is a new action", policy.Allow, failing(fmt.Errorf("no")), nil, action.Failed, verbatim.StatusOK, verbatim.CodeOK, false, 2},
		{"reconciled_failed is a new action", policy.Allow, failing(execute.ErrLost), settle(action.ReconciledFailed), action.ReconciledFailed,
			verbatim.StatusOK, verbatim.CodeOK, false, 2},
		{"failed needs a new approval", policy.RequireApproval, failing(fmt.Errorf("no")), func(s *stage, id string) {
			approve(s, id)
			want(s.t, s.with(c), verbatim.StatusFailed, verbatim.CodeToolError)
		}, action.Failed, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired, false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{policy: decide(tc.effect)})
			s.probe.set(tc.do)
			first := s.with(c)
			if tc.bring != nil {
				tc.bring(s, first.ActionID)
			}
			s.state(first.ActionID, tc.state)
			s.probe.set(nil)
			got := s.with(c)
			want(t, got, tc.status, tc.code)
			if (got.ActionID == first.ActionID) != tc.same {
				t.Errorf("first %s, then %s", first.ActionID, got.ActionID)
			}
			s.runs(tc.runs)
		})
	}
}

func settle(state action.State) func(*stage, string) {
	return func(s *stage, id string) {
		s.t.Helper()
		_, err := s.Gate.Reconcile(s.t.Context(), "acme", action.Reconciliation{ID: id, State: state, By: "ada", Evidence: "looked it up"})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func sweep(s *stage) {
	s.t.Helper()
	if _, err := s.Gate.Sweep(s.t.Context(), false); err != nil {
		s.t.Fatal(err)
	}
}

func TestKeyOfARunningActionIsInProgress(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	release := make(chan struct{})
	s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
		<-release
		return execute.Output{Bytes: []byte(`{}`)}, nil
	})
	c := verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), IdempotencyKey: "k"}
	done := make(chan verbatim.Outcome, 1)
	go func() {
		o, err := s.Gate.Call(context.WithoutCancel(t.Context()), s.Session(), c)
		if err != nil {
			t.Error(err)
		}
		done <- o
	}()
	s.eventually("it runs", func() bool { return len(s.probe.ran()) == 1 })
	running := s.with(c)
	want(t, running, verbatim.StatusInProgress, verbatim.CodeInProgress)
	close(release)
	if o := <-done; o.ActionID != running.ActionID || o.Status != verbatim.StatusOK {
		t.Errorf("the first call ended as %+v", o)
	}
	s.runs(1)
}

func TestKeyIsBoundToItsRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{more: []verbatim.Bound{bind(t, ordinary("other", noteSchema), &probe{})}})
	c := verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}
	first := s.with(c)
	for name, tc := range map[string]struct {
		session func(*verbatim.Session)
		call    func(*verbatim.Call)
		code    verbatim.Code
	}{
		"other arguments": {nil, func(c *verbatim.Call) { c.Arguments = []byte(`{"text":"b"}`) }, verbatim.CodeIdempotencyMismatch},
		"other tool":      {nil, func(c *verbatim.Call) { c.Tool = "other" }, verbatim.CodeIdempotencyMismatch},
		"other agent":     {func(s *verbatim.Session) { s.Agent = "Other" }, nil, verbatim.CodeIdempotencyMismatch},
		"other principal": {func(s *verbatim.Session) { s.Principal = "otto" }, nil, verbatim.CodeOK},
		"other spelling":  {nil, func(c *verbatim.Call) { c.Arguments = []byte(" {\"text\":\"\\u0061\"}") }, verbatim.CodeOK},
	} {
		session, call := s.Session(), c
		if tc.session != nil {
			tc.session(&session)
		}
		if tc.call != nil {
			tc.call(&call)
		}
		got := s.as(session, call)
		if got.Code != tc.code {
			t.Errorf("%s: got %s, want %s", name, got.Code, tc.code)
		}
		if tc.code == verbatim.CodeIdempotencyMismatch && (got.Output != nil || got.State != action.Succeeded) {
			t.Errorf("%s: output %q, state of the original %q", name, got.Output, got.State)
		}
		if name == "other principal" && (got.Replayed || got.ActionID == first.ActionID) {
			t.Error("a key gave one principal the outcome of another")
		}
	}
}

func TestKeyNeverAuthorizesAFirstCall(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.Deny)})
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}), verbatim.StatusDenied, verbatim.CodePolicyDenied)
	s.runs(0)
}

// TestTwoCallersWithOneKey lets both pass the look-up before either has a row.
func TestTwoCallersWithOneKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		effect policy.Effect
		texts  [2]string
		codes  map[verbatim.Code]int
		runs   int
	}{
		"allowed, same request":   {policy.Allow, [2]string{"a", "a"}, map[verbatim.Code]int{verbatim.CodeOK: 2}, 1},
		"allowed, other request":  {policy.Allow, [2]string{"a", "b"}, map[verbatim.Code]int{verbatim.CodeOK: 1, verbatim.CodeIdempotencyMismatch: 1}, 1},
		"denied, same request":    {policy.Deny, [2]string{"a", "a"}, map[verbatim.Code]int{verbatim.CodePolicyDenied: 2}, 0},
		"denied, other request":   {policy.Deny, [2]string{"a", "b"}, map[verbatim.Code]int{verbatim.CodePolicyDenied: 1, verbatim.CodeIdempotencyMismatch: 1}, 0},
		"suspended, same request": {policy.RequireApproval, [2]string{"a", "a"}, map[verbatim.Code]int{verbatim.CodeApprovalRequired: 2}, 0},
		"suspended, other request": {policy.RequireApproval, [2]string{"a", "b"},
			map[verbatim.Code]int{verbatim.CodeApprovalRequired: 1, verbatim.CodeIdempotencyMismatch: 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var both sync.WaitGroup
			both.Add(2)
			s := newStage(t, parts{policy: policy.FromFunc("v1", func(ctx context.Context, in policy.Input) (policy.Decision, error) {
				both.Done() // a look-up comes before policy: neither found a row
				both.Wait()
				return answer(tc.effect)(ctx, in)
			}), gate: func(c *verbatim.Config) { c.PolicyTimeout = 10 * time.Second }})
			outcomes := make([]verbatim.Outcome, 2)
			var wg sync.WaitGroup
			for i, text := range tc.texts {
				wg.Go(func() {
					o, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name,
						Arguments: []byte(`{"text":"` + text + `"}`), IdempotencyKey: "k"})
					if err != nil {
						t.Error(err)
					}
					outcomes[i] = o
				})
			}
			wg.Wait()
			codes := map[verbatim.Code]int{}
			for _, o := range outcomes {
				if o.Code == verbatim.CodeInProgress {
					o.Code = verbatim.CodeOK // the loser may look while the winner runs
				}
				codes[o.Code]++
			}
			if diff := cmp.Diff(tc.codes, codes); diff != "" {
				t.Error(diff)
			}
			s.runs(tc.runs)
			if n := len(s.rows()); n != 1 {
				t.Errorf("%d rows", n)
			}
		})
	}
}

func TestRefusalIsRecordedThoughItsKeyIsTaken(t *testing.T) {
	t.Parallel()
	spec := ordinary("note", `{"type":"object","properties":{"user":{"type":"string"}}}`)
	spec.Identity = []identity.Member{{Pointer: "/user", Names: identity.NamesPrincipal}}
	s := newStage(t, parts{spec: spec})
	ok := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"})
	want(t, ok, verbatim.StatusOK, verbatim.CodeOK)
	spoof := verbatim.Call{Arguments: []byte(`{"user":"otto"}`), IdempotencyKey: "k"}
	got := s.with(spoof)
	want(t, got, verbatim.StatusDenied, verbatim.CodeIdentitySpoof)
	if got.ActionID == ok.ActionID || len(s.rows()) != 2 {
		t.Error("the spoof is not in the record")
	}
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}), verbatim.StatusOK, verbatim.CodeOK)
	spoof.IdempotencyKey = "k2"
	first, second := s.with(spoof), s.with(spoof)
	want(t, second, verbatim.StatusDenied, verbatim.CodeIdentitySpoof)
	if first.ActionID != second.ActionID {
		t.Error("the denial was not replayed")
	}
	s.runs(1)
}

func TestApprovalAndKeyOfTwoActionsIsAMismatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	a := s.approved(verbatim.Call{Arguments: []byte(`{"text":"a"}`)})
	s.with(verbatim.Call{Arguments: []byte(`{"text":"b"}`), IdempotencyKey: "k"})
	c := verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: a.ActionID, IdempotencyKey: "k"}
	want(t, s.with(c), verbatim.StatusDenied, verbatim.CodeIdempotencyMismatch)
	s.runs(0)
	c.IdempotencyKey = "unused"
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK)
}

func TestKeyOfACallIsNotThatOfAHandoff(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	call := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"})
	o, err := s.Gate.Handoff(t.Context(), s.Session(), verbatim.Handoff{To: s.name, Payload: []byte(`{}`), IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, o, verbatim.StatusDenied, verbatim.CodeIdempotencyMismatch)
	s.state(call.ActionID, action.PendingApproval)
}

func TestKeysAreComparedAsBytes(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	seen := map[string]string{}
	for _, key := range []string{"k", "K", "k ", "k\x00", "k\x00a", "k\x00b", "\u00e9", "e\u0301", "\xff", "\xfe", "1", "01", "1.0"} {
		o := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: key})
		want(t, o, verbatim.StatusOK, verbatim.CodeOK)
		if other, twice := seen[o.ActionID]; twice {
			t.Errorf("keys %q and %q are one", key, other)
		}
		seen[o.ActionID] = key
	}
	s.runs(len(seen))
}
