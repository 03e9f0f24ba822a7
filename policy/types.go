package policy

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Effect is what policy says about one call. The zero value denies.
type Effect uint8

// The effects, strongest first: deny beats require_approval beats allow.
const (
	Deny Effect = iota
	RequireApproval
	Allow
)

// String returns the name on the wire; anything unknown is a deny.
func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case RequireApproval:
		return "require_approval"
	default:
		return "deny"
	}
}

// Runtime reasons: codes that the runtime gives, never a policy author
// (semantics §7).
const (
	ReasonNotConfigured    = "policy_not_configured"
	ReasonError            = "policy_error"
	ReasonInvalidResult    = "invalid_policy_result"
	ReasonTimeout          = "policy_timeout"
	ReasonMutatedArguments = "policy_mutated_arguments"
	ReasonNoMatchingRule   = "no_matching_rule"
	ReasonIdentitySpoof    = "identity_spoof"
	ReasonUnknownTool      = "unknown_tool"
	ReasonDryRunFailed     = "dry_run_failed"
)

// ResultMode says how a refusal reaches the model.
type ResultMode string

// The result modes; "" means the configured default.
const (
	Throw      ResultMode = "throw"
	ToolResult ResultMode = "tool_result"
)

// Decision is the answer of a policy. The zero Decision denies and is
// invalid (it has no reason), which also denies.
type Decision struct {
	Effect        Effect
	Code          string // runtime reason or "" for a rule's own decision
	Reason        string // mandatory; internal, never shown to the model
	PublicReason  string // may be shown to the model
	ResultMode    ResultMode
	PolicyVersion string
	ExpiresAt     time.Time // zero: never
	Metadata      map[string]string
	RaiseImpact   bool // raises the catalog's class to high; cannot lower it
	Approval      *Approval
	Rules         []string // ids of the rules that determined it
}

// Approval is what a require_approval decision asks for. Zero fields take the
// defaults of the contract.
type Approval struct {
	Requirements []action.Requirement
	Default      bool          // the catalog's groups (else the configuration's) must agree too; so they must if Requirements is empty
	TTL          time.Duration // an approval once given; at most 24 h, default 10 min
	PendingTTL   time.Duration // waiting for votes; at most 24 h, default 24 h
	StepUp       bool
}

// Tool is what the catalog says about a tool, as far as policy may see it.
type Tool struct {
	Name       string
	Mutation   bool
	HighImpact bool
	Impact     string // catalog impact class, such as "financial"
	Effect     string // effect class, such as "blind"
	Cataloged  bool   // false: listed by the upstream but not in the catalog
}

// ApprovalFacts is the evidence of an approval when policy runs again before
// the commit point.
type ApprovalFacts struct {
	ID     string
	Voters []string
	// Exact: arguments, targets, resolvers, definition, policy version, task and
	// grant are those that the voters saw. The gate runs nothing without it;
	// policy may use the fact, and need not.
	Exact bool
}

// Input is all that a policy may see: a view of the frozen snapshot and
// authenticated facts. Authorization is about Proposal; RawArguments and
// Requested are diagnostic copies.
type Input struct {
	Proposal     snapshot.Proposal
	Handoff      *snapshot.Handoff // set for a handoff; Proposal is then zero
	RawArguments []byte
	Requested    canon.Value
	Session      identity.Session
	Tool         Tool
	Turn         int
	RunContext   any // opaque, Go policies only
	Approval     *ApprovalFacts
	Now          time.Time

	view *handedView // set by Evaluate: the one view that it inspects afterwards
}

// Engine decides on frozen proposals. Any error denies with policy_error.
type Engine interface {
	// Decide answers for one proposal. Evaluate wraps it: callers never trust
	// its answer directly.
	Decide(ctx context.Context, in Input) (Decision, error)
	// Version is the digest of the rules that can apply to the tool.
	Version(tool string) string
}
