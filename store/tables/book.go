package tables

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/auth"
)

// Book is the auth.Book of a store that embeds it.
type Book struct{ db DB }

var _ auth.Book = Book{}

// NewBook is the book of a store.
func NewBook(db DB) Book { return Book{db} }

// change runs a verb on accounts, whose answers pass unwrapped.
func (b Book) change(ctx context.Context, fn func(Tx) error) error {
	err := b.db.Write(ctx, synced, fn)
	for _, answer := range []error{auth.ErrNoAccount, auth.ErrNameTaken, auth.ErrNoLogin, auth.ErrProofGone, auth.ErrNoCredential, auth.ErrCredentialTaken, auth.ErrCloned,
		auth.ErrNoInvitation, auth.ErrNotManager, auth.ErrLast, auth.ErrNoDelegation} {
		if errors.Is(err, answer) {
			return answer
		}
	}
	return err
}
