package verbatim

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Code is one word of the closed list that library, HTTP, MCP, CLI and
// records share (semantics §12).
type Code string

// The codes. Each has a sentence for the model in codeTexts.
const (
	CodeOK                  Code = "ok"
	CodeInvalidArguments    Code = "invalid_arguments"
	CodeInvalidRequest      Code = "invalid_request"
	CodeUnknownTool         Code = "unknown_tool"
	CodeDefinitionChanged   Code = "definition_changed"
	CodeToolRefused         Code = "tool_refused"
	CodeInvalidSession      Code = "invalid_session"
	CodePolicyDenied        Code = "policy_denied"
	CodePolicyChanged       Code = "policy_changed"
	CodePolicyNotConfigured Code = "policy_not_configured"
	CodePolicyError         Code = "policy_error"
	CodeInvalidPolicyResult Code = "invalid_policy_result"
	CodePolicyTimeout       Code = "policy_timeout"
	CodePolicyMutatedArgs   Code = "policy_mutated_arguments"
	CodeNoMatchingRule      Code = "no_matching_rule"
	CodeIdentitySpoof       Code = "identity_spoof"
	CodeDryRunFailed        Code = "dry_run_failed"
	CodeTargetUnresolved    Code = "target_unresolved"
	CodeTargetAmbiguous     Code = "target_ambiguous"
	CodeTargetChanged       Code = "target_changed"
	CodeApprovalRequired    Code = "approval_required"
	CodeNoApprover          Code = "no_approver"
	CodeApprovalMismatch    Code = "approval_mismatch"
	CodeApprovalStale       Code = "approval_stale"
	CodeApprovalUnknown     Code = "approval_unknown"
	CodeApprovalConsumed    Code = "approval_consumed"
	CodeApprovalUnverified  Code = "approval_unverified"
	CodeRejected            Code = "rejected"
	CodeExpired             Code = "expired"
	CodeRevoked             Code = "revoked"
	CodeInProgress          Code = "in_progress"
	CodeOutcomeUncertain    Code = "outcome_uncertain"
	CodeIdempotencyMismatch Code = "idempotency_mismatch"
	CodeStopped             Code = "stopped"
	CodeLimitExceeded       Code = "limit_exceeded"
	CodeLimitUncountable    Code = "limit_uncountable"
	CodeTooLate             Code = "too_late"
	CodeToolError           Code = "tool_error"
	CodeToolNotRun          Code = "tool_not_run"
	CodeToolTimeout         Code = "tool_timeout"
	CodeToolResultTooLarge  Code = "tool_result_too_large"
	CodeRecordFailed        Code = "record_failed"
	CodeAuthorized          Code = "authorized"
	CodeNoExecutor          Code = "no_executor"
	CodeArgumentsChanged    Code = "arguments_changed"
	CodeWarrantRefused      Code = "warrant_refused"
	CodeWarrantUnknown      Code = "warrant_unknown"
	CodeNotSigned           Code = "not_signed"
	CodeOverloaded          Code = "overloaded"
)

