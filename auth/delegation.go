package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/internal/ids"
)

// MaxDelegation is the longest time that one person may stand in for another.
const MaxDelegation = 90 * 24 * time.Hour

// maxDelegationReason bounds a reason in characters.
const maxDelegationReason = 500

// Delegation says that one person votes in another's place for a time: as
// themselves, with the groups of both. It is not handed on.
type Delegation struct {
	ID        string // random, never reused
	Tenant    string
	Delegator string // account id of who is away
	Delegate  string // account id of who stands in
	Reason    string
	CreatedAt time.Time
	StartsAt  time.Time
	EndsAt    time.Time
}

// DelegationBook keeps delegations. Every method is one durable transaction.
type DelegationBook interface {
	// AddDelegation fails with ErrNoAccount unless both are active accounts of
	// the tenant.
	AddDelegation(ctx context.Context, d Delegation) error
	// Delegations lists those of a tenant that nobody has ended and that end
	// after a time, first those that start first.
	Delegations(ctx context.Context, tenant string, after time.Time) ([]Delegation, error)
	// EndDelegation ends one at once, or fails with ErrNoDelegation.
	EndDelegation(ctx context.Context, id, by string, at time.Time) error
}

// The refusals around delegations.
var (
	ErrNoDelegation = errors.New("there is no such delegation, or it is over")
	ErrDelegation   = errors.New("a delegation is to another active account, ends after it starts and after now, within 90 days, and has a reason")
)

// Delegate has somebody stand in for a person. A start in the past is now. It
// fails with ErrDelegation.
func (a *Accounts) Delegate(ctx context.Context, by Account, to string, from, until time.Time, reason string) (Delegation, error) {
	now := a.moment()
	if from.Before(now) {
		from = now
	}
	d := Delegation{ID: ids.New("del"), Tenant: by.Tenant, Delegator: by.ID, Delegate: to, Reason: strings.TrimSpace(reason), CreatedAt: now,
		StartsAt: from.UTC().Truncate(time.Millisecond), EndsAt: until.UTC().Truncate(time.Millisecond)}
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	if to == by.ID || to == "" || !d.EndsAt.After(d.StartsAt) || d.EndsAt.Sub(now) > MaxDelegation || d.Reason == "" ||
		utf8.RuneCountInString(d.Reason) > maxDelegationReason || !utf8.ValidString(d.Reason) || strings.ContainsFunc(d.Reason, hidden) {
		return Delegation{}, ErrDelegation
	}
	err := a.book.AddDelegation(ctx, d)
	if errors.Is(err, ErrNoAccount) {
		return Delegation{}, ErrDelegation
	}
	if err != nil {
		return Delegation{}, fmt.Errorf("add delegation: %w", err)
	}
	return d, nil
}

// Delegations lists the delegations of a tenant that are not over, also those
// that have not begun.
func (a *Accounts) Delegations(ctx context.Context, tenant string) ([]Delegation, error) {
	return a.book.Delegations(ctx, tenant, a.moment())
}

// EndDelegation ends a delegation at once, for either of its two people or for
// somebody who manages people. It fails with ErrNoDelegation or ErrNotManager.
func (a *Accounts) EndDelegation(ctx context.Context, by Account, id string) error {
	all, err := a.Delegations(ctx, by.Tenant)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(d Delegation) bool { return d.ID == id })
	if i < 0 {
		return ErrNoDelegation
	}
	if all[i].Delegator != by.ID && all[i].Delegate != by.ID {
		if err := a.mustManage(ctx, by); err != nil {
			return err
		}
	}
	return a.book.EndDelegation(ctx, id, by.ID, a.moment())
}

// StandsFor lists the active accounts that a person stands in for now.
func (a *Accounts) StandsFor(ctx context.Context, who Account) ([]Account, error) {
	now := a.moment()
	all, err := a.book.Delegations(ctx, who.Tenant, now)
	if err != nil {
		return nil, err
	}
	var out []Account
	for _, d := range all {
		if d.Delegate != who.ID || now.Before(d.StartsAt) || slices.ContainsFunc(out, func(o Account) bool { return o.ID == d.Delegator }) {
			continue
		}
		other, err := a.book.AccountByID(ctx, d.Delegator)
		if err != nil {
			return nil, err
		}
		if other.Active {
			out = append(out, other)
		}
	}
	return out, nil
}
