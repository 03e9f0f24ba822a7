package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Erase is the row without what tells of its arguments, and the record of it.
// The state stays. Only what has ended may be erased: a run that is under way
// or uncertain is settled on what was approved.
func Erase(row action.Action, now time.Time, account, reason string) (Move, error) {
	if !row.State.Terminal() {
		return Move{}, action.ErrState
	}
	to := WithoutPayload(row, now)
	r := about(audit.ActionErased, row.State, to, account)
	r.Code = ""
	return Move{To: to, Record: r, Secrets: Secrets{"eraseReason": []byte(reason)}}, nil
}

// WithoutPayload is the row without what tells of its arguments.
func WithoutPayload(row action.Action, at time.Time) action.Action {
	to := row
	to.ErasedAt, to.Payload, to.Hash, to.Fingerprint = at, action.Payload{}, snapshot.ProposalHash{}, canon.Digest{}
	to.Targets, to.Evidence, to.Changes, to.Decision.Reason = nil, nil, nil, ""
	if row.Result != nil {
		result := *row.Result
		result.Output, result.Detail = nil, ""
		to.Result = &result
	}
	if row.Terms != nil {
		terms := *row.Terms
		terms.Nonce, terms.Preview = ErasedNonce(row.ID), canon.Digest{}
		to.Terms = &terms
	}
	return to
}

// ErasedNonce stands in the place of the nonce of terms whose action was
// erased: nonces are never equal.
func ErasedNonce(id string) string { return "erased " + id }

// KeyGone is when a row counts as erased whose key was destroyed while the
// store still holds what it sealed.
func KeyGone(row action.Action) time.Time {
	if !row.ErasedAt.IsZero() {
		return row.ErasedAt
	}
	return row.UpdatedAt
}

// Shelf is where the payload of a row is sealed: with those of its class and
// day.
func Shelf(a action.Action) keys.Shelf { return ShelfOf(&a, a.CreatedAt) }

// ShelfOf is [Shelf] for a row that is made at a time.
func ShelfOf(a *action.Action, created time.Time) keys.Shelf {
	return keys.Shelf{Class: byte(a.Class()), Day: keys.DayOf(created)}
}
