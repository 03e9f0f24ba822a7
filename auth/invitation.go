package auth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/ids"
)

// How long an invitation may be good.
const (
	InvitationLife    = 72 * time.Hour
	MinInvitationLife = time.Minute
	MaxInvitationLife = 7 * 24 * time.Hour
	codeGroup         = 5 // characters between two hyphens of a code
)

// Invitation lets one person make one account.
type Invitation struct {
	Token     canon.Digest // SHA-256 of the code; the code itself is kept nowhere
	Tenant    string
	Groups    []string // that the account will be in
	By        string   // account id of who invites
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero while it is open
	UsedBy    string    // account id; "" if it was withdrawn
}

// InvitationBook keeps invitations. Every method is one durable transaction.
type InvitationBook interface {
	// AddInvitation fails with ErrNoAccount unless By is an active account of
	// the tenant.
	AddInvitation(ctx context.Context, i Invitation) error
	// Invitation returns one, used or not, or ErrNoInvitation.
	Invitation(ctx context.Context, token canon.Digest) (Invitation, error)
	// Invitations lists the open ones of a tenant, oldest first.
	Invitations(ctx context.Context, tenant string) ([]Invitation, error)
	// Accept adds an account, with its first passkey unless c is nil, and uses
	// the invitation up. Tenant and groups are those of the invitation. It
	// fails with ErrNoInvitation where the invitation is used, over at
	// a.CreatedAt, or its inviter is no longer active; and like AddAccount and
	// AddCredential.
	Accept(ctx context.Context, token canon.Digest, a Account, c *Credential) error
	// WithdrawInvitation ends an open one, or fails with ErrNoInvitation.
	WithdrawInvitation(ctx context.Context, token canon.Digest, by string, at time.Time) error
}

// The refusals around invitations.
var (
	ErrNoInvitation   = errors.New("the invitation is unknown, over, withdrawn or used already")
	ErrInvitationLife = errors.New("an invitation is good for a minute to 7 days")
	ErrNothingProves  = errors.New("an account needs a passkey or a password")
)

// Invite makes an invitation and returns its code, which is told to nobody
// else. It fails with ErrNotManager, ErrGroup or ErrInvitationLife. 0 means
// InvitationLife.
func (a *Accounts) Invite(ctx context.Context, by Account, groups []string, life time.Duration) (code string, _ Invitation, _ error) {
	if life == 0 {
		life = InvitationLife
	}
	if life < MinInvitationLife || life > MaxInvitationLife {
		return "", Invitation{}, ErrInvitationLife
	}
	groups, err := cleanGroups(groups)
	if err == nil {
		err = a.mustManage(ctx, by)
	}
	if err != nil {
		return "", Invitation{}, err
	}
	code, now := rand.Text(), a.moment()
	i := Invitation{Token: canon.Sum([]byte(code)), Tenant: by.Tenant, Groups: groups, By: by.ID, CreatedAt: now, ExpiresAt: now.Add(life)}
	if err := a.book.AddInvitation(ctx, i); err != nil {
		return "", Invitation{}, fmt.Errorf("add invitation: %w", err)
	}
	return spread(code), i, nil
}

// spread writes a code so that people can read it out.
func spread(code string) string {
	var parts []string
	for part := range slices.Chunk([]byte(code), codeGroup) {
		parts = append(parts, string(part))
	}
	return strings.Join(parts, "-")
}

// codeToken is the digest of a code as somebody typed it.
func codeToken(code string) canon.Digest {
	typed := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(strings.TrimSpace(code)))
	return canon.Sum([]byte(typed))
}

// Invited returns the open invitation of a code, or ErrNoInvitation.
func (a *Accounts) Invited(ctx context.Context, code string) (Invitation, error) {
	i, err := a.book.Invitation(ctx, codeToken(code))
	if err != nil {
		return Invitation{}, err
	}
	if !i.UsedAt.IsZero() || !a.now().Before(i.ExpiresAt) {
		return Invitation{}, ErrNoInvitation
	}
	return i, nil
}

// Invitations lists the open invitations of a tenant, oldest first.
func (a *Accounts) Invitations(ctx context.Context, tenant string) ([]Invitation, error) {
	all, err := a.book.Invitations(ctx, tenant)
	return slices.DeleteFunc(all, func(i Invitation) bool { return !a.now().Before(i.ExpiresAt) }), err
}

// Withdraw ends an open invitation. It fails with ErrNotManager, except for
// who made it, or ErrNoInvitation.
func (a *Accounts) Withdraw(ctx context.Context, by Account, token canon.Digest) error {
	i, err := a.book.Invitation(ctx, token)
	if err != nil {
		return err
	}
	if i.Tenant != by.Tenant {
		return ErrNoInvitation
	}
	if i.By != by.ID {
		if err := a.mustManage(ctx, by); err != nil {
			return err
		}
	}
	return a.book.WithdrawInvitation(ctx, token, by.ID, a.moment())
}

// NewAccountID is the id of an account that somebody is about to make: a
// passkey is made for it before it exists.
func NewAccountID() string { return ids.New("person") }

// Joining is how an invited person makes their account: with a passkey, or a
// password, or both.
type Joining struct {
	Code     string
	ID       string // from NewAccountID
	Name     string
	Password string          // "" for none
	Nonce    string          // of the page; its hex bytes are the challenge of the passkey
	Label    string          // that the passkey is called
	Created  passkey.Created // zero for none
}

// Join makes the account of an invitation, which is used up with it. It fails
// with ErrNoInvitation, ErrNothingProves, ErrName, ErrNameTaken, ErrPassword,
// ErrPasskeyName, passkey.ErrRegistration or ErrCredentialTaken.
func (a *Accounts) Join(ctx context.Context, site passkey.Site, j Joining) (Account, error) {
	i, err := a.Invited(ctx, j.Code)
	if err != nil {
		return Account{}, err
	}
	name, err := CleanName(j.Name)
	if err != nil {
		return Account{}, err
	}
	now := a.moment()
	account := Account{ID: j.ID, Name: name, Key: FoldName(name), Tenant: i.Tenant, Groups: i.Groups, Active: true, CreatedAt: now}
	var first *Credential
	if len(j.Created.ID) > 0 {
		if first, err = a.firstPasskey(site, j); err != nil {
			return Account{}, err
		}
	}
	if j.Password != "" {
		if account.PasswordHash, err = a.hashNew(ctx, name, j.Password); err != nil {
			return Account{}, err
		}
		account.PasswordAt = now
	}
	if first == nil && account.PasswordHash == "" {
		return Account{}, ErrNothingProves
	}
	if err := a.book.Accept(ctx, i.Token, account, first); err != nil {
		return Account{}, fmt.Errorf("accept invitation: %w", err)
	}
	return account, nil
}

// firstPasskey checks a passkey that was made for an account to come.
func (a *Accounts) firstPasskey(site passkey.Site, j Joining) (*Credential, error) {
	label, ok := cleanLabel(j.Label)
	if !ok {
		return nil, ErrPasskeyName
	}
	challenge, err := hex.DecodeString(j.Nonce)
	if err != nil {
		return nil, passkey.ErrRegistration
	}
	c, err := a.vouched(site, j.ID, label, challenge, j.Created)
	return &c, err
}
