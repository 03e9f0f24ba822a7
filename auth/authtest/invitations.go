package authtest

import (
	"context"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// AddInvitation implements auth.InvitationBook.
func (b *Book) AddInvitation(ctx context.Context, i auth.Invitation) error {
	if a, err := b.AccountByID(ctx, i.By); err != nil || !a.Active || a.Tenant != i.Tenant {
		return auth.ErrNoAccount
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.invitations = append(b.invitations, i)
	return nil
}

func (b *Book) invited(token canon.Digest) int {
	return slices.IndexFunc(b.invitations, func(i auth.Invitation) bool { return i.Token == token })
}

// Invitation implements auth.InvitationBook.
func (b *Book) Invitation(_ context.Context, token canon.Digest) (auth.Invitation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.invited(token); at >= 0 {
		return b.invitations[at], nil
	}
	return auth.Invitation{}, auth.ErrNoInvitation
}

// Invitations implements auth.InvitationBook.
func (b *Book) Invitations(_ context.Context, tenant string) ([]auth.Invitation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []auth.Invitation
	for _, i := range b.invitations {
		if i.Tenant == tenant && i.UsedAt.IsZero() {
			out = append(out, i)
		}
	}
	return out, nil
}

// Accept implements auth.InvitationBook.
func (b *Book) Accept(ctx context.Context, token canon.Digest, a auth.Account, c *auth.Credential) error {
	i, err := b.Invitation(ctx, token)
	if err != nil {
		return err
	}
	if by, err := b.AccountByID(ctx, i.By); err != nil || !by.Active || !i.UsedAt.IsZero() || !a.CreatedAt.Before(i.ExpiresAt) {
		return auth.ErrNoInvitation
	}
	if c != nil {
		if _, err := b.CredentialByID(ctx, c.ID); err == nil {
			return auth.ErrCredentialTaken
		}
	}
	a.Tenant, a.Groups = i.Tenant, i.Groups
	if err := b.AddAccount(ctx, a); err != nil {
		return err
	}
	if c != nil {
		if err := b.AddCredential(ctx, *c); err != nil {
			return err
		}
	}
	return b.endInvitation(token, a.ID, a.CreatedAt)
}

// WithdrawInvitation implements auth.InvitationBook.
func (b *Book) WithdrawInvitation(_ context.Context, token canon.Digest, _ string, at time.Time) error {
	return b.endInvitation(token, "", at)
}

func (b *Book) endInvitation(token canon.Digest, by string, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.invited(token)
	if i < 0 || !b.invitations[i].UsedAt.IsZero() {
		return auth.ErrNoInvitation
	}
	b.invitations[i].UsedAt, b.invitations[i].UsedBy = at, by
	return nil
}

// SetGroups implements auth.ManageBook.
func (b *Book) SetGroups(_ context.Context, id string, groups []string, by string) error {
	return b.manage(id, by, func(a *auth.Account) { a.Groups = slices.Clone(groups) })
}

// SetActive implements auth.ManageBook.
func (b *Book) SetActive(_ context.Context, id string, active bool, by string) error {
	err := b.manage(id, by, func(a *auth.Account) { a.Active = active })
	if err == nil && !active {
		err = b.change(id, func(*auth.Account) {})
	}
	return err
}

func (b *Book) manage(id, by string, to func(*auth.Account)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.accounts, func(a auth.Account) bool { return a.ID == id })
	if i < 0 {
		return auth.ErrNoAccount
	}
	tenant := b.accounts[i].Tenant
	if !slices.ContainsFunc(b.accounts, func(a auth.Account) bool { return a.ID == by && a.Active && a.Tenant == tenant }) {
		return auth.ErrNotManager
	}
	before := b.accounts[i]
	_, operators := b.active(tenant)
	to(&b.accounts[i])
	people, left := b.active(tenant)
	if people == 0 || operators > 0 && left == 0 {
		b.accounts[i] = before
		return auth.ErrLast
	}
	return nil
}

// active counts the active accounts of a tenant, and the operators of them.
func (b *Book) active(tenant string) (people, operators int) {
	for _, a := range b.accounts {
		if a.Tenant == tenant && a.Active {
			people++
			if slices.Contains(a.Groups, action.GroupOperator) {
				operators++
			}
		}
	}
	return people, operators
}
