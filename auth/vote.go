package auth

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// How a vote was made: by typing the voter's password for it, or by the
// voter's passkey, which signed it.
const (
	MethodPassword = action.MethodPassword
	MethodPasskey  = action.MethodPasskey
	MethodOIDC     = action.MethodOIDC
)

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
// vote key. A login does not replace the password. It fails like Check, with
// ErrPasskeyNeeded for an account that has a passkey, or with ErrVoteShape
// where v names no action or digest.
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
	have, err := a.Passkeys(ctx, account.ID)
	if err != nil {
		return action.Vote{}, err
	}
	if len(have) > 0 {
		return action.Vote{}, ErrPasskeyNeeded
	}
	return a.signFor(account, v, MethodPassword, a.moment()), nil
}

// signFor signs a vote with the server's key, and beside it when and how the
// voter proved who they are.
func (a *Accounts) signFor(account Account, v action.Vote, method string, proved time.Time) action.Vote {
	v.Voter, v.Nonce, v.Method, v.LoginAt = account.ID, NewNonce(), method, proved.UTC()
	v.Envelope = a.votes.Sign(approval.PayloadType, approval.VotePayload(v)).JSON()
	v.Login = a.votes.Sign(LoginType, loginPayload(v, approval.VoteDigest(v))).JSON()
	return v
}

// LoginType is the DSSE payload type of what the server says of the login
// behind a vote.
const LoginType = "application/vnd.verbatim.login.v1+json"

// loginPayload binds method and time of a login to one vote, by the digest of
// what was signed.
func loginPayload(v action.Vote, signed canon.Digest) []byte {
	return canon.ObjectValue(
		canon.Member{Name: "at", Value: canon.IntValue(v.LoginAt.UnixMilli())},
		canon.Member{Name: "method", Value: canon.StringValue(v.Method)},
		canon.Member{Name: "v", Value: canon.IntValue(1)},
		canon.Member{Name: "vote", Value: canon.StringValue(signed.String())},
		canon.Member{Name: "voter", Value: canon.StringValue(v.Voter)}).Canonical()
}

// openServerVote opens a vote that the server signed after a login. A vote of
// before there were statements about logins says nothing of its login.
func (a *Accounts) openServerVote(e keys.Envelope, v action.Vote) ([]byte, error) {
	vote, err := a.votes.Open(e, approval.PayloadType)
	if err != nil {
		return nil, err
	}
	if len(v.Login) > 0 || !v.LoginAt.IsZero() || v.Method != MethodPassword {
		said, err := keys.ParseEnvelope(v.Login)
		if err != nil {
			return nil, fmt.Errorf("read what is said of the login: %w", err)
		}
		payload, err := a.votes.Open(said, LoginType)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(said.JSON(), v.Login) || !bytes.Equal(payload, loginPayload(v, canon.Sum(vote))) {
			return nil, ErrVoteSigned
		}
	}
	return vote, nil
}

// SignVoteWith makes a vote of an assertion: v holds what the person was
// shown, what they wrote and the nonce of that page, and the passkey signed
// approval.VoteDigest of it. It fails with ErrVoteShape, ErrNoCredential,
// keys.ErrAssertion or ErrCloned.
func (a *Accounts) SignVoteWith(ctx context.Context, site passkey.Site, account Account, v action.Vote, by Assertion) (action.Vote, error) {
	v.Voter, v.Method = account.ID, MethodPasskey
	if v.ActionID == "" || v.Voter == "" || v.Digest.IsZero() || !nonceShape(v.Nonce) {
		return action.Vote{}, ErrVoteShape
	}
	payload := approval.VotePayload(v)
	p, err := a.assert(ctx, site, account, keys.Challenge(payload), by)
	if err != nil {
		return action.Vote{}, err
	}
	v.Envelope = keys.SignedByPasskey(approval.PayloadType, payload, p, by.Assertion).JSON()
	return v, nil
}

// VerifyVote checks that the envelope of a vote was signed for exactly this
// digest, answer, voter and nonce, and, unless it is one of before reasons were
// signed, this reason: by a pinned vote key after the voter's password, or by a
// passkey that this server registered for the voter and nobody has removed
// since. It fails with approval.ErrUnchecked where the book does.
func (a *Accounts) VerifyVote(ctx context.Context, v action.Vote) error {
	if v.Voter == "" || v.Digest.IsZero() || !nonceShape(v.Nonce) {
		return ErrVoteShape
	}
	envelope, err := keys.ParseEnvelope(v.Envelope)
	if err != nil {
		return fmt.Errorf("read vote: %w", err)
	}
	var payload []byte
	switch v.Method {
	case MethodPassword, MethodOIDC:
		payload, err = a.openServerVote(envelope, v)
	case MethodPasskey:
		payload, err = a.openPasskeyVote(ctx, envelope, v.Voter)
	default:
		return ErrVoteMethod
	}
	if err != nil {
		return fmt.Errorf("open vote: %w", err)
	}
	form := func(form []byte) bool { return bytes.Equal(payload, form) }
	if !bytes.Equal(envelope.JSON(), v.Envelope) || !slices.ContainsFunc(approval.VoteForms(v), form) {
		return ErrVoteSigned
	}
	return nil
}

func (a *Accounts) openPasskeyVote(ctx context.Context, e keys.Envelope, voter string) ([]byte, error) {
	claimed, err := keys.ClaimedPasskey(e)
	if err != nil {
		return nil, err
	}
	c, err := a.book.CredentialByID(ctx, claimed.CredentialID())
	if err != nil && !errors.Is(err, ErrNoCredential) {
		return nil, fmt.Errorf("%w: %w", approval.ErrUnchecked, err)
	}
	if err != nil {
		return nil, err
	}
	trusted, err := a.good(c, voter)
	if err != nil {
		return nil, err
	}
	payload, proof, err := keys.VerifyPasskey(e, approval.PayloadType, trusted)
	if err == nil && proof.RPID != c.RPID {
		err = keys.ErrAssertion
	}
	return payload, err
}

func nonceShape(nonce string) bool {
	raw, err := hex.DecodeString(nonce)
	return err == nil && len(raw) == nonceBytes && hex.EncodeToString(raw) == nonce
}
