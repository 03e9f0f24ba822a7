package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// How old a login may be that stands for a person's word where they have
// neither passkey nor password: for a vote, and for anything that asks for a
// fresh one (see approval.StepUpAge).
const (
	VoteLogin  = time.Hour
	FreshLogin = 5 * time.Minute
)

// Identity is who somebody is at an identity provider that was asked just now.
type Identity struct {
	Issuer, Subject string    // together they are the person, for ever
	Names           []string  // what the person may be called, best first
	Groups          []string  // of ours
	ProvedAt        time.Time // when the provider saw them sign in; zero if it does not say
}

// The refusals of an identity.
var (
	ErrStranger = errors.New("the provider puts this person in no group that counts here")
	ErrShutOut  = errors.New("the account is not active")
	ErrNoName   = errors.New("no name of this person can be used here, or all are taken")
	ErrOldLogin = errors.New("this takes a fresh sign-in")
)

// LoginFrom starts a login of whoever an identity is. The account is bound to
// issuer and subject; it is made at the first login of somebody who is in a
// group that counts, and its groups are the provider's from then on, each time
// anew. It fails with ErrStranger, ErrShutOut or ErrNoName.
func (a *Accounts) LoginFrom(ctx context.Context, tenant string, who Identity) (token string, _ Account, _ error) {
	if who.Issuer == "" || who.Subject == "" {
		return "", Account{}, ErrStranger
	}
	account, err := a.book.AccountBySubject(ctx, who.Issuer, who.Subject)
	switch {
	case errors.Is(err, ErrNoAccount):
		account, err = a.welcome(ctx, tenant, who)
	case err == nil && (account.Tenant != tenant || !account.Active):
		err = ErrShutOut
	case err == nil:
		account, err = a.regroup(ctx, account, who.Groups)
	}
	if err != nil {
		return "", Account{}, err
	}
	proved := who.ProvedAt
	if now := a.moment(); proved.IsZero() {
		proved = now.Add(-LoginLife) // nobody says when: it is not fresh
	} else if proved.After(now) {
		proved = now
	}
	return a.begin(ctx, account, MethodOIDC, proved, nil)
}

// welcome makes the account of somebody who comes for the first time.
func (a *Accounts) welcome(ctx context.Context, tenant string, who Identity) (Account, error) {
	if len(who.Groups) == 0 {
		return Account{}, ErrStranger
	}
	for _, name := range who.Names {
		clean, err := CleanName(name)
		if err != nil {
			continue
		}
		account := Account{ID: NewAccountID(), Name: clean, Key: FoldName(clean), Tenant: tenant, Groups: who.Groups,
			Active: true, CreatedAt: a.moment(), Issuer: who.Issuer, Subject: who.Subject}
		err = a.book.AddAccount(ctx, account)
		if err == nil {
			return account, nil
		}
		if !errors.Is(err, ErrNameTaken) {
			return Account{}, fmt.Errorf("add account: %w", err)
		}
	}
	return Account{}, ErrNoName
}

// regroup takes the provider's groups over. The last operator stays one.
func (a *Accounts) regroup(ctx context.Context, account Account, groups []string) (Account, error) {
	account, err := a.setGroups(ctx, account, groups)
	if errors.Is(err, ErrLast) {
		groups = append(slices.Clone(groups), action.GroupOperator)
		slices.Sort(groups)
		return a.setGroups(ctx, account, slices.Compact(groups))
	}
	return account, err
}

// setGroups changes an account's groups to those of its provider, and nothing
// where it fails.
func (a *Accounts) setGroups(ctx context.Context, account Account, groups []string) (Account, error) {
	if slices.Equal(account.Groups, groups) || len(account.Groups)+len(groups) == 0 {
		return account, nil
	}
	if err := a.book.SetGroups(ctx, account.ID, groups, account.ID); err != nil {
		return account, err
	}
	account.Groups = groups
	return account, nil
}

// SignVoteAfter makes a vote of somebody who has neither passkey nor password:
// their login at the identity provider stands for their word if it is at most
// VoteLogin old. It fails with ErrOldLogin, ErrPasskeyNeeded, ErrCredentials
// for an account that has a password, or ErrVoteShape.
func (a *Accounts) SignVoteAfter(ctx context.Context, login Login, account Account, v action.Vote) (action.Vote, error) {
	if v.ActionID == "" || v.Digest.IsZero() || login.AccountID != account.ID {
		return action.Vote{}, ErrVoteShape
	}
	have, err := a.Passkeys(ctx, account.ID)
	switch {
	case err != nil:
		return action.Vote{}, err
	case len(have) > 0:
		return action.Vote{}, ErrPasskeyNeeded
	}
	if err := a.FreshFrom(login, account, VoteLogin); err != nil {
		return action.Vote{}, err
	}
	return a.signFor(account, v, MethodOIDC, login.Proved()), nil
}

// FreshFrom reports, as ErrCredentials or ErrOldLogin, why a login does not
// stand for the word of an account of an identity provider.
func (a *Accounts) FreshFrom(login Login, account Account, most time.Duration) error {
	age := a.now().Sub(login.Proved())
	switch {
	case account.Issuer == "" || account.PasswordHash != "" || login.Method != MethodOIDC || login.AccountID != account.ID:
		return ErrCredentials
	case age > most || age < -time.Minute:
		return ErrOldLogin
	}
	return nil
}
