package auth

import (
	"context"
	"errors"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Account is one human. Stores return copies.
type Account struct {
	ID           string // random, never reused
	Name         string // as typed by its owner, NFC
	Key          string // FoldName(Name): unique among all accounts of all tenants
	Tenant       string // whose actions this person may see and vote on
	Principal    string // the principal that this person is when an agent runs for them; "" if none
	Groups       []string
	PasswordHash string // Argon2id in PHC string form; "" for an account without a password
	Active       bool
	CreatedAt    time.Time
	PasswordAt   time.Time // when the password was set
	// Issuer and Subject are who the person is at an identity provider; "" for
	// an account of this server.
	Issuer, Subject string
}

// Login is one browser that a person has logged in with.
type Login struct {
	Token     canon.Digest // SHA-256 of the cookie token; the token itself is kept nowhere
	AccountID string
	CreatedAt time.Time
	ExpiresAt time.Time // ends here at the latest
	IdleUntil time.Time // ends here unless used before
	Method    string    // how the person proved who they are: MethodPassword, MethodPasskey or MethodOIDC
	ProvedAt  time.Time // and when; zero: at CreatedAt
}

// Proved is when the person behind a login proved who they are.
func (l Login) Proved() time.Time {
	if l.ProvedAt.IsZero() {
		return l.CreatedAt
	}
	return l.ProvedAt
}

// Proof is what a login was proved with. What of it belongs to the account is
// as it was read before the proof was checked.
type Proof struct {
	PasswordHash string // of the account at that time; "" if it had no password
	Passkey      []byte // id of the passkey that was used; nil if none was
}

// Book keeps accounts and logins. Every method is one durable transaction.
// Times are UTC and may be rounded down to whole milliseconds. Names are
// compared as bytes.
type Book interface {
	// AddAccount adds an account. It fails with ErrNameTaken if an account,
	// active or not, has the same Key, and changes nothing then.
	AddAccount(ctx context.Context, a Account) error

	// AccountByName returns the account with a Key, active or not, or
	// ErrNoAccount.
	AccountByName(ctx context.Context, key string) (Account, error)

	// AccountByID returns an account, active or not, or ErrNoAccount.
	AccountByID(ctx context.Context, id string) (Account, error)

	// AccountBySubject returns the account of somebody at an identity provider,
	// active or not, or ErrNoAccount.
	AccountBySubject(ctx context.Context, issuer, subject string) (Account, error)

	// SetPassword replaces the hash and the time of an account's password and
	// ends all its logins. It fails with ErrNoAccount.
	SetPassword(ctx context.Context, id, hash string, at time.Time) error

	// ListAccounts returns the accounts of a tenant in the order of their
	// creation.
	ListAccounts(ctx context.Context, tenant string) ([]Account, error)

	// Disable makes an account inactive and ends all its logins, for the
	// program itself. It fails with ErrNoAccount.
	Disable(ctx context.Context, id string) error

	// CountAccounts counts the active accounts of all tenants.
	CountAccounts(ctx context.Context) (int, error)

	// AddLogin adds a login. It fails with ErrNoAccount unless the account
	// exists and is active, and with ErrProofGone where by no longer proves
	// anything: the account has another password than it had, whatever was
	// proved with, or the passkey was removed. A login of MethodPassword takes
	// a password, one of MethodPasskey a passkey of the account; there are no
	// other methods but MethodOIDC. It may forget logins that expired before
	// l.CreatedAt.
	AddLogin(ctx context.Context, l Login, by Proof) error

	// Login returns a login by the digest of its token, also one that is over
	// by time, or ErrNoLogin.
	Login(ctx context.Context, token canon.Digest) (Login, error)

	// TouchLogin moves IdleUntil. A login that is gone stays gone, without an
	// error.
	TouchLogin(ctx context.Context, token canon.Digest, idleUntil time.Time) error

	// EndLogin forgets a login. One that is gone is no error.
	EndLogin(ctx context.Context, token canon.Digest) error

	CredentialBook
	InvitationBook
	ManageBook
	DelegationBook
}

// What a Book answers beside the errors of its database.
var (
	ErrNoAccount = errors.New("no such account")
	ErrNameTaken = errors.New("an account with this name, or one that looks like it, exists")
	ErrNoLogin   = errors.New("no such login")
	ErrProofGone = errors.New("the password was changed or the passkey removed while somebody signed in with it")
)
