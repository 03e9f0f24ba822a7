package events

import (
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// kind is how one record shows as an event.
type kind struct {
	typ, severity, subject string
	decision               string // of policy
	status                 string // of a run that has ended
	failed                 bool   // the code is an error
}

// kindsOf are the kinds of a record: two where one record says that policy
// allowed a call and that its run began.
func kindsOf(r audit.Record) []kind {
	allowed := kind{typ: PolicyAllowed, severity: Info, subject: "tool", decision: "allow"}
	started := kind{typ: RunStarted, severity: Info, subject: "run"}
	switch r.Event {
	case audit.ActionStarted:
		if r.From == string(action.Received) {
			return []kind{allowed, started}
		}
		return []kind{started}
	case audit.ActionDenied:
		if r.From == string(action.PendingApproval) { // by a person, not by policy
			return []kind{{typ: ApprovalRejected, severity: Warn, subject: "approval", failed: true}}
		}
	case audit.ReadAllowed, audit.HandoffAllowed:
		return []kind{allowed}
	case audit.ActionSettled:
		if r.To == string(action.ReconciledSucceeded) {
			return []kind{completed()}
		}
		return []kind{failed()}
	}
	if k, ok := plainKinds()[r.Event]; ok {
		return []kind{k}
	}
	return []kind{{typ: Admin + r.Event, severity: severityOf(r.Event), subject: "home"}}
}

func completed() kind {
	return kind{typ: RunCompleted, severity: Info, subject: "run", status: "completed"}
}

func failed() kind {
	return kind{typ: RunFailed, severity: Error, subject: "run", status: "failed", failed: true}
}

// plainKinds are the events that show as one type, whatever else they say.
func plainKinds() map[string]kind {
	denied := kind{typ: PolicyDenied, severity: Warn, subject: "tool", decision: "deny", failed: true}
	withdrawn := kind{typ: ApprovalWithdrawn, severity: Warn, subject: "approval"}
	expired := kind{typ: ApprovalExpired, severity: Warn, subject: "approval", failed: true}
	return map[string]kind{
		audit.InputRejected:   {typ: InputRejected, severity: Warn, subject: "tool", failed: true},
		audit.ActionDenied:    denied,
		audit.ClaimDenied:     denied,
		audit.ActionSuspended: {typ: ApprovalRequired, severity: Warn, subject: "approval", decision: "require_approval"},
		audit.VoteApprove:     {typ: ApprovalVoted, severity: Info, subject: "approval"},
		audit.VoteReject:      {typ: ApprovalVoted, severity: Warn, subject: "approval"},
		audit.ActionApproved:  {typ: ApprovalGranted, severity: Info, subject: "approval"},
		audit.ActionDismissed: withdrawn,
		audit.ActionRevoked:   withdrawn,
		audit.ActionExpired:   expired,
		audit.ActionCutOff:    expired,
		audit.ActionClaimed:   {typ: RunClaimed, severity: Debug, subject: "run"},
		audit.ActionResent:    {typ: RunStarted, severity: Info, subject: "run"},
		audit.ActionSucceeded: completed(),
		audit.ActionFailed:    failed(),
		audit.ActionUncertain: {typ: RunUncertain, severity: Error, subject: "run", failed: true},
		audit.CallerLeft:      {typ: RunAbandoned, severity: Debug, subject: "run"},
		audit.PolicyChanged:   {typ: PolicyChanged, severity: Warn, subject: "policy"},
	}
}

// severityOf: what opens, closes or loses something is worth a look.
func severityOf(event string) string {
	switch event {
	case audit.Restored:
		return Error
	case audit.KeysForgotten, audit.PayloadsForgotten:
		return Debug
	case audit.InvitationEnded, audit.DelegationEnded:
		return Info
	default:
		return Warn
	}
}
