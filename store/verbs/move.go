package verbs

import (
	"maps"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Move is one edge: the row as it is to be, and the record that goes with it
// in the same transaction.
type Move struct {
	To      action.Action
	Record  audit.Record
	Facts   Facts
	Secrets Secrets
}

// Codes of results that a store itself gives; all are of the closed list.
const (
	codeRejected  = "rejected"
	codeExpired   = "expired"
	codeRevoked   = "revoked"
	codeUncertain = "outcome_uncertain"
)

// Who acts where no person does.
const (
	ByLateReply = action.ByLateReply
	BySweeper   = "sweeper" // who ends what nobody ended in time
)

func ended(code, detail string) *action.Result { return &action.Result{Code: code, Detail: detail} }

// Claim takes an approved row, or one whose claim ran out, and raises its
// fence.
func Claim(row action.Action, now time.Time, lease time.Duration) (Move, error) {
	switch {
	case row.State != action.Approved && row.State != action.Claimed:
		return Move{}, action.ErrState
	case row.State == action.Claimed && now.Before(row.LeaseUntil):
		return Move{}, action.ErrState
	case !now.Before(row.Deadline):
		return Move{}, action.ErrLate
	}
	to := row
	to.State, to.Fence, to.LeaseUntil = action.Claimed, row.Fence+1, now.Add(lease)
	return Move{To: to, Record: about(audit.ActionClaimed, row.State, to, row.Principal),
		Facts: Facts{"fence": strconv.FormatInt(to.Fence, 10)}}, nil
}

// Void ends a claimed row as denied.
func Void(row, a action.Action) (Move, error) {
	if row.State != action.Claimed {
		return Move{}, action.ErrState
	}
	if row.Fence != a.Fence {
		return Move{}, action.ErrFence
	}
	to := row
	to.State, to.Decision, to.LeaseUntil = action.Denied, a.Decision, time.Time{}
	to.Result = ended(a.Decision.Code, a.Decision.Reason)
	return Move{To: to, Record: about(audit.ClaimDenied, row.State, to, row.Principal),
		Facts: Facts{"policyVersion": to.Decision.PolicyVersion}, Secrets: Secrets{"reason": []byte(to.Decision.Reason)}}, nil
}

// Dismiss ends a pending or approved row for its requester.
func Dismiss(row action.Action, principal string) (Move, error) {
	if row.Principal != principal {
		return Move{}, action.ErrNotFound
	}
	if row.State != action.PendingApproval && row.State != action.Approved {
		return Move{}, action.ErrState
	}
	return withdrawn(row, action.Revoked, audit.ActionDismissed, principal, "dismissed by the requester"), nil
}

// Revoke ends a pending, approved or claimed row for whoever may vote on it
// and for operators.
func Revoke(row action.Action, who action.Person, reason string) (Move, error) {
	if err := mayRevoke(row, who); err != nil {
		return Move{}, err
	}
	if !action.CanMove(row.State, action.Revoked) {
		return Move{}, action.ErrState
	}
	return withdrawn(row, action.Revoked, audit.ActionRevoked, who.ID, reason), nil
}

// withdrawn ends a row without having run.
func withdrawn(row action.Action, state action.State, event, by, detail string) Move {
	code := codeRevoked
	if state == action.Expired {
		code = codeExpired
	}
	to := row
	to.State, to.LeaseUntil, to.Result = state, time.Time{}, ended(code, detail)
	r := about(event, row.State, to, by)
	r.Code = code
	return Move{To: to, Record: r, Secrets: Secrets{"reason": []byte(detail)}}
}

// Expire ends an overdue row: as uncertain where it may have run.
func Expire(row action.Action) Move {
	if row.State != action.Executing {
		return withdrawn(row, action.Expired, audit.ActionExpired, BySweeper, "nobody decided or ran it in time")
	}
	to := row
	to.State, to.LeaseUntil = action.Uncertain, time.Time{}
	to.Result = ended(codeUncertain, "the process that ran it has not said how it ended")
	return finished(row, to, BySweeper)
}

// Left notes that nobody waits for the answer any more; false where there is
// nothing to note.
func Left(row action.Action) (audit.Record, bool) {
	return about(audit.CallerLeft, row.State, row, row.Principal), !row.State.Terminal() && !row.CallerGone
}

// Admit checks a vote before it is kept. That nobody votes twice is the
// store's to check.
func Admit(row action.Action, v action.Vote, who action.Person, now time.Time) error {
	switch {
	case who.Tenant != row.Tenant: // who may not know that the row exists
		return action.ErrNotFound
	case row.State != action.PendingApproval || row.Terms == nil:
		return action.ErrState
	case !now.Before(row.Deadline):
		return action.ErrLate
	case v.Digest != row.Terms.Digest:
		return action.ErrDigest
	}
	if err := approval.Eligible(*row.Terms, approval.ProposerOf(row), who); err != nil {
		return err
	}
	if v.Approve && !approval.SteppedUp(row, v, now) { // saying no takes no more than being somebody who may
		return action.ErrStepUp
	}
	return nil
}

// VoteRecord is the record of a vote. ties are those of its voter.
func VoteRecord(row action.Action, v action.Vote, ties Facts) (audit.Record, Facts, Secrets) {
	event := audit.VoteReject
	if v.Approve {
		event = audit.VoteApprove
	}
	f := Facts{"method": v.Method, "approvalDigest": v.Digest.String(), "voteDigest": approval.VoteDigest(v).String(), "for": forText(v)}
	maps.Copy(f, ties)
	return about(event, row.State, row, v.Voter), f,
		Secrets{"envelope": v.Envelope, "reason": []byte(v.Reason)}
}

// Ties are the facts of a vote that tell what ties its voter to the person
// whose agent asks, so that nobody decides on their own agent's action, or by
// an account that they have made for it, without a trace. inviters are those
// by whose invitation the voter's account was made, nearest first.
func Ties(row action.Action, who action.Person, inviters []action.Person) Facts {
	f := Facts{"tie": approval.Kinship(approval.ProposerOf(row), who, inviters)}
	if len(inviters) > 0 {
		f["invitedBy"] = inviters[0].ID
	}
	return f
}

// forText names those whom a voter stood in for, or "".
func forText(v action.Vote) string {
	if len(v.For) == 0 {
		return ""
	}
	return ListText(v.For)
}

// Count moves the row when the vote decides; false where it does not.
func Count(row action.Action, v action.Vote, standing approval.Standing, now time.Time) (Move, bool) {
	to, event := row, audit.ActionApproved
	switch {
	case !v.Approve || standing == approval.Refused:
		to.State, to.Result, event = action.Denied, ended(codeRejected, v.Reason), audit.ActionDenied
	case standing == approval.Enough:
		to.State, to.Deadline = action.Approved, earlier(now.Add(row.Terms.TTL), row.Terms.ExpiresAt)
	default:
		return Move{}, false
	}
	r := about(event, row.State, to, v.Voter)
	if to.State == action.Denied {
		r.Code = codeRejected
	}
	return Move{To: to, Record: r,
		Facts: Facts{"approvalDigest": row.Terms.Digest.String(), "policyVersion": row.Decision.PolicyVersion}}, true
}
