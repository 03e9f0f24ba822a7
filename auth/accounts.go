package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/ids"
	"github.com/seed-de4804fb/verbatim/keys"
)

// What a check of a person answers. ErrCredentials is the same for an
// unknown name, a wrong password and an account that is not active.
var (
	ErrCredentials = errors.New("name or password is wrong")
	ErrConfig      = errors.New("accounts need a book and the keys that sign votes")
	ErrTenant      = errors.New("tenant must not be empty")
	ErrGroup       = errors.New("group must not be empty")
)

// hashesAtOnce bounds the memory that guesses can take: 64 MiB each.
const hashesAtOnce = 2

// Config is what Accounts needs. Every field but Now is required.
type Config struct {
	Book  Book
	Votes VoteKeys
	Now   func() time.Time // nil means time.Now
}

// Accounts checks people. It is safe for use by several goroutines.
type Accounts struct {
	book     Book
	votes    VoteKeys
	now      func() time.Time
	throttle throttle
	hashing  chan struct{}
	dummy    phc // what an unknown name is checked against
}

// New returns Accounts over a book, or ErrConfig.
func New(c Config) (*Accounts, error) {
	if c.Book == nil || c.Votes == nil || c.Votes.Purpose() != keys.Votes {
		return nil, ErrConfig
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &Accounts{book: c.Book, votes: c.Votes, now: c.Now,
		hashing: make(chan struct{}, hashesAtOnce),
		dummy:   phc{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, hashSalt), key: make([]byte, hashKey)}}
	rand.Read(a.dummy.salt)
	rand.Read(a.dummy.key)
	return a, nil
}

// Create adds an active account. It fails with ErrName, ErrPassword,
// ErrTenant, ErrGroup or ErrNameTaken.
func (a *Accounts) Create(ctx context.Context, name, password, tenant, principal string, groups []string) (Account, error) {
	clean, err := CleanName(name)
	if err != nil {
		return Account{}, err
	}
	if tenant == "" {
		return Account{}, ErrTenant
	}
	if slices.ContainsFunc(groups, func(g string) bool { return strings.TrimSpace(g) == "" }) {
		return Account{}, ErrGroup
	}
	hash, err := a.hashNew(ctx, clean, password)
	if err != nil {
		return Account{}, err
	}
	now := a.moment()
	account := Account{ID: ids.New("person"), Name: clean, Key: FoldName(clean),
		Tenant: tenant, Principal: principal, Groups: slices.Clone(groups), PasswordHash: hash,
		Active: true, CreatedAt: now, PasswordAt: now}
	if err := a.book.AddAccount(ctx, account); err != nil {
		return Account{}, fmt.Errorf("add account: %w", err)
	}
	return account, nil
}

// SetPassword replaces a password and ends all logins of the account. Only
// the operator's terminal calls it: it does not ask for the old password.
func (a *Accounts) SetPassword(ctx context.Context, id, password string) error {
	account, err := a.book.AccountByID(ctx, id)
	if err != nil {
		return fmt.Errorf("find account: %w", err)
	}
	hash, err := a.hashNew(ctx, account.Name, password)
	if err != nil {
		return err
	}
	if err := a.book.SetPassword(ctx, id, hash, a.moment()); err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	return nil
}

// ByID returns an account, active or not, or ErrNoAccount.
func (a *Accounts) ByID(ctx context.Context, id string) (Account, error) {
	return a.book.AccountByID(ctx, id)
}

// List returns the accounts of a tenant, oldest first.
func (a *Accounts) List(ctx context.Context, tenant string) ([]Account, error) {
	return a.book.ListAccounts(ctx, tenant)
}

// Disable makes an account inactive and ends its logins, whoever is left.
func (a *Accounts) Disable(ctx context.Context, id string) error { return a.book.Disable(ctx, id) }

// Count counts the active accounts. With exactly one, that person is the
// single operator.
func (a *Accounts) Count(ctx context.Context) (int, error) { return a.book.CountAccounts(ctx) }

// CanApprove reports whether a tenant has an active account at all. Without
// one nobody could vote on what waits.
func (a *Accounts) CanApprove(ctx context.Context, tenant string) (bool, error) {
	people, err := a.book.ListAccounts(ctx, tenant)
	return slices.ContainsFunc(people, func(p Account) bool { return p.Active }), err
}

// Check returns the active account of a name if the password is its own. It
// fails with ErrCredentials or a [*ThrottledError]; what it costs does not
// tell whether the name exists.
func (a *Accounts) Check(ctx context.Context, name, password string) (Account, error) {
	key := FoldName(name)
	if err := a.throttle.enter(key, a.now()); err != nil {
		return Account{}, err
	}
	account, err := a.book.AccountByName(ctx, key)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return Account{}, fmt.Errorf("find account: %w", err)
	}
	known := err == nil && key != "" && account.PasswordHash != ""
	same, err := a.compare(ctx, account, known, password)
	if err != nil {
		return Account{}, err
	}
	if !same || !known || !account.Active {
		return Account{}, ErrCredentials
	}
	a.throttle.succeed(key)
	return account, nil
}

// compare hashes the password exactly once, whatever was found.
func (a *Accounts) compare(ctx context.Context, account Account, known bool, password string) (bool, error) {
	stored := a.dummy
	if known {
		var err error
		if stored, err = parsePHC(account.PasswordHash); err != nil {
			return false, err
		}
	}
	clean, ok := cleanPassword(password)
	leave, err := a.takeTurn(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	return stored.matches(clean) && ok, nil
}

func (a *Accounts) hashNew(ctx context.Context, name, password string) (string, error) {
	clean, err := newPassword(name, password)
	if err != nil {
		return "", err
	}
	leave, err := a.takeTurn(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return hashPassword(clean), nil
}

// takeTurn waits until few enough hashes are being computed.
func (a *Accounts) takeTurn(ctx context.Context) (leave func(), err error) {
	select {
	case a.hashing <- struct{}{}:
		return func() { <-a.hashing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// moment is the time as books keep it.
func (a *Accounts) moment() time.Time { return a.now().UTC().Truncate(time.Millisecond) }
