package execute

import "github.com/seed-de4804fb/verbatim/action"

// Replay says what a repeated call of one action gets (semantics §9). It
// never authorizes: nothing here starts a run, and New means the full walk.
type Replay uint8

// The answers to a repeated call.
const (
	New      Replay = iota // walk it in full, as if it were the first
	Stored                 // the stored outcome, byte for byte
	Pending                // the same pending proposal
	Resume                 // approved: the same row goes on
	Running                // in progress
	Unknown                // nobody knows yet
	Mismatch               // the key belongs to another call
	Moved                  // the same request, but a name now means something else
)

// Repeat compares a repeated call with the action that holds its key.
// sameRequest: tool and requested arguments are equal; samePrint: the
// fingerprints are.
func Repeat(a action.Action, sameRequest, samePrint bool) Replay {
	if !samePrint {
		if sameRequest {
			return Moved
		}
		return Mismatch
	}
	switch a.State {
	case action.PendingApproval:
		return Pending
	case action.Approved:
		return Resume
	case action.Claimed, action.Executing:
		return Running
	case action.Uncertain:
		return Unknown
	case action.Failed, action.ReconciledFailed:
		return New
	default:
		return Stored
	}
}
