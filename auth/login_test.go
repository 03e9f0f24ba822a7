package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

func login(t *testing.T, b bench) string {
	t.Helper()
	token, _, err := b.accounts.Login(t.Context(), "Alice", password)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestLoginTokenIsKeptAsADigestOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token := login(t, b)
	if len(token) != 43 {
		t.Errorf("token has %d characters; want 256 bits in base64url", len(token))
	}
	kept := b.book.Logins()
	if len(kept) != 1 || kept[0] != canon.Sum([]byte(token)) {
		t.Errorf("book keeps %v; want the digest of the token", kept)
	}
	if other := login(t, b); other == token {
		t.Error("two logins have one token")
	}
}

func TestLoginEndsByIdlingByAgeAndByLogout(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		do   func(t *testing.T, b bench, token string)
		want error
	}{
		"used within the hour": {func(t *testing.T, b bench, token string) { b.clock.Move(59 * time.Minute) }, nil},
		"idle for an hour":     {func(t *testing.T, b bench, token string) { b.clock.Move(time.Hour) }, auth.ErrNoLogin},
		"kept alive": {func(t *testing.T, b bench, token string) {
			for range 14 {
				b.clock.Move(50 * time.Minute)
				if _, _, err := b.accounts.Session(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			}
		}, nil},
		"twelve hours old": {func(t *testing.T, b bench, token string) {
			for range 24 {
				b.clock.Move(30 * time.Minute)
				_, _, _ = b.accounts.Session(t.Context(), token)
			}
		}, auth.ErrNoLogin},
		"logged out": {func(t *testing.T, b bench, token string) {
			if err := b.accounts.Logout(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}, auth.ErrNoLogin},
		"password changed": {func(t *testing.T, b bench, token string) {
			if err := b.accounts.SetPassword(t.Context(), b.alice.ID, "eight loud lamps burn"); err != nil {
				t.Fatal(err)
			}
		}, auth.ErrNoLogin},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			token := login(t, b)
			test.do(t, b, token)
			_, account, err := b.accounts.Session(t.Context(), token)
			if !errors.Is(err, test.want) {
				t.Fatalf("Session = %v; want %v", err, test.want)
			}
			if err == nil && account.ID != b.alice.ID {
				t.Errorf("Session is of %q", account.ID)
			}
		})
	}
}

func TestMadeUpTokensAreNoLogin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token := login(t, b)
	for _, made := range []string{"", "x", strings.Repeat("A", 43), token + "A", token[1:], strings.ToLower(token) + " "} {
		if _, _, err := b.accounts.Session(t.Context(), made); !errors.Is(err, auth.ErrNoLogin) {
			t.Errorf("Session(%d characters) = %v; want ErrNoLogin", len(made), err)
		}
	}
}

func TestNewPasswordReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const next = "eight loud lamps burn"
	if err := b.accounts.SetPassword(t.Context(), b.alice.ID, next); err != nil {
		t.Fatal(err)
	}
	if _, err := b.accounts.Check(t.Context(), "Alice", password); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("old password: %v", err)
	}
	if _, err := b.accounts.Check(t.Context(), "Alice", next); err != nil {
		t.Errorf("new password: %v", err)
	}
	if err := b.accounts.SetPassword(t.Context(), "nobody", next); !errors.Is(err, auth.ErrNoAccount) {
		t.Errorf("unknown account: %v", err)
	}
	if err := b.accounts.SetPassword(t.Context(), b.alice.ID, "short"); !errors.Is(err, auth.ErrPassword) {
		t.Errorf("weak password: %v", err)
	}
}
