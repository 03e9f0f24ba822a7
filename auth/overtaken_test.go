package auth_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
)

// late is a book in which something happens between the proof of a person and
// their login.
type late struct {
	*authtest.Book
	before func() error
}

func (l *late) AddLogin(ctx context.Context, login auth.Login, by auth.Proof) error {
	if err := l.before(); err != nil {
		return err
	}
	return l.Book.AddLogin(ctx, login, by)
}

// TestLoginIsNotBegunByAProofThatWasTakenAway: the answer is the one of a
// proof that comes too late.
func TestLoginIsNotBegunByAProofThatWasTakenAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	device := b.withPasskey(t)
	if _, _, err := b.accounts.LoginFrom(ctx, "acme", ada(nil)); err != nil {
		t.Fatal(err)
	}
	oidc, err := b.book.AccountBySubject(ctx, ada(nil).Issuer, ada(nil).Subject)
	if err != nil {
		t.Fatal(err)
	}
	book := &late{Book: b.book}
	accounts, err := authtest.Accounts(book, b.clock.Now, 1)
	if err != nil {
		t.Fatal(err)
	}
	byPassword := func() error {
		_, _, err := accounts.Login(ctx, "Alice", password)
		return err
	}
	byPasskey := func() error {
		nonce := auth.NewNonce()
		_, _, err := accounts.LoginWith(ctx, siteOf(t, pageOrigin), nonce, device.Assert(auth.Challenge(auth.ToSignIn, "", nonce)))
		return err
	}
	byProvider := func() error {
		_, _, err := accounts.LoginFrom(ctx, "acme", ada(nil))
		return err
	}
	change := func(id string) func() error {
		return func() error { return b.book.SetPassword(ctx, id, "another", start) }
	}
	nothing := func() error { return nil }
	before := len(b.book.Logins())
	for _, step := range []struct {
		name          string
		happens, sign func() error
		want          error
	}{
		{"nothing happens", nothing, byPassword, nil},
		{"nothing happens to a passkey", nothing, byPasskey, nil},
		{"the passkey is removed", func() error { return b.book.RemoveCredential(ctx, device.Assert(nil).CredentialID, start) }, byPasskey, auth.ErrNoCredential},
		{"the account of a provider gets a password", change(oidc.ID), byProvider, auth.ErrProofGone},
		{"the password is changed", change(b.alice.ID), byPassword, auth.ErrCredentials},
	} {
		book.before = step.happens
		if err := step.sign(); !errors.Is(err, step.want) || errors.Is(err, auth.ErrProofGone) != (step.want != nil) {
			t.Errorf("%s: %v, want %v", step.name, err, step.want)
		}
	}
	// Of the two logins that began, and the one of the provider, the changes ended all.
	if left := len(b.book.Logins()); before != 1 || left != 0 {
		t.Errorf("%d logins are left of %d", left, before)
	}
}
