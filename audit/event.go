package audit

// The events, a closed list. A store refuses any other.
const (
	InputRejected     = "input_rejected"     // failed before the snapshot; no row
	ReadAllowed       = "read_allowed"       // a read may run; no row
	HandoffAllowed    = "handoff_allowed"    // control may pass; no row
	ActionDenied      = "action_denied"      // policy said no
	ActionSuspended   = "action_suspended"   // waits for votes
	VoteApprove       = "vote_approve"       // one yes
	VoteReject        = "vote_reject"        // one no; the action is denied
	ActionApproved    = "action_approved"    // the yeses are enough
	ActionDismissed   = "action_dismissed"   // the requester withdrew it
	ActionRevoked     = "action_revoked"     // an approver or operator withdrew it
	ActionExpired     = "action_expired"     // nobody decided or ran it in time
	ActionCutOff      = "action_cut_off"     // open in a backup that was put back; nobody knows whether it ran
	ActionClaimed     = "action_claimed"     // one executor prepares the run
	ClaimDenied       = "claim_denied"       // something moved before the run
	ActionStarted     = "action_started"     // the commit point: it may run now
	ActionResent      = "action_resent"      // the same attempt is sent again, under its own key
	ActionSucceeded   = "action_succeeded"   // it ran
	ActionFailed      = "action_failed"      // it did not run, or the tool said so
	ActionUncertain   = "action_uncertain"   // nobody knows
	ActionSettled     = "action_reconciled"  // what was uncertain is known
	CallerLeft        = "caller_left"        // nobody waits for the answer
	PolicyChanged     = "policy_changed"     // a tool's rules have another digest
	ActionErased      = "action_erased"      // its payload and salts were destroyed
	Stopped           = "stopped"            // an operator froze a kind of action
	Resumed           = "resumed"            // and lifted it
	Restored          = "restored"           // a backup was put back; what came after it is lost
	KeysForgotten     = "keys_forgotten"     // idempotency keys past their retention
	PayloadsForgotten = "payloads_forgotten" // payloads past their retention, and salts
	AccountAdded      = "account_added"
	AccountDisabled   = "account_disabled"
	AccountEnabled    = "account_enabled"
	GroupsChanged     = "groups_changed"   // of an account
	InvitationMade    = "invitation_made"  // somebody may make an account
	InvitationEnded   = "invitation_ended" // withdrawn before it was used
	DelegationMade    = "delegation_made"  // a person has somebody vote in their place
	DelegationEnded   = "delegation_ended" // before its time
	StandingMade      = "standing_made"    // a person has signed a standing grant
	StandingSigned    = "standing_signed"  // another one has signed it, too
	StandingRevoked   = "standing_revoked" // it covers nothing any more
	PasswordChanged   = "password_changed"
	PasskeyAdded      = "passkey_added"   // from here on the password makes no vote
	PasskeyRemoved    = "passkey_removed" // worthless, also for votes not used yet
)

// Events lists every event.
func Events() []string {
	return []string{InputRejected, ReadAllowed, HandoffAllowed, ActionDenied, ActionSuspended, VoteApprove,
		VoteReject, ActionApproved, ActionDismissed, ActionRevoked, ActionExpired, ActionCutOff, ActionClaimed, ClaimDenied,
		ActionStarted, ActionResent, ActionSucceeded, ActionFailed, ActionUncertain, ActionSettled, CallerLeft, ActionErased, PolicyChanged,
		Stopped, Resumed, Restored, KeysForgotten, PayloadsForgotten, AccountAdded, AccountDisabled, AccountEnabled, GroupsChanged,
		InvitationMade, InvitationEnded, DelegationMade, DelegationEnded,
		StandingMade, StandingSigned, StandingRevoked, PasswordChanged, PasskeyAdded, PasskeyRemoved}
}

func known(event string) bool { return isEvent[event] }

// isEvent is asked of every leaf that is written or read.
var isEvent = func() map[string]bool {
	out := map[string]bool{}
	for _, e := range Events() {
		out[e] = true
	}
	return out
}()
