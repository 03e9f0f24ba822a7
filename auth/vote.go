package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/keys"
)

// MethodPassword is the method of a vote that was made by typing the voter's
// password for it.
const MethodPassword = "password"

const nonceBytes = 32

// VoteKeys are the server's vote keys: the current one signs, all are pinned
// for verifying. [*keys.Signer] is one.
type VoteKeys interface {
	Purpose() keys.Purpose
	Sign(payloadType string, payload []byte) keys.Envelope
	Open(e keys.Envelope, payloadType string) (payload []byte, err error)
}

var _ VoteKeys = (*keys.Signer)(nil)

// The refusals of a vote.
var (
	ErrVoteShape  = errors.New("vote has no digest, voter or nonce of the right form")
	ErrVoteMethod = errors.New("vote was made in a way that is not known here")
	ErrVoteSigned = errors.New("vote is not the one that was signed")
)

var _ approval.Verifier = (*Accounts)(nil)

// SignVote makes a vote: it checks the password for this one vote, fills
// Voter, Nonce and Method, and signs approval.VotePayload with the server's
// vote key. A login does not replace the password. It fails like Check, or
// with ErrVoteShape where v names no action or digest.
//
// It does not look at the action: whether the person may vote on it is for
// the store, in the transaction that counts the vote.
func (a *Accounts) SignVote(ctx context.Context, name, password string, v action.Vote) (action.Vote, error) {
	if v.ActionID == "" || v.Digest.IsZero() {
		return action.Vote{}, ErrVoteShape
	}
	account, err := a.Check(ctx, name, password)
	if err != nil {
		return action.Vote{}, err
	}
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce)
	v.Voter, v.Nonce, v.Method = account.ID, hex.EncodeToString(nonce), MethodPassword
	v.Envelope = a.votes.Sign(approval.PayloadType, approval.VotePayload(v)).JSON()
	return v, nil
}

// VerifyVote checks that the envelope of a vote was signed by a pinned vote
// key for exactly this digest, answer, voter and nonce.
func (a *Accounts) VerifyVote(v action.Vote) error {
	if v.Method != MethodPassword {
		return ErrVoteMethod
	}
	if v.Voter == "" || v.Digest.IsZero() || !nonceShape(v.Nonce) {
		return ErrVoteShape
	}
	envelope, err := keys.ParseEnvelope(v.Envelope)
	if err != nil {
		return fmt.Errorf("read vote: %w", err)
	}
	payload, err := a.votes.Open(envelope, approval.PayloadType)
	if err != nil {
		return fmt.Errorf("open vote: %w", err)
	}
	if !bytes.Equal(envelope.JSON(), v.Envelope) || !bytes.Equal(payload, approval.VotePayload(v)) {
		return ErrVoteSigned
	}
	return nil
}

func nonceShape(nonce string) bool {
	raw, err := hex.DecodeString(nonce)
	return err == nil && len(raw) == nonceBytes && hex.EncodeToString(raw) == nonce
}
