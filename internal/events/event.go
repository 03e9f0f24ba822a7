package events

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Schema names the form of events. Members may be added under it.
const Schema = "verbatim.governance_event.v1"

// The types of events about calls. What concerns people and the home itself
// has the type "verbatim.admin." and the name of the record's event.
const (
	PolicyAllowed     = "verbatim.policy.allowed"
	PolicyDenied      = "verbatim.policy.denied"
	PolicyChanged     = "verbatim.policy.changed"
	InputRejected     = "verbatim.input.rejected"
	ApprovalRequired  = "verbatim.approval.required"
	ApprovalVoted     = "verbatim.approval.voted"
	ApprovalGranted   = "verbatim.approval.granted"
	ApprovalRejected  = "verbatim.approval.rejected"
	ApprovalWithdrawn = "verbatim.approval.withdrawn"
	ApprovalExpired   = "verbatim.approval.expired"
	RunClaimed        = "verbatim.run.claimed"
	RunStarted        = "verbatim.run.started"
	RunCompleted      = "verbatim.run.completed"
	RunFailed         = "verbatim.run.failed"
	RunUncertain      = "verbatim.run.uncertain"
	RunAbandoned      = "verbatim.run.abandoned"
	Admin             = "verbatim.admin."
)

// The severities.
const (
	Debug = "debug"
	Info  = "info"
	Warn  = "warn"
	Error = "error"
)

// Event is one governance event.
type Event struct {
	SchemaVersion string `json:"schemaVersion"`
	ID            string `json:"id"` // the same for the same record and type
	Type          string `json:"type"`
	OccurredAt    string `json:"occurredAt"` // RFC 3339, by the store's clock
	Severity      string `json:"severity"`

	RunID     string `json:"runId"` // the action; the record where there is none
	Tenant    string `json:"tenant,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Model     string `json:"model,omitempty"`
	Actor     string `json:"actor,omitempty"`  // principal or account
	Status    string `json:"status,omitempty"` // completed, failed: of a run that has ended

	Subject Subject           `json:"subject"`
	Policy  *Policy           `json:"policy,omitempty"`
	Facts   map[string]string `json:"facts,omitempty"`

	ErrorName string `json:"errorName,omitempty"` // a code of docs/codes.md
	Run       *Run   `json:"run,omitempty"`       // of the last event of an action, where it is asked for
	Record    Record `json:"record"`
}

// Subject is what an event is about.
type Subject struct {
	Kind   string `json:"kind"` // run, tool, handoff, approval, policy, home
	Name   string `json:"name,omitempty"`
	CallID string `json:"callId,omitempty"`
	// Salted commitments of the log: equal only for the same record.
	ProposalCommitment string `json:"proposalCommitment,omitempty"`
	ArgsCommitment     string `json:"argsCommitment,omitempty"`
}

// Policy is what policy decided. Reasons stay in the store.
type Policy struct {
	Decision      string `json:"decision"` // allow, deny, require_approval
	PolicyVersion string `json:"policyVersion,omitempty"`
	Rules         string `json:"rules,omitempty"` // a JSON array
	Code          string `json:"code,omitempty"`
}

// Record is where the event comes from, so that it can be found and proved.
type Record struct {
	Log   string `json:"log"` // the name of the log
	Index int64  `json:"index"`
	ID    string `json:"id"`
	Event string `json:"event"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
}

// Of are the events of one entry of the log called origin, one or two.
func Of(origin string, e audit.Entry) ([]Event, error) {
	r, err := audit.ParseLeaf(e.Leaf)
	if err != nil {
		return nil, err
	}
	var out []Event
	for _, k := range kindsOf(r) {
		out = append(out, eventOf(origin, e.Index, r, k))
	}
	return out, nil
}

func eventOf(origin string, index int64, r audit.Record, k kind) Event {
	run := r.Action
	if run == "" {
		run = r.ID
	}
	ev := Event{SchemaVersion: Schema, ID: id(k.typ, run, r.ID), Type: k.typ, OccurredAt: r.At.UTC().Format(time.RFC3339Nano),
		Severity: k.severity, RunID: run, Tenant: r.Tenant, AgentName: r.Agent, Model: r.Facts["model"], Actor: r.By, Status: k.status,
		Subject: Subject{Kind: k.subject, Name: r.Tool, CallID: r.Facts["callId"],
			ProposalCommitment: r.Commitments["proposalHash"], ArgsCommitment: r.Commitments["arguments"]},
		Facts: factsOf(r), Record: Record{Log: origin, Index: index, ID: r.ID, Event: r.Event, From: r.From, To: r.To}}
	if madeUp(r) { // a name that nobody knows is the model's own text
		ev.Subject.Name = ""
	}
	if k.subject == "tool" && r.Facts["kind"] == "handoff" {
		ev.Subject.Kind = "handoff"
	}
	if k.decision != "" {
		ev.Policy = &Policy{Decision: k.decision, PolicyVersion: r.Facts["policyVersion"], Rules: r.Facts["rules"], Code: r.Code}
	}
	if k.failed {
		ev.ErrorName = r.Code
	}
	return ev
}

// madeUp reports whether the name of a record may be one that the model wrote
// and no catalog has. The agent that a handoff names is such a name, too, and
// the rules for handoffs go by it.
func madeUp(r audit.Record) bool {
	return r.Code == "unknown_tool" || r.Facts["kind"] == "handoff" || r.Event == audit.PolicyChanged || r.Event == audit.HandoffAllowed
}

// id is the same for the same record and type.
func id(typ, run, record string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{Schema, typ, run, record}, "|")))
	return hex.EncodeToString(sum[:])
}

// exported are the facts that leave: numbers, digests, words of closed lists,
// and names of accounts. A fact that is added to records stays until somebody
// has looked at it.
func exported() []string {
	return []string{"account", "approvalDigest", "attempt", "definition", "epoch", "evidence", "highImpact", "isError", "method", "mutation",
		"number", "owner", "size", "stage", "stops"}
}

func factsOf(r audit.Record) map[string]string {
	out := map[string]string{}
	for _, name := range exported() {
		if v := r.Facts[name]; v != "" {
			out[name] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// JSON is the event on one line.
func (e Event) JSON() ([]byte, error) { return marshal(e) }
