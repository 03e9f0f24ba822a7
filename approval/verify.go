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
type Verifier interface {
	VerifyVote(ctx context.Context, v action.Vote) error
}

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
