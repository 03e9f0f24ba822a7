package verbatim

import (
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
)

// outcomeOf words a stored action for its caller.
func outcomeOf(a action.Action) Outcome {
	o := Outcome{Tool: a.Tool, ActionID: a.ID, State: a.State, ProposalHash: a.Hash.String(),
		PublicReason: a.Decision.PublicReason, Mode: policy.ResultMode(a.Decision.ResultMode)}
	o.Code = stateCode(a)
	o.Status = statusOf(o.Code)
	if a.State == action.PendingApproval && a.Terms != nil {
		o.ExpiresAt = a.Terms.PendingUntil
	}
	o.asked = a.Terms != nil && !a.HighImpact && a.Kind == action.KindCall && a.State != action.PendingApproval
	if a.Result != nil {
		o.Output, o.IsError, o.Evidence = a.Result.Output, a.Result.IsError, a.Result.Evidence
	}
	return o
}

// stateCode is the code of an action by its state.
func stateCode(a action.Action) Code {
	switch a.State {
	case action.Succeeded, action.ReconciledSucceeded:
		return CodeOK
	case action.PendingApproval, action.Approved:
		return CodeApprovalRequired
	case action.Received, action.Claimed, action.Executing:
		return CodeInProgress
	case action.Uncertain:
		return CodeOutcomeUncertain
	case action.Expired:
		return expiredCode(a)
	case action.Revoked:
		return CodeRevoked
	case action.Failed, action.ReconciledFailed:
		return failedCode(a)
	default:
		return deniedCode(a)
	}
}

// expiredCode: a row that a restored backup had open may have run since, so
// nobody can say that it did not.
func expiredCode(a action.Action) Code {
	if a.Result != nil && a.Result.Code == string(CodeOutcomeUncertain) {
		return CodeOutcomeUncertain
	}
	return CodeExpired
}

func failedCode(a action.Action) Code {
	if a.Result != nil && Code(a.Result.Code).Known() {
		return Code(a.Result.Code)
	}
	return CodeToolError
}

// deniedCode: a denied row that had asked for approval was rejected by a
// person, unless the runtime voided it with a code of its own.
func deniedCode(a action.Action) Code {
	code := Code(a.Decision.Code)
	if a.Terms != nil && code == CodeApprovalRequired {
		return CodeRejected
	}
	if code.Known() {
		return code
	}
	return CodePolicyDenied
}

// statusOf is the status that goes with a code.
func statusOf(c Code) Status {
	switch c {
	case CodeOK:
		return StatusOK
	case CodeApprovalRequired, CodeNoApprover:
		return StatusApprovalRequired
	case CodeInvalidArguments, CodeTargetUnresolved, CodeTargetAmbiguous:
		return StatusInvalidArguments
	case CodeInProgress, CodeAuthorized:
		return StatusInProgress
	case CodeOutcomeUncertain:
		return StatusUncertain
	case CodeToolError, CodeToolNotRun, CodeToolTimeout, CodeToolResultTooLarge, CodeRecordFailed, CodeArgumentsChanged, CodeWarrantRefused:
		return StatusFailed
	default:
		return StatusDenied
	}
}
