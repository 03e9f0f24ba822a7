package action

import (
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Rejection is input that failed before the snapshot: an event without
// payload, no decision and no row (semantics §5).
type Rejection struct {
	Tenant    string
	Principal string
	Agent     string
	Tool      string // as asked for, if it is a known tool; else ""
	Stage     string // json, schema, resolve or snapshot
	Code      string
	Size      int          // of the raw arguments in bytes
	Digest    canon.Digest // of the raw arguments
}

// Start asks for the commit point: the durable executing state before the
// first byte leaves. The row is new (ID as chosen, Fence 0) for a call that
// policy allowed, or claimed (with its fence) for an approved one, or, with
// Resend, uncertain (with its fence).
type Start struct {
	Action Action
	Lease  time.Duration // how long before a sweeper calls it uncertain
	Limits []Limit       // what the run takes; all of it is reserved, or nothing starts
	Resend *Resend       // nil unless the one attempt is to be sent again
	// Server names the server that the attempt goes to; zero where the host's
	// own code runs. An attempt that is sent again keeps the one it had.
	Server canon.Digest
	// Written, if not nil, is told of the row with its Leaf when all of it is
	// written and the commit is about to begin, so that what depends on the row
	// can be made ready while the disk works. It is a forecast: the commit may
	// fail, and then the row never was, or is written once more and told of
	// again. Only what Begin returns is true. A store may leave it out; what it
	// tells of must not change later, and it is not called once Begin has
	// returned. It returns at once and does not use the store.
	Written func(Action)
}

// Resend asks to send the attempt of an uncertain action again, under its
// own provider key (reliability 1.2, T12). The fence is raised, so that
// whoever sent it first can no longer end it.
type Resend struct {
	// Retention is how long after the first send the provider still knows the
	// key, or the tool may be called again. The lease must end inside it.
	Retention time.Duration
	// Alone refuses where another action has begun since on one of the
	// targets: what is set again would undo it.
	Alone bool
}

// Ending asks to leave executing.
type Ending struct {
	ID     string
	Fence  int64
	State  State // Succeeded, Failed or Uncertain
	Result Result
}

// Reconciliation settles an uncertain action.
type Reconciliation struct {
	ID       string
	State    State  // ReconciledSucceeded or ReconciledFailed
	By       string // account id of the operator, ByLateReply or ByProvider
	Evidence string // why it is believed; internal
	Result   *Result
	// Retention must be set where ByProvider says ReconciledFailed: how long
	// after the first send the provider still knows the key. Later it might
	// cancel what it has forgotten.
	Retention time.Duration
}

// Who settles an action where no person does. Only the gate may say so.
const (
	ByLateReply = "late_reply" // the tool itself answered late
	ByProvider  = "provider"   // it was asked: a look-up, or a cancellation that it took
)

// Filter selects actions. Zero fields select everything.
type Filter struct {
	Tenant    string
	Principal string
	Tool      string
	States    []State
	Voter     string    // account that has voted on it
	From      time.Time // created then or later
	Until     time.Time // created before
	Limit     int       // at most; 0 means 100
	Before    string    // id of the last row of the page before; newest first
}

// Person is an account as far as votes care.
type Person struct {
	ID        string
	Name      string
	Tenant    string
	Principal string   // the principal that this person is, when an agent runs for them
	Identity  string   // at an identity provider (see [Identity]); "" for an account of this server
	Groups    []string // of the tenant
	Active    bool
	For       []Person // whom the person stands in for at the moment; theirs is empty
}

// Is reports whether a session's principal or owner names this very person: by
// account, by principal or by who they are at an identity provider.
func (p Person) Is(name string) bool {
	return name != "" && (name == p.ID || name == p.Principal || name == p.Identity)
}

// Identity names somebody at an identity provider as the owner of a session;
// "" without a subject. An issuer has no fragment.
func Identity(issuer, subject string) string {
	if subject == "" {
		return ""
	}
	return issuer + "#" + subject
}
