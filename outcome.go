package verbatim

import (
	"encoding/json"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy"
)

// Status is the first word of every answer.
type Status string

// The statuses (semantics §10).
const (
	StatusOK               Status = "ok"
	StatusDenied           Status = "denied"
	StatusApprovalRequired Status = "approval_required"
	StatusInvalidArguments Status = "invalid_arguments"
	StatusInProgress       Status = "in_progress"
	StatusFailed           Status = "failed"
	StatusUncertain        Status = "uncertain"
)

// Outcome is what became of one call. It is what the caller may see; the
// internal reason of a decision is only in the record.
type Outcome struct {
	Status       Status
	Code         Code
	PublicReason string
	Tool         string
	ActionID     string // "" where no row exists: rejected input
	State        action.State
	ProposalHash string

	Output   []byte // the tool's answer, byte for byte
	IsError  bool   // the tool itself reported an error
	Evidence string // for failed: proved or reported
	Replayed bool   // a stored outcome; nothing ran now
	Joined   bool   // the answer of another call of the same action

	Stage      string           // for invalid_arguments
	Violations canon.Violations // for invalid_arguments
	Member     string           // what differs: approval_mismatch, approval_stale, target_changed
	ExpiresAt  time.Time        // for approval_required: when waiting ends
	Standing   string           // id of the standing grant that approved it in the place of votes

	// Receipt is the signed promise that the record of this outcome is in the
	// log, a DSSE envelope (docs/spec/log.md); nil where there is no record of
	// an action, and where Config.Receipts is nil.
	Receipt []byte

	Mode policy.ResultMode // how the caller wants it delivered

	read  bool // of a read that ran: it has no row
	asked bool // people were asked, and it may be that a standing grant answered
}

// Err returns the typed error of the outcome; nil where the call ran.
func (o Outcome) Err() error {
	switch o.Status {
	case StatusOK:
		return nil
	case StatusInProgress:
		if o.Code == CodeAuthorized { // its caller has the warrant
			return nil
		}
		return &InProgressError{o}
	case StatusInvalidArguments:
		return &ArgumentsError{Stage: o.Stage, Tool: o.Tool, Code: o.Code, Violations: o.Violations}
	case StatusApprovalRequired:
		return &ApprovalRequiredError{o}
	case StatusFailed:
		return &FailedError{o}
	case StatusUncertain:
		return &UncertainError{o}
	default:
		return &DeniedError{o}
	}
}

// Sentence is the one plain sentence for a model.
func (o Outcome) Sentence() string {
	text := o.Code.Text()
	if o.Status == StatusInvalidArguments && len(o.Violations) > 0 {
		text += " Problems: " + o.Violations.Error() + "."
	}
	if o.PublicReason != "" {
		text += " Reason: " + o.PublicReason
	}
	return text
}

// envelope is the wire form of an outcome (semantics §10).
type envelope struct {
	Status       Status       `json:"status"`
	Class        string       `json:"class,omitempty"`
	Code         Code         `json:"code"`
	PublicReason string       `json:"publicReason,omitempty"`
	Data         envelopeData `json:"data"`
}

type envelopeData struct {
	Tool         string           `json:"toolName,omitempty"`
	ActionID     string           `json:"actionId,omitempty"`
	State        action.State     `json:"state,omitempty"`
	ProposalHash string           `json:"proposalHash,omitempty"`
	Stage        string           `json:"stage,omitempty"`
	Member       string           `json:"member,omitempty"`
	Violations   canon.Violations `json:"violations,omitempty"`
	Evidence     string           `json:"evidence,omitempty"`
	Replayed     bool             `json:"replayed,omitempty"`
	Joined       bool             `json:"joined,omitempty"`
	ExpiresAt    string           `json:"expiresAt,omitempty"`
	Standing     string           `json:"standingGrant,omitempty"`
	Output       json.RawMessage  `json:"output,omitempty"`
}

// ClassForbidden is the class of every denial: a model learns that the tool
// is out of reach, not which rule said so.
const ClassForbidden = "tool_forbidden"

// Envelope returns the outcome as a JSON object for a model or an API client.
func (o Outcome) Envelope() []byte {
	e := envelope{Status: o.Status, Code: o.Code, PublicReason: o.PublicReason, Data: envelopeData{
		Tool: o.Tool, ActionID: o.ActionID, State: o.State, ProposalHash: o.ProposalHash,
		Stage: o.Stage, Member: o.Member, Violations: o.Violations, Evidence: o.Evidence,
		Replayed: o.Replayed, Joined: o.Joined, Standing: o.Standing}}
	if o.Status == StatusDenied {
		e.Class = ClassForbidden
	}
	if !o.ExpiresAt.IsZero() {
		e.Data.ExpiresAt = o.ExpiresAt.UTC().Format(time.RFC3339)
	}
	if json.Valid(o.Output) {
		e.Data.Output = o.Output
	}
	out, err := json.Marshal(e)
	if err != nil { // only an invalid Output could do that, and it was checked
		return []byte(`{"status":"failed","code":"record_failed","data":{}}`)
	}
	return out
}
