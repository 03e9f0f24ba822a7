package verbatim_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/policy"
)

// watcher keeps what a gate tells its observer.
type watcher struct {
	mu   sync.Mutex
	seen []verbatim.Observation
}

func (w *watcher) observe(o verbatim.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

// only returns the one observation that there is.
func (w *watcher) only(t *testing.T) verbatim.Observation {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) != 1 {
		t.Fatalf("%d observations, want 1", len(w.seen))
	}
	return w.seen[0]
}

func watched(t *testing.T, p parts) (*stage, *watcher) {
	t.Helper()
	w := &watcher{}
	p.gate = func(c *verbatim.Config) { c.Observe = w.observe }
	return newStage(t, p), w
}

func TestEveryAnsweredCallIsObserved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                     string
		policy                   policy.Effect
		call                     verbatim.Call
		status                   verbatim.Status
		code                     verbatim.Code
		decision, tool, stepsHad string
	}{
		{"allowed", policy.Allow, verbatim.Call{Arguments: []byte(`{}`)}, verbatim.StatusOK, verbatim.CodeOK, "allow", "note", "propose decide begin run"},
		{"denied", policy.Deny, verbatim.Call{Arguments: []byte(`{}`)}, verbatim.StatusDenied, verbatim.CodePolicyDenied, "deny", "note", "propose decide"},
		{"pending", policy.RequireApproval, verbatim.Call{Arguments: []byte(`{}`)}, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired, "require_approval", "note", "propose decide"},
		{"refused input", policy.Allow, verbatim.Call{Arguments: []byte(`{`)}, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments, "", "note", "propose"},
		{"a name that the model made up", policy.Allow, verbatim.Call{Tool: "secret_in_a_name", Arguments: []byte(`{}`)}, verbatim.StatusDenied, verbatim.CodeUnknownTool, "", "", "propose"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, w := watched(t, parts{policy: decide(tt.policy)})
			s.with(tt.call)
			o := w.only(t)
			var steps []string
			for _, step := range o.Steps {
				steps = append(steps, step.Name)
			}
			got := []string{string(o.Outcome.Status), string(o.Outcome.Code), o.Decision, o.Tool, strings.Join(steps, " ")}
			want := []string{string(tt.status), string(tt.code), tt.decision, tt.tool, tt.stepsHad}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if o.Took <= 0 || o.Began.IsZero() || o.Tenant == "" || o.Agent == "" || o.Principal == "" {
				t.Errorf("facts are missing: %+v", o)
			}
		})
	}
}

func TestObservationHoldsNoValue(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	for _, args := range []string{`{"text":"` + canary + `"}`, `{"text":["` + canary + `"]}`, `{"` + canary + `":1}`, `{"text":"` + canary} {
		s, w := watched(t, parts{policy: decide(policy.Allow)})
		s.with(verbatim.Call{Arguments: []byte(args), Trace: verbatim.Trace{Parent: "00-1", State: "a=b"}})
		s.with(verbatim.Call{Tool: canary, Arguments: []byte(`{}`)})
		for _, o := range w.seen {
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), canary) {
				t.Errorf("%s: a value is in the observation: %s", args, text)
			}
		}
		if w.seen[0].Trace != (verbatim.Trace{Parent: "00-1", State: "a=b"}) {
			t.Errorf("trace %+v", w.seen[0].Trace)
		}
	}
}

func TestCallWhoseRecordFailedIsObservedAsUnstored(t *testing.T) {
	t.Parallel()
	s, w := watched(t, parts{policy: decide(policy.Deny)})
	s.store.fail("Decide")
	if _, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`)}); err == nil {
		t.Fatal("the call was answered")
	}
	if o := w.only(t); !o.Unstored {
		t.Error("it counts as stored")
	}
}

func TestObserverThatPanicsChangesNoAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.Allow), gate: func(c *verbatim.Config) {
		c.Observe = func(verbatim.Observation) { panic("a fault of the observer") }
	}})
	if o := s.call(`{}`); o.Status != verbatim.StatusOK || len(s.probe.ran()) != 1 {
		t.Errorf("status %s, runs %d", o.Status, len(s.probe.ran()))
	}
}

func TestHandoffIsObservedWithoutTheNameInIt(t *testing.T) {
	t.Parallel()
	s, w := watched(t, parts{policy: decide(policy.Allow)})
	if _, err := s.Gate.Handoff(t.Context(), s.Session(), verbatim.Handoff{To: "made-up", Payload: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if o := w.only(t); o.Kind != "handoff" || o.Tool != "" || o.Outcome.Tool != "" || o.Decision != "allow" {
		t.Errorf("observation %+v", o)
	}
}
