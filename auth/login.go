package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/canon"
)

// How long a login lasts.
const (
	LoginLife = 12 * time.Hour
	LoginIdle = time.Hour
	// touchEvery is how old the last use must be before it is written again.
	touchEvery = time.Minute
	tokenBytes = 32
)

// Login checks a person and starts a login. The token goes into a cookie and
// nowhere else. It fails like Check, also where the password is changed or the
// account shut out before the login has begun.
func (a *Accounts) Login(ctx context.Context, name, password string) (token string, _ Account, _ error) {
	account, err := a.Check(ctx, name, password)
	if err != nil {
		return "", Account{}, err
	}
	return a.begin(ctx, account, MethodPassword, a.moment(), nil)
}

// LoginWith starts a login for whoever used a passkey: an assertion over
// Challenge(ToSignIn, "", nonce). That the nonce is used once is the caller's
// to see to. It fails with ErrNoCredential, also where the passkey is removed,
// the password changed or the account shut out before the login has begun;
// with keys.ErrAssertion or ErrCloned.
func (a *Accounts) LoginWith(ctx context.Context, site passkey.Site, nonce string, by Assertion) (token string, _ Account, _ error) {
	c, err := a.book.CredentialByID(ctx, by.CredentialID)
	if err != nil {
		return "", Account{}, err
	}
	account, err := a.book.AccountByID(ctx, c.AccountID)
	if err == nil && !account.Active {
		err = ErrNoCredential
	}
	if err == nil {
		err = a.Assert(ctx, site, account, Challenge(ToSignIn, "", nonce), by)
	}
	if err != nil {
		return "", Account{}, err
	}
	return a.begin(ctx, account, MethodPasskey, a.moment(), c.ID)
}

// begin starts a login of a person who proved who they are. account is as it
// was read before that was checked; key is the passkey that was used, or nil.
func (a *Accounts) begin(ctx context.Context, account Account, method string, proved time.Time, key []byte) (token string, _ Account, _ error) {
	secret := make([]byte, tokenBytes)
	rand.Read(secret)
	token = base64.RawURLEncoding.EncodeToString(secret)
	now := a.moment()
	err := a.book.AddLogin(ctx, Login{Token: canon.Sum([]byte(token)), AccountID: account.ID, Method: method, ProvedAt: proved,
		CreatedAt: now, ExpiresAt: now.Add(LoginLife), IdleUntil: now.Add(LoginIdle)}, Proof{PasswordHash: account.PasswordHash, Passkey: key})
	if err != nil {
		return "", Account{}, fmt.Errorf("add login: %w", overtaken(method, err))
	}
	return token, account, nil
}

// overtaken answers as if the proof had come after what made it void.
func overtaken(method string, err error) error {
	gone := errors.Is(err, ErrNoAccount)
	void := gone || errors.Is(err, ErrProofGone)
	switch {
	case void && method == MethodPassword:
		return fmt.Errorf("%w: %w", ErrCredentials, err)
	case void && method == MethodPasskey:
		return fmt.Errorf("%w: %w", ErrNoCredential, err)
	case gone && method == MethodOIDC:
		return fmt.Errorf("%w: %w", ErrShutOut, err)
	default:
		return err
	}
}

// Session returns the login of a cookie token and its active account. It
// fails with ErrNoLogin when the token is unknown or over.
func (a *Accounts) Session(ctx context.Context, token string) (Login, Account, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return Login{}, Account{}, ErrNoLogin
	}
	login, err := a.book.Login(ctx, canon.Sum([]byte(token)))
	if err != nil {
		return Login{}, Account{}, fmt.Errorf("find login: %w", err)
	}
	now := a.moment()
	if !now.Before(login.ExpiresAt) || !now.Before(login.IdleUntil) {
		return Login{}, Account{}, ErrNoLogin
	}
	account, err := a.book.AccountByID(ctx, login.AccountID)
	if errors.Is(err, ErrNoAccount) || err == nil && !account.Active {
		return Login{}, Account{}, ErrNoLogin
	}
	if err != nil {
		return Login{}, Account{}, fmt.Errorf("find account: %w", err)
	}
	if until := now.Add(LoginIdle); until.Sub(login.IdleUntil) >= touchEvery {
		if err := a.book.TouchLogin(ctx, login.Token, until); err != nil {
			return Login{}, Account{}, fmt.Errorf("touch login: %w", err)
		}
		login.IdleUntil = until
	}
	return login, account, nil
}

// Logout ends a login.
func (a *Accounts) Logout(ctx context.Context, token string) error {
	return a.book.EndLogin(ctx, canon.Sum([]byte(token)))
}
