package authtest

import (
	"context"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
)

// AddDelegation implements auth.DelegationBook.
func (b *Book) AddDelegation(ctx context.Context, d auth.Delegation) error {
	for _, id := range []string{d.Delegator, d.Delegate} {
		if a, err := b.AccountByID(ctx, id); err != nil || !a.Active || a.Tenant != d.Tenant {
			return auth.ErrNoAccount
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.delegations = append(b.delegations, d)
	return nil
}

// Delegations implements auth.DelegationBook.
func (b *Book) Delegations(_ context.Context, tenant string, after time.Time) ([]auth.Delegation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []auth.Delegation
	for _, d := range b.delegations {
		if d.Tenant == tenant && d.EndsAt.After(after) {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(x, y auth.Delegation) int { return x.StartsAt.Compare(y.StartsAt) })
	return out, nil
}

// EndDelegation implements auth.DelegationBook.
func (b *Book) EndDelegation(_ context.Context, id, _ string, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, d := range b.delegations {
		if d.ID == id && d.EndsAt.After(at) {
			b.delegations[i].EndsAt = at
			return nil
		}
	}
	return auth.ErrNoDelegation
}
