package action

// State is where an action stands (reliability: state machine).
type State string

// The states. Received is in memory only; it never reaches a store.
const (
	Received            State = "received"
	Denied              State = "denied"
	PendingApproval     State = "pending_approval"
	Approved            State = "approved"
	Claimed             State = "claimed"
	Executing           State = "executing"
	Succeeded           State = "succeeded"
	Failed              State = "failed"
	Uncertain           State = "uncertain"
	ReconciledSucceeded State = "reconciled_succeeded"
	ReconciledFailed    State = "reconciled_failed"
	Expired             State = "expired"
	Revoked             State = "revoked"
)

// States lists every state, in the order of the walk.
func States() []State {
	return []State{Received, Denied, PendingApproval, Approved, Claimed, Executing, Succeeded,
		Failed, Uncertain, ReconciledSucceeded, ReconciledFailed, Expired, Revoked}
}

// Terminal reports whether the state never changes again.
func (s State) Terminal() bool {
	switch s {
	case Denied, Succeeded, Failed, ReconciledSucceeded, ReconciledFailed, Expired, Revoked:
		return true
	default:
		return false
	}
}

// InFlight reports whether the action may still have or get an effect: a
// second action with the same fingerprint must not start beside it.
func (s State) InFlight() bool {
	switch s {
	case PendingApproval, Approved, Claimed, Executing, Uncertain:
		return true
	default:
		return false
	}
}

// edges is the whole table; what is not in it is refused.
var edges = map[State][]State{
	Received:        {Denied, PendingApproval, Approved, Executing},
	PendingApproval: {PendingApproval, Approved, Denied, Expired, Revoked},
	Approved:        {Claimed, Executing, Denied, Expired, Revoked},
	Claimed:         {Claimed, Executing, Denied, Expired, Revoked},
	Executing:       {Succeeded, Failed, Uncertain},
	Uncertain:       {ReconciledSucceeded, ReconciledFailed, Executing},
}

// CanMove reports whether the table has an edge from one state to the other.
func CanMove(from, to State) bool {
	for _, s := range edges[from] {
		if s == to {
			return true
		}
	}
	return false
}
