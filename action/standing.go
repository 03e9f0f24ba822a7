package action

import (
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// StandingGrant is bounded, reusable authority that people have signed: calls
// of one agent and one tool that are like the one it was made from need no
// vote of their own, for a while and so many times. It is narrower than
// policy: policy decides on every call as before, a grant of another policy
// version covers nothing, and no high-impact call is ever covered.
type StandingGrant struct {
	ID          string // random, never reused
	Tenant      string
	Principal   string
	Agent       string
	Owner       string // the human who owns the agent session
	Task        string // calls of exactly this task; "" covers calls without one
	GrantID     string // of the authority delegated to the session; "" if none
	GrantDigest canon.Digest
	Tool        string
	Definition  canon.Digest // of the tool definition that was decided on

	PolicyVersion string
	Source        string // id of the action that it was made from
	Scope         Scope
	MaxUses       int
	Requirements  []Requirement // who must have signed: those of the source
	StepUp        bool
	Nonce         string
	RequestedAt   time.Time // whole milliseconds
	ExpiresAt     time.Time // whole milliseconds; at most a day later
	Digest        canon.Digest

	// What follows changes, and nobody signs it.
	Uses      int
	Spent     int64     // of Scope.Total
	RevokedAt time.Time // zero: in force until it expires or is used up
	RevokedBy string
}

// Scope is the predicate over the snapshot: every member of the arguments has
// a rule, and a call with a member that has none is not covered.
type Scope struct {
	Members   []MemberRule      // in the order of their pointers
	Targets   []snapshot.Target // exactly these, unless AnyTarget
	AnyTarget bool
	Sum       string // pointer of the integer member that Total limits; "" if none
	Total     int64  // most that all uses together may add up to
}

// MemberRule says what one member of the arguments may be. An array counts as
// one member, and so does an empty object.
type MemberRule struct {
	Pointer string // RFC 6901
	Rule    string // RuleEqual, RuleMost or RuleAny
	Value   string // RFC 8785 text; "" for RuleAny
}

// The rules for one member.
const (
	RuleEqual = "equal" // exactly the value
	RuleMost  = "most"  // an integer from 0 to the value
	RuleAny   = "any"   // whatever it is, or no such member
)

// StandingFilter selects standing grants. Zero fields select everything.
type StandingFilter struct {
	Tenant    string
	Principal string
	Agent     string
	Tool      string
	Usable    bool   // only those that are in force and not used up
	Limit     int    // at most; 0 means 100
	Before    string // id of the last one of the page before; newest first
}
