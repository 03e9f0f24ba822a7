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
// nowhere else. It fails like Check.
func (a *Accounts) Login(ctx context.Context, name, password string) (token string, _ Account, _ error) {
	account, err := a.Check(ctx, name, password)
	if err != nil {
		return "", Account{}, err
	}
	return a.begin(ctx, account, MethodPassword, a.moment())
}

// LoginWith starts a login for whoever used a passkey: an assertion over
// Challenge(ToSignIn, "", nonce). That the nonce is used once is the caller's
// to see to. It fails with ErrNoCredential, keys.ErrAssertion or ErrCloned.
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
	return a.begin(ctx, account, MethodPasskey, a.moment())
}

// begin starts a login of a person who proved who they are.
func (a *Accounts) begin(ctx context.Context, account Account, method string, proved time.Time) (token string, _ Account, _ error) {
	secret := make([]byte, tokenBytes)
	rand.Read(secret)
	token = base64.RawURLEncoding.EncodeToString(secret)
	now := a.moment()
	err := a.book.AddLogin(ctx, Login{Token: canon.Sum([]byte(token)), AccountID: account.ID, Method: method, ProvedAt: proved,
		CreatedAt: now, ExpiresAt: now.Add(LoginLife), IdleUntil: now.Add(LoginIdle)})
	if err != nil {
		return "", Account{}, fmt.Errorf("add login: %w", err)
	}
	return token, account, nil
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