// codeTexts is the closed list: every code with the sentence that a model
// may be shown. docs/codes.md is generated from it.
var codeTexts = map[Code]string{
	CodeOK:                  "The call ran.",
	CodeInvalidArguments:    "The arguments were refused. Nothing was decided and nothing ran. Correct them and call again.",
	CodeInvalidRequest:      "The request itself cannot be read in one way. Nothing was decided and nothing ran.",
	CodeUnknownTool:         "There is no such tool here. Use only listed tools.",
	CodeDefinitionChanged:   "The tool's definition is not the one that was approved for use. An operator must review it first.",
	CodeToolRefused:         "The tool's definition cannot be enforced, so the tool is closed. An operator must look at it.",
	CodeInvalidSession:      "The caller is not known well enough to act. An operator must look at the configuration.",
	CodePolicyChanged:       "The rules changed while this call was on its way. It did not run. Propose it again if it is still wanted.",
	CodePolicyDenied:        "Policy does not allow this call. Do not repeat it.",
	CodePolicyNotConfigured: "No policy is configured, so nothing is allowed. An operator must add one.",
	CodePolicyError:         "Policy could not be evaluated for this call, so it is denied.",
	CodeInvalidPolicyResult: "Policy gave no valid answer for this call, so it is denied.",
	CodePolicyTimeout:       "Policy gave no answer in time, so the call is denied.",
	CodePolicyMutatedArgs:   "Policy changed the arguments that it was shown, so the call is denied.",
	CodeNoMatchingRule:      "No rule allows this call. Do not repeat it.",
	CodeIdentitySpoof:       "The arguments name somebody other than the authenticated user. Leave that member out or use the user's own.",
	CodeDryRunFailed:        "The dry run that must come before this call failed, so the call is denied.",
	CodeTargetUnresolved:    "A name in the arguments could not be resolved. Nothing was decided. Use a known name.",
	CodeTargetAmbiguous:     "A name in the arguments stands for several things. Nothing was decided. Use an exact name.",
	CodeTargetChanged:       "A name in the arguments now stands for something else than when the call was decided on. It did not run. Propose it again if it is still wanted.",
	CodeApprovalRequired:    "A person must approve this call first. It has not run. Do not change it; the same call runs once it is approved.",
	CodeNoApprover:          "A person must approve this call, but nobody can yet: the owner must run \"verbatim setup\" in a terminal first. The call has not run.",
	CodeApprovalMismatch:    "The approval named is for other arguments. The call did not run and the approval is untouched.",
	CodeApprovalStale:       "What the approval was given for has changed, so it no longer holds. The call did not run. Propose it again if it is still wanted.",
	CodeApprovalUnknown:     "There is no such approval for this caller and tool. The call did not run.",
	CodeApprovalConsumed:    "The approval was used already. The call did not run again.",
	CodeApprovalUnverified:  "The votes behind the approval could not be verified. The call did not run.",
	CodeRejected:            "A person rejected this call. It did not run. Do not propose it again unless asked to.",
	CodeExpired:             "Nobody approved this call in time. It did not run.",
	CodeRevoked:             "The approval of this call was withdrawn. It did not run.",
	CodeInProgress:          "This very call is running already. Do not start it again; ask for its outcome later.",
	CodeOutcomeUncertain:    "It is not known whether this call took effect. Do not repeat it; a person must find out first.",
	CodeIdempotencyMismatch: "The idempotency key was used for another call. Use a new key for a new call.",
	CodeStopped:             "An operator has stopped calls of this kind for now. It did not run, and nobody was asked. Do not try again until told to.",
	CodeLimitExceeded:       "What such calls may add up to is used up, or would be passed. It did not run. Do not split it or try again; say so instead.",
	CodeLimitUncountable:    "The call cannot be counted against a limit, because a member that says how much is missing or of no use. It did not run.",
	CodeTooLate:             "The action has gone too far for that.",
	CodeToolError:           "The tool reported an error. That is the tool's own word.",
	CodeToolNotRun:          "The tool could not be reached. Nothing was sent, so nothing happened.",
	CodeToolTimeout:         "The tool gave no answer in time.",
	CodeToolResultTooLarge:  "The tool's answer was too large to pass on.",
	CodeAuthorized:          "The call may run now, once, with its warrant. It is recorded as under way; report how it ended.",
	CodeNoExecutor:          "Nobody is named who could run this tool for its caller. Call it instead, or have an operator name its executor.",
	CodeArgumentsChanged:    "The executor received other arguments than those that were decided on.",
	CodeWarrantRefused:      "The executor refused the warrant, so the tool did not run. That is the caller's word.",
	CodeWarrantUnknown:      "This is not the warrant that was given out for this action.",
	CodeRecordFailed:        "The record of this call could not be written, so it was refused. Try again later.",
	CodeOverloaded:          "Too much is under way already, or came too fast. Nothing was done. Try again in a moment.",
	CodeNotSigned:           "The log has not signed all records of this action yet. Ask again in a second.",
}

// Text returns the sentence for a model. It says nothing about arguments.
func (c Code) Text() string { return codeTexts[c] }

// Known reports whether c is in the closed list.
func (c Code) Known() bool { _, ok := codeTexts[c]; return ok }

// Codes returns the closed list with its sentences. The map is a copy.
func Codes() map[Code]string {
	out := make(map[Code]string, len(codeTexts))
	for c, text := range codeTexts {
		out[c] = text
	}
	return out
}

// ArgumentsError says that input failed before the snapshot: no decision, no
// proposal, no run (the sources' ToolArgumentsValidationError, INVALID_ARGS).
type ArgumentsError struct {
	Stage      string // json, schema, resolve or snapshot
	Tool       string
	Code       Code
	Violations canon.Violations
}

func (e *ArgumentsError) Error() string {
	return fmt.Sprintf("%s at stage %s: %v", e.Code, e.Stage, e.Violations)
}

// Unwrap gives the violations to errors.As.
func (e *ArgumentsError) Unwrap() error { return e.Violations }

// DeniedError says that policy, a person or the runtime denied the call.
type DeniedError struct{ Outcome Outcome }

func (e *DeniedError) Error() string { return "denied: " + string(e.Outcome.Code) }

// ApprovalRequiredError says that the call is suspended until people agree.
type ApprovalRequiredError struct{ Outcome Outcome }

func (e *ApprovalRequiredError) Error() string {
	return "approval required: action " + e.Outcome.ActionID
}

// UncertainError says that nobody knows whether the call took effect.
type UncertainError struct{ Outcome Outcome }

func (e *UncertainError) Error() string {
	return "outcome uncertain: action " + e.Outcome.ActionID
}

// FailedError says that the tool did not do it: proved, or its own word.
type FailedError struct{ Outcome Outcome }

func (e *FailedError) Error() string { return "failed: " + string(e.Outcome.Code) }

// InProgressError says that the very same call is running already.
type InProgressError struct{ Outcome Outcome }

func (e *InProgressError) Error() string {
	return "in progress: action " + e.Outcome.ActionID
}

// ErrRecord wraps every failure to read or write the store: the call was
// refused because it could not be recorded.
var ErrRecord = errors.New("the record could not be read or written")
