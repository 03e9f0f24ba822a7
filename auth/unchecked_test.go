package auth_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
)

var errAway = errors.New("the database is away")

// lost is a book that cannot be read any more.
type lost struct {
	*authtest.Book
}

func (l *lost) CredentialByID(context.Context, []byte) (auth.Credential, error) {
	return auth.Credential{}, errAway
}

func TestVoteIsUncheckedWhereTheBookFailsAndRefusedWhereThePasskeyIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.signed(t, b.withPasskey(t), shown(true))
	accounts, err := authtest.Accounts(&lost{b.book}, b.clock.Now, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := accounts.VerifyVote(t.Context(), v); !errors.Is(err, approval.ErrUnchecked) || !errors.Is(err, errAway) {
		t.Errorf("with the database away: %v", err)
	}
	empty, err := authtest.Accounts(&authtest.Book{}, b.clock.Now, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.VerifyVote(t.Context(), v); errors.Is(err, approval.ErrUnchecked) || !errors.Is(err, auth.ErrNoCredential) {
		t.Errorf("of an unknown passkey: %v", err)
	}
}
