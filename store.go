package verbatim

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Store keeps actions. It is cut by state change: every verb is one durable
// transaction that checks the edge, moves the row and writes the audit
// record, or changes nothing. If the record cannot be written, nothing
// changes. The errors are those of package action.
//
// The clock that decides is the database's.
type Store interface {
	Reader

	// RejectInput records input that failed before the snapshot.
	RejectInput(ctx context.Context, r action.Rejection) error

	// Decide records a decision that starts nothing durable: a new denied
	// row; the event of an allowed read (no row; committed, its sync not
	// awaited); or, with a fence, the end of a claimed row as denied.
	Decide(ctx context.Context, a action.Action) (action.Action, error)

	// Suspend stores a new pending row with its Terms.
	// It fails with ErrKeyTaken or ErrUncertain beside the row in the way.
	Suspend(ctx context.Context, a action.Action) (action.Action, error)

	// Vote adds one vote and moves the row when the votes are enough or one
	// rejects. It fails with ErrState, ErrLate, ErrDigest, ErrVoted or
	// ErrIneligible.
	Vote(ctx context.Context, v action.Vote) (action.Action, error)

	// Dismiss ends a pending or approved row for its requester.
	Dismiss(ctx context.Context, id, principal string) (action.Action, error)

	// Revoke ends a pending, approved or claimed row for an approver or
	// operator. From executing on it fails with ErrState.
	Revoke(ctx context.Context, id, account, reason string) (action.Action, error)

	// Expire ends what is overdue: pending and approved rows past their
	// deadline as expired, executing rows past their lease as uncertain.
	// With orphans, executing rows of an earlier process are uncertain at
	// once and every waiting caller counts as gone. It returns the rows moved.
	Expire(ctx context.Context, orphans bool) ([]action.Action, error)

	// Grant keeps a standing grant with its first signature, under the rules of
	// a vote on its source. It fails with ErrStanding, ErrStale, or as Vote does.
	Grant(ctx context.Context, g action.StandingGrant, v action.Vote) (action.StandingGrant, error)

	// SignGrant adds a further signature; v.ActionID is the grant's id.
	SignGrant(ctx context.Context, v action.Vote) (action.StandingGrant, error)

	// RevokeGrant ends a standing grant for whoever may sign it, an operator, or
	// the person whose agent it is for. Once it has returned no run begins under it.
	RevokeGrant(ctx context.Context, tenant, id, account string) (action.StandingGrant, error)

	// Cover approves a pending row by a standing grant in the place of votes. The
	// grant is used at the commit point, which fails with ErrIneligible where
	// it is over, revoked or used up by then. It fails with ErrStanding where
	// the grant does not cover the row.
	Cover(ctx context.Context, id, grant string) (action.Action, error)

	// Claim takes an approved row (or one whose claim ran out) and raises its
	// fence.
	Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error)

	// Begin is the commit point. In one transaction it checks the fence, the
	// deadline, the votes and voters, the policy version, stops and the
	// uncertain fingerprint; reserves what the run takes from its limits, or
	// fails with a *action.LimitError; consumes the approval; writes the
	// attempt; and moves the row to executing.
	Begin(ctx context.Context, s action.Start) (action.Action, error)

	// Finish leaves executing. A late success of the same attempt settles an
	// uncertain row as reconciled_succeeded. The reservations of the action
	// move with it (action.SettledReservation), here and in Reconcile.
	Finish(ctx context.Context, e action.Ending) (action.Action, error)

	// Reconcile settles an uncertain row.
	Reconcile(ctx context.Context, r action.Reconciliation) (action.Action, error)

	// Leave notes that nobody waits for the answer any more.
	Leave(ctx context.Context, id string) error

	// Stop turns the freeze switch: nothing that it covers starts any more. It
	// says how many covered runs are under way; they go on. By is
	// action.ByHost or an active account of the tenant (of any, where
	// everything is stopped), else ErrIneligible.
	Stop(ctx context.Context, s action.Stop) (running int, err error)

	// Resume lifts a stop for an account that may ([action.Stop.MayLift]).
	// It fails with ErrNotFound where no such stop stands, or ErrIneligible.
	Resume(ctx context.Context, s action.Stop) error

	// ForgetKeys forgets idempotency keys of actions that ended longer ago
	// than keep, at least action.MinKeyRetention, and says how many. Keys of
	// open and uncertain actions are kept. A key that is forgotten is new.
	ForgetKeys(ctx context.Context, keep time.Duration) (int, error)

	// Erase destroys what tells of the arguments of an action that has ended:
	// its payload, proposal hash, targets, internal reason, and the salts of
	// its records. The records stay. An operator may, or any active account of
	// the tenant where there is none; else ErrIneligible. One that has not ended
	// is ErrState; one that is erased already comes back as it is. The key of
	// its payload is not the store's to destroy ([Config.Erase]).
	Erase(ctx context.Context, tenant, id, account, reason string) (action.Action, error)

	// ForgetPayloads erases, as Erase does, every action of a class that has
	// ended and whose day is longer ago than the class is kept, and the salts of
	// records of reads and refused input without a row. The log keeps one record
	// for many. What has not ended is held until it has. It says of which days
	// the keys may be destroyed, and of which rows not. It may be called as often
	// as one likes. A retention below action.MinRetention is refused.
	ForgetPayloads(ctx context.Context, keep action.Retention) (action.Forgotten, error)

	// SetPolicy notes the digest of the rules that apply to a tool and
	// returns the policy version: the digest with the tool's epoch, which
	// moves only when the digest does.
	SetPolicy(ctx context.Context, tenant, tool string, digest canon.Digest) (version string, err error)

	// Ledger is the log over the records that the verbs write.
	audit.Ledger

	// Followers are the places of those who hand the records on.
	audit.Followers
}

