package authtest

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
)

var _ auth.CredentialBook = (*Book)(nil)

// AddCredential implements auth.CredentialBook.
func (b *Book) AddCredential(ctx context.Context, c auth.Credential) error {
	if a, err := b.AccountByID(ctx, c.AccountID); err != nil || !a.Active {
		return auth.ErrNoAccount
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index(c.ID) >= 0 {
		return auth.ErrCredentialTaken
	}
	b.credentials = append(b.credentials, c)
	return nil
}

func (b *Book) index(id []byte) int {
	return slices.IndexFunc(b.credentials, func(c auth.Credential) bool { return bytes.Equal(c.ID, id) })
}

// Credentials implements auth.CredentialBook.
func (b *Book) Credentials(_ context.Context, account string) ([]auth.Credential, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []auth.Credential
	for _, c := range b.credentials {
		if c.AccountID == account {
			out = append(out, c)
		}
	}
	return out, nil
}

// AllCredentials implements auth.CredentialBook.
func (b *Book) AllCredentials(ctx context.Context) ([]auth.Credential, error) {
	b.mu.Lock()
	all := slices.Clone(b.credentials)
	b.mu.Unlock()
	var out []auth.Credential
	for _, c := range all {
		if a, err := b.AccountByID(ctx, c.AccountID); err == nil && a.Active && c.RevokedAt.IsZero() {
			out = append(out, c)
		}
	}
	return out, nil
}

// CredentialByID implements auth.CredentialBook.
func (b *Book) CredentialByID(_ context.Context, id []byte) (auth.Credential, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.index(id); i >= 0 {
		return b.credentials[i], nil
	}
	return auth.Credential{}, auth.ErrNoCredential
}

// UseCredential implements auth.CredentialBook.
func (b *Book) UseCredential(_ context.Context, id []byte, count uint32, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(id)
	if i < 0 || !b.credentials[i].RevokedAt.IsZero() {
		return auth.ErrNoCredential
	}
	if last := b.credentials[i].Count; count <= last && (count > 0 || last > 0) {
		return auth.ErrCloned
	}
	b.credentials[i].Count, b.credentials[i].UsedAt = count, at
	return nil
}

// RemoveCredential implements auth.CredentialBook.
func (b *Book) RemoveCredential(_ context.Context, id []byte, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(id)
	if i < 0 || !b.credentials[i].RevokedAt.IsZero() {
		return auth.ErrNoCredential
	}
	b.credentials[i].RevokedAt = at
	return nil
}
