package approval

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/action"
)

// PayloadType is the DSSE payload type of a vote.
const PayloadType = "application/vnd.verbatim.vote.v1+json"

// Verifier checks that a vote's envelope was signed for exactly
// [VotePayload] by the voter's passkey, or by the server's vote key after a
// fresh login of the voter. It is called when a vote arrives and again at
// the commit point.
//
// An error that wraps [ErrUnchecked] says that nobody could tell, such as
// while a database is away: the approval is not used now, and stays. Every
// other error says that the vote does not hold: the approval is void.
type Verifier interface {
	VerifyVote(ctx context.Context, v action.Vote) error
}

// ErrUnchecked is returned for a vote that could not be checked.
var ErrUnchecked = errors.New("the vote could not be checked")

// ErrNoVerifier is returned where votes cannot be checked: nothing that needs
// an approval runs then.
var ErrNoVerifier = errors.New("no verifier of votes is configured")

// CheckVotes verifies every vote that counts towards an approval.
func CheckVotes(ctx context.Context, v Verifier, votes []action.Vote) error {
	if v == nil {
		return ErrNoVerifier
	}
	for _, vote := range votes {
		if err := v.VerifyVote(ctx, vote); err != nil {
			return err
		}
	}
	return nil
}
