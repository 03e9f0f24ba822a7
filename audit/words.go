package audit

// A short form says words of two closed lists by their place, which is kept in
// stores for good: the lists only grow, at their ends.

// wordRoom is how many words a list may have.
const wordRoom = 256

// words are a list in which a word is found without a search through it.
type words struct {
	list []string
	said []string            // as they stand in a leaf, with quotes and what follows
	at   [2 * wordRoom]uint8 // place and one more, by sum and what follows; 0 is none
}

func wordsOf(behind string, list []string) *words {
	w := &words{list: list}
	for i, word := range list {
		w.said = append(w.said, `"`+word+`"`+behind)
		at := sum(word)
		for ; w.at[at%len(w.at)] != 0; at++ {
		}
		w.at[at%len(w.at)] = uint8(i + 1)
	}
	return w
}

// sum spreads words over the room for them.
func sum(word string) int {
	n := len(word)
	if n == 0 {
		return 0
	}
	return n*61 + int(word[0])*31 + int(word[n/2])*17 + int(word[n-1])*7
}

// find is the place of a word in the list.
func (w *words) find(word string) (place int, ok bool) {
	for at := sum(word); ; at++ {
		switch i := int(w.at[at%len(w.at)]); {
		case i == 0:
			return 0, false
		case w.list[i-1] == word:
			return i - 1, true
		}
	}
}

// The names whose places the writer knows itself, and what stands in their place
// where there is no such name.
const (
	nameEnd   = iota // the end of an object
	nameOther        // its length and itself follow
	nameAction
	nameAgent
	nameAt
	nameBy
	nameCode
	nameCommitments
	nameEvent
	nameFacts
	nameFrom
	nameID
	nameSeq
	nameTenant
	nameTo
	nameTool
)

// names are those of members, of facts and of commitments.
var names = wordsOf(":", []string{"", "", "action", "agent", "at", "by", "code", "commitments", "event", "facts", "from", "id", "seq", "tenant", "to", "tool",
	"arguments", "proposalHash", "raw", "requested", "result", "detail", "reason", "preview", "targets", "evidence", "key", "digest", "scope",
	"envelope", "eraseReason",
	"attempt", "fence", "effect", "policyVersion", "mutation", "highImpact", "kind", "leaseUntil", "isError", "comparison", "definition",
	"resolvers", "rules", "owner", "task", "grant", "supersedes", "model", "callId", "approvalDigest", "executor", "standing", "standingUse",
	"stage", "size", "method", "voteDigest", "for", "tie", "epoch", "account", "groups", "before", "class", "number", "retention",
	"delegation", "delegate", "starts", "ends", "invitation", "issuer", "expires", "passkey", "rpId", "stops", "source", "uses",
	"lastRecord", "lastAt", "log", "logBefore", "limits", "invitedBy", "standingDigest"})

// values are texts that many records have.
var values = wordsOf("", []string{
	InputRejected, ReadAllowed, HandoffAllowed, ActionDenied, ActionSuspended, VoteApprove, VoteReject, ActionApproved, ActionDismissed,
	ActionRevoked, ActionExpired, ActionCutOff, ActionClaimed, ClaimDenied, ActionStarted, ActionResent, ActionSucceeded, ActionFailed,
	ActionUncertain, ActionSettled, CallerLeft, PolicyChanged, ActionErased, Stopped, Resumed, Restored, KeysForgotten, PayloadsForgotten,
	AccountAdded, AccountDisabled, AccountEnabled, GroupsChanged, InvitationMade, InvitationEnded, DelegationMade, DelegationEnded,
	StandingMade, StandingSigned, StandingRevoked, PasswordChanged, PasskeyAdded, PasskeyRemoved,
	"received", "pending_approval", "approved", "denied", "expired", "revoked", "claimed", "executing", "succeeded", "failed", "uncertain",
	"reconciled_succeeded", "reconciled_failed",
	"ok", "allow", "deny", "require_approval", "call", "handoff", "true", "false", "1", "2", "3", "proved", "reported", "equal",
	"no_matching_rule", "identity_spoof", "invalid_arguments", "password", "passkey", "oidc", "gateway", "sweeper", "late_reply", "provider"})
