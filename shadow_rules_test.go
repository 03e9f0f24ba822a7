package verbatim_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// heldVerdicts is a sink in memory.
type heldVerdicts struct {
	mu  sync.Mutex
	all []replay.Verdict
}

func (n *heldVerdicts) Keep(v replay.Verdict) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, v)
	return nil
}

func (n *heldVerdicts) Dropped(int64, time.Time) error { return nil }
func (n *heldVerdicts) Idle() error                    { return nil }

// shadowed is a gate with a candidate beside its policy.
type shadowed struct {
	*verbatimtest.Fixture
	t     *testing.T
	note  *probe
	watch *shadow.Watcher
	kept  *heldVerdicts
}

func withCandidate(t *testing.T, live, candidate policy.Func) *shadowed {
	t.Helper()
	c := &replay.Candidate{Engine: policy.FromFunc("candidate", candidate)}
	s := &shadowed{t: t, note: &probe{}, kept: &heldVerdicts{}}
	var err error
	s.watch, err = shadow.New(shadow.Config{Candidate: func() *replay.Candidate { return c }, Sink: s.kept, Timeout: policy.MinTimeout})
	if err != nil {
		t.Fatal(err)
	}
	read := catalog.Spec{Name: "read", Read: true, Reason: "it only reads", Schema: []byte(`{"type":"object"}`)}
	s.Fixture = verbatimtest.New(t, verbatimtest.Config{
		Tools:  []verbatim.Bound{bind(t, ordinary("note", noteSchema), s.note), bind(t, read, &probe{})},
		Policy: policy.FromFunc("live", live), Gate: func(cfg *verbatim.Config) { cfg.Shadow = s.watch }})
	return s
}

func (s *shadowed) call(tool, args string) verbatim.Outcome {
	s.t.Helper()
	o, err := s.Gate.Call(s.t.Context(), s.Session(), verbatim.Call{Tool: tool, Arguments: []byte(args)})
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// verdicts ends the watcher and returns what was kept.
func (s *shadowed) verdicts() []replay.Verdict {
	s.t.Helper()
	if err := s.watch.Close(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return s.kept.all
}

func TestCandidateThatDeniesStopsNothing(t *testing.T) {
	t.Parallel()
	s := withCandidate(t, answer(policy.Allow), answer(policy.Deny))
	wrote, read := s.call("note", `{"text":"a"}`), s.call("read", `{}`)
	if wrote.Status != verbatim.StatusOK || read.Status != verbatim.StatusOK || len(s.note.ran()) != 1 {
		t.Fatalf("%+v, %+v", wrote, read)
	}
	var got []string
	for _, v := range s.verdicts() {
		got = append(got, v.Action+" "+v.Tool+" "+string(v.Kind)+" "+v.Was.Decision+" "+v.Is.Decision)
	}
	want := []string{wrote.ActionID + " note flip allow deny", read.ActionID + " read flip allow deny"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCandidateThatAllowsRunsNothing(t *testing.T) {
	t.Parallel()
	for name, live := range map[string]policy.Effect{"a denied call": policy.Deny, "a call that waits": policy.RequireApproval} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withCandidate(t, answer(live), answer(policy.Allow))
			o := s.call("note", `{"text":"a"}`)
			if len(s.note.ran()) > 0 || o.Status == verbatim.StatusOK {
				t.Fatalf("%+v", o)
			}
			v := s.verdicts()
			if len(v) != 1 || v[0].Action != o.ActionID || v[0].Was.Decision != live.String() || v[0].Is.Decision != "allow" {
				t.Errorf("%+v", v)
			}
			row, err := s.Store.Action(t.Context(), "acme", o.ActionID)
			if err != nil || row.Decision.Effect != live.String() || row.Decision.Reason != "test" {
				t.Errorf("the record: %+v, %v", row.Decision, err)
			}
		})
	}
}

func TestCallsRunBesideACandidateThatHangsOrPanics(t *testing.T) {
	t.Parallel()
	for name, candidate := range map[string]policy.Func{
		"hangs":  func(context.Context, policy.Input) (policy.Decision, error) { select {} },
		"panics": func(context.Context, policy.Input) (policy.Decision, error) { panic("candidate") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withCandidate(t, answer(policy.Allow), candidate)
			const calls = 30
			for range calls {
				if o := s.call("read", `{}`); o.Status != verbatim.StatusOK {
					t.Fatalf("%+v", o)
				}
			}
			s.verdicts()
			if c := s.watch.Counts(); c.Observed != calls || c.Failed == 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestApprovedCallIsPutToTheCandidateWithItsApproval(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	s := withCandidate(t, answer(policy.RequireApproval), func(_ context.Context, in policy.Input) (policy.Decision, error) {
		mu.Lock()
		defer mu.Unlock()
		id := ""
		if in.Approval != nil {
			id = in.Approval.ID
		}
		seen = append(seen, id)
		return policy.Decision{Effect: policy.RequireApproval, Reason: "test"}, nil
	})
	o := s.call("note", `{"text":"a"}`)
	s.Approve(o.ActionID, "ada")
	if again := s.call("note", `{"text":"a"}`); again.Status != verbatim.StatusOK {
		t.Fatalf("%+v", again)
	}
	v := s.verdicts()
	if diff := cmp.Diff([]string{"", o.ActionID}, seen); diff != "" || len(v) != 2 || v[1].Action != o.ActionID {
		t.Errorf("%s %+v", diff, v)
	}
}

func TestExplainingIsNotObserved(t *testing.T) {
	t.Parallel()
	s := withCandidate(t, answer(policy.Allow), answer(policy.Deny))
	if _, err := s.Gate.Explain(t.Context(), s.Session(), verbatim.Call{Tool: "read", Arguments: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if v := s.verdicts(); len(v) > 0 {
		t.Errorf("%+v", v)
	}
}
