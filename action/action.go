package action

import (
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Action is the durable row of one proposed action. Stores return copies.
type Action struct {
	ID          string // random, never reused
	Kind        Kind
	Tenant      string
	Principal   string
	Agent       string
	Owner       string // the human who owns the agent session
	Task        string
	GrantID     string
	GrantDigest canon.Digest
	Tool        string
	Definition  canon.Digest // of the tool definition that was decided on
	Mutation    bool
	HighImpact  bool

	State      State
	Fence      int64     // moves with every claim; a stale holder loses
	LeaseUntil time.Time // zero unless claimed or executing
	Attempt    int
	CreatedAt  time.Time // database clock
	UpdatedAt  time.Time
	Deadline   time.Time // when pending or approved ends by itself; zero if never

	Fingerprint canon.Digest // of tenant, principal, tool, targets and proposal hash
	Hash        snapshot.ProposalHash
	Targets     []snapshot.Target
	Evidence    []snapshot.Evidence
	Changes     []canon.Change
	Key         string // idempotency key; "" if none
	Supersedes  string // id of the uncertain action that this one replaces; "" if none
	CallerGone  bool   // nobody waits for the answer any more; a retry joins
	Model       string // who proposed: model name as the host states it
	CallID      string // the provider's call id; never a key

	Decision Decision
	Terms    *Terms // nil unless approval is required
	Payload  Payload
	Result   *Result // nil until the action has ended

	// ErasedAt is when what tells of the arguments was destroyed: payload,
	// proposal hash, targets and internal reason are empty then. Zero: never.
	ErasedAt time.Time

	// Executor is the audience of the warrant that the run goes with; "" if it
	// goes without. The record of the commit point has it, the row does not.
	Executor string

	// Leaf is the record that the verb which returned this row has written, as
	// it stands in the log or, without its number yet, will. It is nil in rows
	// that were only read.
	Leaf []byte
}

// Kind is call or handoff.
type Kind string

// The kinds of action.
const (
	KindCall    Kind = "call"
	KindHandoff Kind = "handoff"
)

// Payload holds what may be sensitive. Stores keep it sealed beside the row.
type Payload struct {
	Raw       []byte // exact bytes proposed
	Requested string // RFC 8785 form before the schema; diagnostic
	Args      string // argsCanonicalJson: what runs
	Preview   string // RFC 8785 form of the dry-run result; "" if none
	Facts     string // what else the decision may have read (policy.Facts); "" in rows of before it was recorded
}

// Decision is what policy said, as stored.
type Decision struct {
	Effect        string   `json:"decision"` // deny, allow, require_approval
	Code          string   `json:"code"`     // closed list
	Reason        string   `json:"reason"`   // internal
	PublicReason  string   `json:"publicReason,omitempty"`
	ResultMode    string   `json:"resultMode,omitempty"`
	PolicyVersion string   `json:"policyVersion"`
	Rules         []string `json:"rules,omitempty"` // that determined it
}

// Group is one way to satisfy a requirement: this many votes of this group.
type Group struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
}

// Requirement says which humans must agree. Any one group with enough
// distinct voters satisfies it; several requirements count together.
type Requirement struct {
	AnyOf []Group `json:"anyOf"`
}

// Terms are what one approval must satisfy and what it binds.
type Terms struct {
	Requirements []Requirement
	PendingUntil time.Time     // a pending proposal ends here
	TTL          time.Duration // an approval once given is good for this long
	StepUp       bool          // a fresh, strong login is needed
	Nonce        string
	RequestedAt  time.Time
	ExpiresAt    time.Time    // the hard end of both clocks, bound by the digest
	Preview      canon.Digest // dryRunDigest; zero if none
	Digest       canon.Digest // approvalDigest
}

// Vote is one human's signed answer. Envelope is the DSSE envelope that
// verifies offline; the store keeps it, the commit point checks it again.
type Vote struct {
	ActionID string
	Voter    string // account id
	Approve  bool
	Reason   string
	Digest   canon.Digest // approvalDigest that the voter was shown
	Nonce    string
	Method   string // MethodPassword, MethodPasskey or MethodOIDC
	Envelope []byte
	At       time.Time // database clock; set by the store
	// LoginAt is when the voter proved who they are, where no passkey signed
	// the vote, and Login a DSSE envelope that says so; zero and nil if nobody does.
	LoginAt time.Time
	Login   []byte
	// For lists the accounts that the voter stood in for; set by the store.
	For []string
}

// The methods of a vote: the voter's password, typed for this one vote, the
// voter's passkey, which signed it, or a fresh login at an identity provider.
const (
	MethodPassword = "password"
	MethodPasskey  = "passkey"
	MethodOIDC     = "oidc"
)

// Evidence grades why an action is believed to have failed.
const (
	EvidenceProved   = "proved"   // it cannot have run
	EvidenceReported = "reported" // the tool said so
)

// Result is how an action ended.
type Result struct {
	Output     []byte // exact bytes that the tool answered; sealed in the store
	IsError    bool   // the tool itself reported an error
	Evidence   string // for failed: proved or reported
	Code       string // closed list
	Detail     string // internal, without argument values
	Comparison string // what the executor compared, such as "equal"
	At         time.Time
}