// Reader is what pages and commands may ask a store.
type Reader interface {
	Now(ctx context.Context) (time.Time, error)
	Action(ctx context.Context, tenant, id string) (action.Action, error)
	ByKey(ctx context.Context, tenant, principal, key string) (action.Action, error)
	// Joinable returns the rows without a key and with a fingerprint that another
	// call may take up, oldest first: those in flight whose caller has gone, and
	// those that are approved or claimed.
	Joinable(ctx context.Context, tenant, principal string, fingerprint canon.Digest) ([]action.Action, error)
	Actions(ctx context.Context, f action.Filter) ([]action.Action, error)
	Votes(ctx context.Context, tenant, id string) ([]action.Vote, error)
	Person(ctx context.Context, tenant, id string) (action.Person, error)
	// Grants lists standing grants, newest first.
	Grants(ctx context.Context, f action.StandingFilter) ([]action.StandingGrant, error)
	// StandingGrant returns one standing grant, GrantVotes its signatures, oldest
	// first, and CoveredBy the grant that approved an action: ErrNotFound where
	// none did.
	StandingGrant(ctx context.Context, tenant, id string) (action.StandingGrant, error)
	GrantVotes(ctx context.Context, tenant, id string) ([]action.Vote, error)
	CoveredBy(ctx context.Context, tenant, id string) (action.StandingGrant, error)
	// Counts counts the open actions of a tenant by state (action.Open).
	Counts(ctx context.Context, tenant string) ([]action.Count, error)
	// Budgets lists windows of limits: those that end last first, then by
	// name, scope and currency.
	Budgets(ctx context.Context, f action.BudgetFilter) ([]action.Budget, error)
	// SentTo names the server that the latest attempt of an action went to;
	// zero where the host's own code ran. ErrNotFound without an attempt.
	SentTo(ctx context.Context, tenant, id string) (canon.Digest, error)
	// Reservations lists what an action took from limits, in lock order.
	Reservations(ctx context.Context, tenant, id string) ([]action.Reservation, error)
	// Earlier counts what took effect before and is like an action of any
	// state. Of the action it reads ID, Tenant, Principal, Tool, Targets and
	// Fingerprint.
	Earlier(ctx context.Context, a action.Action) (action.Earlier, error)
	// Stops lists what is stopped for a tenant, stops of everything included.
	Stops(ctx context.Context, tenant string) ([]action.Stop, error)
	Records(ctx context.Context, f audit.Filter) ([]audit.Record, error)
}
