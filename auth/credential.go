package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// Credential is one passkey of an account.
type Credential struct {
	ID        []byte // of the credential, unique among all accounts
	AccountID string
	PublicKey []byte // DER of SubjectPublicKeyInfo
	RPID      string // host of the pages that it is valid for
	Count     uint32 // highest count of signatures seen; 0 if it does not count
	Name      string // that its owner gave it
	CreatedAt time.Time
	UsedAt    time.Time // zero if never
	RevokedAt time.Time // zero while it is good
	// Statement is a DSSE envelope of the server's vote key over all but the
	// times and the count: a row that somebody else wrote has none.
	Statement []byte
}

// CredentialBook keeps passkeys. Every method is one durable transaction.
type CredentialBook interface {
	// AddCredential adds a passkey of an active account. It fails with
	// ErrNoAccount or ErrCredentialTaken.
	AddCredential(ctx context.Context, c Credential) error
	// Credentials returns the passkeys of an account, removed ones too, oldest
	// first.
	Credentials(ctx context.Context, account string) ([]Credential, error)
	// CredentialByID returns a passkey, removed or not, or ErrNoCredential.
	CredentialByID(ctx context.Context, id []byte) (Credential, error)
	// UseCredential notes a use. It fails with ErrNoCredential for one that is
	// removed, and with ErrCloned unless count is above the one before or both
	// are 0 (WebAuthn Level 3 §7.2, step 22).
	UseCredential(ctx context.Context, id []byte, count uint32, at time.Time) error
	// RemoveCredential makes a passkey worthless for good. It fails with
	// ErrNoCredential for one that is removed already.
	RemoveCredential(ctx context.Context, id []byte, at time.Time) error
	// AllCredentials returns the passkeys of active accounts that are good.
	AllCredentials(ctx context.Context) ([]Credential, error)
}

// What a CredentialBook answers beside the errors of its database.
var (
	ErrNoCredential    = errors.New("no such passkey")
	ErrCredentialTaken = errors.New("the passkey is registered already")
	ErrCloned          = errors.New("the passkey's count went back: it may have been copied, and is not accepted")
)

// StatementType is the DSSE payload type of a credential's statement.
const StatementType = "application/vnd.verbatim.passkey.v1+json"

// statement is what the server signs when it registers a passkey.
func (c Credential) statement() []byte {
	text := func(b []byte) canon.Value { return canon.StringValue(base64.StdEncoding.EncodeToString(b)) }
	return canon.ObjectValue(
		canon.Member{Name: "account", Value: canon.StringValue(c.AccountID)},
		canon.Member{Name: "credentialId", Value: text(c.ID)},
		canon.Member{Name: "publicKey", Value: text(c.PublicKey)},
		canon.Member{Name: "rpId", Value: canon.StringValue(c.RPID)},
		canon.Member{Name: "v", Value: canon.IntValue(1)}).Canonical()
}

// Passkey returns the public half.
func (c Credential) Passkey() (keys.Passkey, error) { return keys.ParsePasskey(c.ID, c.PublicKey) }

// good returns the passkey of a credential that the server registered for an
// account and nobody removed. It fails with ErrNoCredential.
func (a *Accounts) good(c Credential, account string) (keys.Passkey, error) {
	if !c.RevokedAt.IsZero() || c.AccountID != account || account == "" {
		return keys.Passkey{}, ErrNoCredential
	}
	envelope, err := keys.ParseEnvelope(c.Statement)
	if err != nil {
		return keys.Passkey{}, fmt.Errorf("%w: nobody vouches for it", ErrNoCredential)
	}
	payload, err := a.votes.Open(envelope, StatementType)
	if err != nil || string(payload) != string(c.statement()) {
		return keys.Passkey{}, fmt.Errorf("%w: nobody vouches for it", ErrNoCredential)
	}
	return c.Passkey()
}

// Passkeys returns the passkeys of an account that are good, oldest first.
func (a *Accounts) Passkeys(ctx context.Context, account string) ([]Credential, error) {
	all, err := a.book.Credentials(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	var out []Credential
	for _, c := range all {
		if c.RevokedAt.IsZero() {
			out = append(out, c)
		}
	}
	return out, nil
}

// Orphans returns the passkeys that are good and were registered for another
// RP ID than the one given: nobody can use them there.
func (a *Accounts) Orphans(ctx context.Context, rpID string) ([]Credential, error) {
	all, err := a.book.AllCredentials(ctx)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	var out []Credential
	for _, c := range all {
		if c.RPID != rpID {
			out = append(out, c)
		}
	}
	return out, nil
}
