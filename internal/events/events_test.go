package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/events"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const canary = "canary-5d1e"

// by decides by the tool's name.
type by struct{}

func (by) Version(string) string { return "1" }

func (by) Decide(_ context.Context, in policy.Input) (policy.Decision, error) {
	d := policy.Decision{Effect: policy.Allow, Reason: canary + " reason"}
	switch {
	case strings.HasPrefix(in.Tool.Name, "ask"):
		d.Effect = policy.RequireApproval
	case strings.HasPrefix(in.Tool.Name, "no"):
		d.Effect = policy.Deny
	}
	return d, nil
}

func newFixture(t *testing.T) *verbatimtest.Fixture {
	t.Helper()
	var tools []verbatim.Bound
	for name, err := range map[string]error{"do": nil, "ask": nil, "askfail": errors.New(canary + " error"), "no": nil, "look": nil} {
		spec := catalog.Spec{Name: name, Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`), Impact: catalog.Ordinary, Reason: "a test"}
		if name == "look" {
			spec.Read, spec.Impact = true, ""
		}
		b, bad := verbatim.Untyped(spec, execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{"secret":"` + canary + `"}`)}, err
		}))
		if bad != nil {
			t.Fatal(bad)
		}
		tools = append(tools, b)
	}
	return verbatimtest.New(t, verbatimtest.Config{Tools: tools, Policy: by{}})
}

