package events

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// RunSchema names the form of run records.
const RunSchema = "verbatim.run_record.v1"

// Run sums one action up that has ended. It has no question, no response and
// no items: payloads stay in the store.
type Run struct {
	SchemaVersion   string     `json:"schemaVersion"`
	RunID           string     `json:"runId"`
	StartedAt       string     `json:"startedAt"`
	CompletedAt     string     `json:"completedAt"`
	Status          string     `json:"status"` // completed, failed
	State           string     `json:"state"`  // of the action
	AgentName       string     `json:"agentName,omitempty"`
	Model           string     `json:"model,omitempty"`
	PolicyDecisions []Decision `json:"policyDecisions"`
	Votes           []Vote     `json:"votes,omitempty"`
	Attempts        int        `json:"attempts"`
	ErrorName       string     `json:"errorName,omitempty"`
	ContextRedacted bool       `json:"contextRedacted"` // always: nothing of the context is here
}

// Decision is one answer of policy.
type Decision struct {
	Timestamp     string   `json:"timestamp"`
	CallID        string   `json:"callId,omitempty"`
	Decision      string   `json:"decision"`
	PolicyVersion string   `json:"policyVersion,omitempty"`
	Rules         string   `json:"rules,omitempty"`
	Resource      Resource `json:"resource"`
}

// Resource is what policy was asked about.
type Resource struct {
	Kind string `json:"kind"` // tool, handoff
	Name string `json:"name,omitempty"`
}

// Vote is one vote.
type Vote struct {
	Timestamp string `json:"timestamp"`
	Voter     string `json:"voter"`
	Vote      string `json:"vote"` // approve, reject
}

// RunOf sums an action up from its entries, oldest first. It returns nil where
// the action has not ended with the last of them.
func RunOf(origin string, entries []audit.Entry) (*Run, error) {
	out := &Run{SchemaVersion: RunSchema, PolicyDecisions: []Decision{}, ContextRedacted: true}
	for _, e := range entries {
		all, err := Of(origin, e)
		if err != nil {
			return nil, err
		}
		for _, ev := range all {
			out.add(ev)
		}
	}
	if !action.State(out.State).Terminal() {
		return nil, nil
	}
	out.Status = "failed"
	if s := action.State(out.State); s == action.Succeeded || s == action.ReconciledSucceeded {
		out.Status, out.ErrorName = "completed", ""
	}
	return out, nil
}

func (r *Run) add(e Event) {
	if r.StartedAt == "" {
		r.StartedAt, r.RunID, r.AgentName, r.Model = e.OccurredAt, e.RunID, e.AgentName, e.Model
	}
	r.CompletedAt = e.OccurredAt
	if e.Record.To != "" {
		r.State = e.Record.To
	}
	if e.ErrorName != "" {
		r.ErrorName = e.ErrorName
	}
	if e.Policy != nil {
		kind := e.Subject.Kind
		if kind != "handoff" {
			kind = "tool"
		}
		r.PolicyDecisions = append(r.PolicyDecisions, Decision{e.OccurredAt, e.Subject.CallID, e.Policy.Decision,
			e.Policy.PolicyVersion, e.Policy.Rules, Resource{kind, e.Subject.Name}})
	}
	switch e.Record.Event {
	case audit.ActionStarted, audit.ActionResent:
		if e.Type == RunStarted {
			r.Attempts++
		}
	case audit.VoteApprove:
		r.Votes = append(r.Votes, Vote{e.OccurredAt, e.Actor, "approve"})
	case audit.VoteReject:
		r.Votes = append(r.Votes, Vote{e.OccurredAt, e.Actor, "reject"})
	}
}

// Ends reports whether the event is the last of an action, so that it may
// carry the run record.
func (e Event) Ends() bool { return e.Record.To != "" && action.State(e.Record.To).Terminal() }

// Time is when the event occurred; zero where its text is no time.
func (e Event) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, e.OccurredAt)
	if err != nil {
		return time.Time{}
	}
	return t
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
