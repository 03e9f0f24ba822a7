package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Erase is the row without what tells of its arguments, and the record of it.
// The state stays. Only what has ended may be erased: a run that is under way
// or uncertain is settled on what was approved.
func Erase(row action.Action, now time.Time, account, reason string) (Move, error) {
	if !row.State.Terminal() {
		return Move{}, action.ErrState
	}
	to := row
	to.ErasedAt, to.Payload, to.Hash, to.Fingerprint = now, action.Payload{}, snapshot.ProposalHash{}, canon.Digest{}
	to.Targets, to.Evidence, to.Changes, to.Decision.Reason = nil, nil, nil, ""
	if row.Result != nil {
		result := *row.Result
		result.Output, result.Detail = nil, ""
		to.Result = &result
	}
	if row.Terms != nil {
		terms := *row.Terms
		terms.Nonce, terms.Preview = "erased "+row.ID, canon.Digest{}
		to.Terms = &terms
	}
	r := about(audit.ActionErased, row.State, to, account)
	r.Code = ""
	return Move{To: to, Record: r, Secrets: Secrets{"eraseReason": []byte(reason)}}, nil
}