func call(t *testing.T, f *verbatimtest.Fixture, tool, approval string) verbatim.Outcome {
	t.Helper()
	o, err := f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: tool, Arguments: []byte(`{"text":"` + canary + `"}`), Approval: approval, Model: "m-1", CallID: "c-1"})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func entries(t *testing.T, f *verbatimtest.Fixture, id string) []audit.Entry {
	t.Helper()
	out, err := f.Store.Entries(t.Context(), audit.Selection{Action: id, Most: audit.MaxEntries})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func all(t *testing.T, list []audit.Entry) []events.Event {
	t.Helper()
	var out []events.Event
	for _, e := range list {
		got, err := events.Of("log.example/1", e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, got...)
	}
	return out
}

func types(list []events.Event) (out []string) {
	for _, e := range list {
		out = append(out, e.Type)
	}
	return out
}

func TestEventsTellTheStoryOfACall(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		play func(*testing.T, *verbatimtest.Fixture) string
		want []string
		run  *events.Run // with its times, versions and ids left out
	}{
		{"allowed", func(t *testing.T, f *verbatimtest.Fixture) string { return call(t, f, "do", "").ActionID },
			[]string{events.PolicyAllowed, events.RunStarted, events.RunCompleted},
			&events.Run{Status: "completed", State: "succeeded", Attempts: 1, PolicyDecisions: []events.Decision{{CallID: "c-1", Decision: "allow", Resource: events.Resource{Kind: "tool", Name: "do"}}}}},
		{"denied", func(t *testing.T, f *verbatimtest.Fixture) string { return call(t, f, "no", "").ActionID },
			[]string{events.PolicyDenied},
			&events.Run{Status: "failed", State: "denied", ErrorName: "policy_denied", PolicyDecisions: []events.Decision{{CallID: "c-1", Decision: "deny", Resource: events.Resource{Kind: "tool", Name: "no"}}}}},
		{"approved", func(t *testing.T, f *verbatimtest.Fixture) string {
			id := call(t, f, "ask", "").ActionID
			f.Approve(id, "ada")
			call(t, f, "ask", id)
			return id
		}, []string{events.ApprovalRequired, events.RunAbandoned, events.ApprovalVoted, events.ApprovalGranted, events.RunClaimed, events.RunStarted, events.RunCompleted},
			&events.Run{Status: "completed", State: "succeeded", Attempts: 1, Votes: []events.Vote{{Voter: "ada", Vote: "approve"}},
				PolicyDecisions: []events.Decision{{CallID: "c-1", Decision: "require_approval", Resource: events.Resource{Kind: "tool", Name: "ask"}}}}},
		{"pending", func(t *testing.T, f *verbatimtest.Fixture) string { return call(t, f, "ask", "").ActionID },
			[]string{events.ApprovalRequired, events.RunAbandoned}, nil},
		{"rejected", func(t *testing.T, f *verbatimtest.Fixture) string {
			id := call(t, f, "ask", "").ActionID
			f.Reject(id, "bob")
			return id
		}, []string{events.ApprovalRequired, events.RunAbandoned, events.ApprovalVoted, events.ApprovalRejected},
			&events.Run{Status: "failed", State: "denied", ErrorName: "rejected", Votes: []events.Vote{{Voter: "bob", Vote: "reject"}},
				PolicyDecisions: []events.Decision{{CallID: "c-1", Decision: "require_approval", Resource: events.Resource{Kind: "tool", Name: "ask"}}}}},
		{"a tool that nobody has", func(t *testing.T, f *verbatimtest.Fixture) string { return call(t, f, canary, "").ActionID },
			[]string{events.PolicyDenied},
			&events.Run{Status: "failed", State: "denied", ErrorName: "unknown_tool", PolicyDecisions: []events.Decision{{CallID: "c-1", Decision: "deny", Resource: events.Resource{Kind: "tool"}}}}},
		{"failed", func(t *testing.T, f *verbatimtest.Fixture) string {
			id := call(t, f, "askfail", "").ActionID
			f.Approve(id, "ada")
			call(t, f, "askfail", id)
			return id
		}, []string{events.ApprovalRequired, events.RunAbandoned, events.ApprovalVoted, events.ApprovalGranted, events.RunClaimed, events.RunStarted, events.RunFailed},
			&events.Run{Status: "failed", State: "failed", ErrorName: "tool_error", Attempts: 1, Votes: []events.Vote{{Voter: "ada", Vote: "approve"}},
				PolicyDecisions: []events.Decision{{CallID: "c-1", Decision: "require_approval", Resource: events.Resource{Kind: "tool", Name: "askfail"}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := tt.play(t, f)
			list := entries(t, f, id)
			if diff := cmp.Diff(tt.want, types(all(t, list))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			run, err := events.RunOf("log.example/1", list)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.run, bare(run, id)); diff != "" {
				t.Errorf("run (-want +got):\n%s", diff)
			}
		})
	}
}

// bare checks the times and ids of a run record and takes them out.
func bare(r *events.Run, id string) *events.Run {
	if r == nil {
		return nil
	}
	out := *r
	if r.RunID != id || r.StartedAt == "" || r.CompletedAt < r.StartedAt || !r.ContextRedacted || r.SchemaVersion != events.RunSchema {
		out.State = "not well formed: " + fmt.Sprintf("%+v", *r)
	}
	out.RunID, out.StartedAt, out.CompletedAt, out.ContextRedacted, out.SchemaVersion, out.AgentName, out.Model = "", "", "", false, "", "", ""
	for i := range out.PolicyDecisions {
		out.PolicyDecisions[i].Timestamp, out.PolicyDecisions[i].PolicyVersion = "", ""
	}
	for i := range out.Votes {
		out.Votes[i].Timestamp = ""
	}
	return &out
}

func TestNoEventHoldsAValueOrAReason(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, tool := range []string{"do", "no", "ask", "askfail", "look", canary} {
		o := call(t, f, tool, "")
		if o.Status == verbatim.StatusApprovalRequired {
			f.Approve(o.ActionID, "ada")
			call(t, f, tool, o.ActionID)
		}
	}
	for _, bad := range []string{`{"text":"` + canary, `{"` + canary + `":1}`} {
		if _, err := f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "do", Arguments: []byte(bad)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Gate.Handoff(t.Context(), f.Session(), verbatim.Handoff{To: canary, Payload: []byte(`{"x":"` + canary + `"}`)}); err != nil {
		t.Fatal(err)
	}
	list := all(t, entries(t, f, ""))
	seen := map[string]bool{}
	for _, e := range list {
		text, err := e.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), canary) {
			t.Errorf("a value is in an event: %s", text)
		}
		if seen[e.ID] {
			t.Errorf("two events have the id %s", e.ID)
		}
		seen[e.ID] = true
		if !json.Valid(text) || strings.Contains(string(text), "\n") {
			t.Errorf("not one line of JSON: %s", text)
		}
	}
	if len(list) < 15 {
		t.Fatalf("%d events", len(list))
	}
	hash := call(t, f, "no", "").ProposalHash
	for _, e := range all(t, entries(t, f, "")) {
		if text, _ := e.JSON(); strings.Contains(string(text), hash) {
			t.Errorf("a hash that can be guessed is in an event: %s", text)
		}
	}
}

func TestEventsOfARecordAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := call(t, f, "do", "").ActionID
	if diff := cmp.Diff(all(t, entries(t, f, id)), all(t, entries(t, f, id))); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	leaf, err := audit.Record{Seq: 3, ID: "rec_x", At: time.Unix(1, 0), Event: audit.ActionDenied, Action: "act_y", To: "denied", Code: "policy_denied"}.Leaf()
	if err != nil {
		t.Fatal(err)
	}
	got := all(t, []audit.Entry{{Index: 2, Leaf: leaf}})
	// printf 'verbatim.governance_event.v1|verbatim.policy.denied|act_y|rec_x' | sha256sum
	if want := "278ddbc6bd7ce6216a5665eda5907d9cc5afa7735e27caea31bcfa2e4c6196f1"; got[0].ID != want {
		t.Errorf("id %s, want %s", got[0].ID, want)
	}
}

func TestEveryRecordIsToldOfByANameOfAClosedForm(t *testing.T) {
	t.Parallel()
	for _, event := range audit.Events() {
		leaf, err := audit.Record{Seq: 1, ID: "rec_x", At: time.Unix(1, 0), Event: event, From: string(action.Received), Facts: map[string]string{"other": canary}}.Leaf()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all(t, []audit.Entry{{Leaf: leaf}}) {
			if !strings.HasPrefix(e.Type, "verbatim.") || strings.Count(e.Type, ".") != 2 ||
				!slices.Contains([]string{events.Debug, events.Info, events.Warn, events.Error}, e.Severity) || e.Subject.Kind == "" {
				t.Errorf("%s: %+v", event, e)
			}
			if text, _ := e.JSON(); strings.Contains(string(text), canary) {
				t.Errorf("%s: a fact left that nobody has looked at: %s", event, text)
			}
		}
	}
}

func TestLeafThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, leaf := range []string{"", "{}", `{"v":1,"v":1}`, "x"} {
		if _, err := events.Of("o", audit.Entry{Leaf: []byte(leaf)}); !errors.Is(err, audit.ErrLeaf) {
			t.Errorf("%q: %v", leaf, err)
		}
	}
}
