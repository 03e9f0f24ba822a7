// Package authtest helps to test what is built on package auth: a book in
// memory and a vote key of its own.
//
// It keeps the contract of auth.Book and nothing on disk. It must never be
// part of the product.
package authtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Book is an auth.Book in memory.
type Book struct {
	mu       sync.Mutex
	accounts []auth.Account
	logins   map[canon.Digest]auth.Login

	credentials []auth.Credential
	invitations []auth.Invitation
	delegations []auth.Delegation
}

var _ auth.Book = (*Book)(nil)

// AddAccount implements auth.Book.
func (b *Book) AddAccount(_ context.Context, a auth.Account) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, other := range b.accounts {
		if other.Key == a.Key || other.ID == a.ID {
			return auth.ErrNameTaken
		}
	}
	b.accounts = append(b.accounts, a)
	return nil
}

// AccountByName implements auth.Book.
func (b *Book) AccountByName(_ context.Context, key string) (auth.Account, error) {
	return b.find(func(a auth.Account) bool { return a.Key == key })
}

// AccountByID implements auth.Book.
func (b *Book) AccountByID(_ context.Context, id string) (auth.Account, error) {
	return b.find(func(a auth.Account) bool { return a.ID == id })
}

// AccountBySubject implements auth.Book.
func (b *Book) AccountBySubject(_ context.Context, issuer, subject string) (auth.Account, error) {
	return b.find(func(a auth.Account) bool { return subject != "" && a.Issuer == issuer && a.Subject == subject })
}

func (b *Book) find(is func(auth.Account) bool) (auth.Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.accounts, is); i >= 0 {
		found := b.accounts[i]
		found.Groups = slices.Clone(found.Groups)
		return found, nil
	}
	return auth.Account{}, auth.ErrNoAccount
}

// SetPassword implements auth.Book.
func (b *Book) SetPassword(_ context.Context, id, hash string, at time.Time) error {
	return b.change(id, func(a *auth.Account) { a.PasswordHash, a.PasswordAt = hash, at })
}

// Disable implements auth.Book.
func (b *Book) Disable(_ context.Context, id string) error {
	return b.change(id, func(a *auth.Account) { a.Active = false })
}

// change changes an account and ends its logins.
func (b *Book) change(id string, to func(*auth.Account)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.accounts, func(a auth.Account) bool { return a.ID == id })
	if i < 0 {
		return auth.ErrNoAccount
	}
	to(&b.accounts[i])
	for token, l := range b.logins {
		if l.AccountID == id {
			delete(b.logins, token)
		}
	}
	return nil
}

// ListAccounts implements auth.Book.
func (b *Book) ListAccounts(_ context.Context, tenant string) ([]auth.Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []auth.Account
	for _, a := range b.accounts {
		if a.Tenant == tenant {
			out = append(out, a)
		}
	}
	return out, nil
}

// CountAccounts implements auth.Book.
func (b *Book) CountAccounts(context.Context) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, a := range b.accounts {
		if a.Active {
			n++
		}
	}
	return n, nil
}

// AddLogin implements auth.Book.
func (b *Book) AddLogin(_ context.Context, l auth.Login, by auth.Proof) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.accounts, func(a auth.Account) bool { return a.ID == l.AccountID && a.Active })
	if i < 0 {
		return auth.ErrNoAccount
	}
	if !b.holds(b.accounts[i], l.Method, by) {
		return auth.ErrProofGone
	}
	if b.logins == nil {
		b.logins = map[canon.Digest]auth.Login{}
	}
	b.logins[l.Token] = l
	return nil
}

// holds reports whether a proof still proves something.
func (b *Book) holds(a auth.Account, method string, by auth.Proof) bool {
	switch method {
	case auth.MethodPassword:
		return by.PasswordHash != "" && by.PasswordHash == a.PasswordHash
	case auth.MethodPasskey:
		i := b.index(by.Passkey)
		return by.PasswordHash == a.PasswordHash && i >= 0 && b.credentials[i].AccountID == a.ID && b.credentials[i].RevokedAt.IsZero()
	default:
		return method == auth.MethodOIDC && by.PasswordHash == a.PasswordHash
	}
}

// Login implements auth.Book.
func (b *Book) Login(_ context.Context, token canon.Digest) (auth.Login, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, found := b.logins[token]; found {
		return l, nil
	}
	return auth.Login{}, auth.ErrNoLogin
}

// TouchLogin implements auth.Book.
func (b *Book) TouchLogin(_ context.Context, token canon.Digest, idleUntil time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, found := b.logins[token]; found {
		l.IdleUntil = idleUntil
		b.logins[token] = l
	}
	return nil
}

// EndLogin implements auth.Book.
func (b *Book) EndLogin(_ context.Context, token canon.Digest) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.logins, token)
	return nil
}

// Logins returns the digests of all logins.
func (b *Book) Logins() []canon.Digest {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []canon.Digest
	for token := range b.logins {
		out = append(out, token)
	}
	return out
}
