package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// MaxPasskeys is how many passkeys one account may have at a time.
const MaxPasskeys = 20

// The refusals around passkeys.
var (
	ErrPasskeyNeeded = errors.New("this account has a passkey: its password decides nothing any more")
	ErrPasskeyName   = errors.New("name a passkey with 1 to 64 plain characters")
	ErrTooMany       = errors.New("the account has too many passkeys; remove one first")
)

// Assertion is what a browser answers when somebody used a passkey.
type Assertion struct {
	CredentialID []byte
	keys.Assertion
}

// NewNonce returns 32 random bytes in hex, for one challenge.
func NewNonce() string {
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce)
	return hex.EncodeToString(nonce)
}

// Purposes of assertions other than votes. Each has a challenge of its own, so
// that none can be used for another, nor for a vote.
const (
	ToAddPasskey    = "add_passkey"
	ToRemovePasskey = "remove_passkey"
	ToSignIn        = "sign_in"
)

// Challenge is what a passkey signs for a purpose other than a vote: SHA-256
// of the RFC 8785 form of purpose, subject and nonce. A vote's form has other
// members, so that the two are never equal.
func Challenge(purpose, subject, nonce string) []byte {
	return keys.Challenge(canon.ObjectValue(
		canon.Member{Name: "nonce", Value: canon.StringValue(nonce)},
		canon.Member{Name: "purpose", Value: canon.StringValue(purpose)},
		canon.Member{Name: "subject", Value: canon.StringValue(subject)},
		canon.Member{Name: "v", Value: canon.IntValue(1)}).Canonical())
}

// NewPasskey is a request to add a passkey to an account.
type NewPasskey struct {
	Account Account
	Name    string
	Nonce   string // of the page that asked; its hex bytes are the challenge of the new passkey
	Created passkey.Created
	// Password authorizes the first passkey, By each later one: an assertion
	// by a passkey that the account has, over Challenge(ToAddPasskey, account
	// id, Nonce).
	Password string
	By       Assertion
	// Login authorizes the first passkey of an account of an identity provider:
	// it must be fresh.
	Login Login
}

// AddPasskey registers a passkey. It fails like Check for a wrong password,
// with ErrNoCredential, keys.ErrAssertion or ErrCloned for a passkey that does
// not authorize, and with passkey.ErrRegistration, ErrCredentialTaken,
// ErrPasskeyName or ErrTooMany.
func (a *Accounts) AddPasskey(ctx context.Context, site passkey.Site, n NewPasskey) (Credential, error) {
	name, ok := cleanLabel(n.Name)
	if !ok {
		return Credential{}, ErrPasskeyName
	}
	have, err := a.Passkeys(ctx, n.Account.ID)
	if err != nil {
		return Credential{}, err
	}
	if len(have) >= MaxPasskeys {
		return Credential{}, ErrTooMany
	}
	if len(have) == 0 && n.Account.PasswordHash == "" {
		err = a.FreshFrom(n.Login, n.Account, FreshLogin)
	} else if len(have) == 0 {
		err = a.samePerson(ctx, n.Account, n.Password)
	} else {
		err = a.Assert(ctx, site, n.Account, Challenge(ToAddPasskey, n.Account.ID, n.Nonce), n.By)
	}
	if err != nil {
		return Credential{}, err
	}
	challenge, err := hex.DecodeString(n.Nonce)
	if err != nil {
		return Credential{}, passkey.ErrRegistration
	}
	c, err := a.vouched(site, n.Account.ID, name, challenge, n.Created)
	if err != nil {
		return Credential{}, err
	}
	if err := a.book.AddCredential(ctx, c); err != nil {
		return Credential{}, fmt.Errorf("add passkey: %w", err)
	}
	return c, nil
}

// vouched checks a new passkey and signs whose it is.
func (a *Accounts) vouched(site passkey.Site, account, name string, challenge []byte, created passkey.Created) (Credential, error) {
	public, count, err := site.Register(challenge, created)
	if err != nil {
		return Credential{}, err
	}
	c := Credential{ID: public.CredentialID(), AccountID: account, PublicKey: public.SPKI(), RPID: site.RPID(),
		Count: count, Name: name, CreatedAt: a.moment()}
	c.Statement = a.votes.Sign(StatementType, c.statement()).JSON()
	return c, nil
}

// samePerson checks that a password is that of an account.
func (a *Accounts) samePerson(ctx context.Context, account Account, password string) error {
	found, err := a.Check(ctx, account.Name, password)
	if err == nil && found.ID != account.ID {
		err = ErrCredentials
	}
	return err
}

// Assert checks an assertion over a challenge by a passkey of an account, made
// on this very site, and counts it. It fails with ErrNoCredential,
// keys.ErrAssertion or ErrCloned.
func (a *Accounts) Assert(ctx context.Context, site passkey.Site, account Account, challenge []byte, by Assertion) error {
	_, err := a.assert(ctx, site, account, challenge, by)
	return err
}

func (a *Accounts) assert(ctx context.Context, site passkey.Site, account Account, challenge []byte, by Assertion) (keys.Passkey, error) {
	c, err := a.book.CredentialByID(ctx, by.CredentialID)
	if err != nil {
		return keys.Passkey{}, err
	}
	p, err := a.good(c, account.ID)
	if err != nil {
		return keys.Passkey{}, err
	}
	proof, err := p.Check(challenge, by.Assertion)
	if err != nil {
		return keys.Passkey{}, err
	}
	if site.Origin() == "" || proof.Origin != site.Origin() || proof.RPID != c.RPID {
		return keys.Passkey{}, fmt.Errorf("%w: it was made on another page", keys.ErrAssertion)
	}
	if err := a.book.UseCredential(ctx, c.ID, proof.Count, a.moment()); err != nil {
		return keys.Passkey{}, err
	}
	return p, nil
}

// RemovePasskey makes a passkey worthless, also for votes that have not been
// used yet. It takes an assertion over Challenge(ToRemovePasskey, the id in
// base64url, nonce) by a passkey of the account, the same or another one.
func (a *Accounts) RemovePasskey(ctx context.Context, site passkey.Site, account Account, id []byte, nonce string, by Assertion) error {
	c, err := a.book.CredentialByID(ctx, id)
	if err != nil {
		return err
	}
	if c.AccountID != account.ID {
		return ErrNoCredential
	}
	subject := base64.RawURLEncoding.EncodeToString(id)
	if err := a.Assert(ctx, site, account, Challenge(ToRemovePasskey, subject, nonce), by); err != nil {
		return err
	}
	return a.book.RemoveCredential(ctx, id, a.moment())
}

// cleanLabel refuses names that others could not read.
func cleanLabel(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxName {
		return "", false
	}
	return text, !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
}
