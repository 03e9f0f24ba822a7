package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// AddInvitation adds an invitation of an active account.
func (b Book) AddInvitation(ctx context.Context, i auth.Invitation) error {
	return b.change(ctx, func(t Tx) error {
		if _, err := activeOf(t, i.Tenant, i.By); err != nil {
			return err
		}
		if _, err := t.Exec("INSERT INTO invitation (token, tenant, groups, by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
			i.Token, i.Tenant, verbs.ListText(i.Groups), i.By, i.CreatedAt, i.ExpiresAt); err != nil {
			return fmt.Errorf("insert invitation: %w", err)
		}
		return t.Record(audit.Record{Event: audit.InvitationMade, Tenant: i.Tenant, By: i.By},
			verbs.Facts{"invitation": i.Token.String(), "groups": verbs.ListText(i.Groups), "expires": i.ExpiresAt.Format(time.RFC3339)}, nil)
	})
}

func invitations(c Reader, where string, args ...any) ([]auth.Invitation, error) {
	var out []auth.Invitation
	err := c.Query(func(cur Row) error {
		i := auth.Invitation{Token: cur.Digest(), Tenant: cur.Text()}
		if err := verbs.ParseList(cur.Text(), &i.Groups); err != nil {
			return err
		}
		i.By, i.CreatedAt, i.ExpiresAt, i.UsedBy, i.UsedAt = cur.Text(), cur.Time(), cur.Time(), cur.Text(), cur.Time()
		out = append(out, i)
		return nil
	}, "SELECT token, tenant, groups, by, created_at, expires_at, coalesce(used_by, ''), used_at FROM invitation "+where, args...)
	return out, err
}

// Invitation returns an invitation, used or not.
func (b Book) Invitation(ctx context.Context, token canon.Digest) (auth.Invitation, error) {
	return one(ctx, b.db, auth.ErrNoInvitation, func(c Reader) ([]auth.Invitation, error) { return invitations(c, "WHERE token = $1", token) })
}

// Invitations lists the open invitations of a tenant, oldest first.
func (b Book) Invitations(ctx context.Context, tenant string) ([]auth.Invitation, error) {
	return many(ctx, b.db, func(c Reader) ([]auth.Invitation, error) {
		return invitations(c, "WHERE tenant = $1 AND used_at IS NULL ORDER BY created_at, token", tenant)
	})
}

// open returns an invitation that nobody has used or ended, and holds it.
func open(t Tx, token canon.Digest) (auth.Invitation, error) {
	if err := t.Hold("SELECT 1 FROM invitation WHERE token = $1", token); err != nil {
		return auth.Invitation{}, err
	}
	found, err := invitations(t, "WHERE token = $1 AND used_at IS NULL", token)
	return first(found, err, auth.ErrNoInvitation)
}

// Accept makes the account of an invitation, which is used up.
func (b Book) Accept(ctx context.Context, token canon.Digest, a auth.Account, c *auth.Credential) error {
	return b.change(ctx, func(t Tx) error {
		i, err := open(t, token)
		if err == nil && !a.CreatedAt.Before(i.ExpiresAt) {
			err = auth.ErrNoInvitation
		}
		if err != nil {
			return err
		}
		if _, err := activeAccount(t, i.By); err != nil { // whoever was shut out invites nobody
			return auth.ErrNoInvitation
		}
		a := a
		a.Tenant, a.Groups = i.Tenant, i.Groups
		if err := addAccount(t, a, i.By, i.Token.String()); err != nil {
			return err
		}
		if c != nil {
			if err := addCredential(t, a, *c); err != nil {
				return err
			}
		}
		_, err = t.Exec("UPDATE invitation SET used_by = $1, used_at = $2 WHERE token = $3", a.ID, a.CreatedAt, token)
		return err
	})
}

// WithdrawInvitation ends an open invitation.
func (b Book) WithdrawInvitation(ctx context.Context, token canon.Digest, by string, at time.Time) error {
	return b.change(ctx, func(t Tx) error {
		i, err := open(t, token)
		if err != nil {
			return err
		}
		if _, err := t.Exec("UPDATE invitation SET used_at = $1 WHERE token = $2", at, token); err != nil {
			return fmt.Errorf("withdraw invitation: %w", err)
		}
		return t.Record(audit.Record{Event: audit.InvitationEnded, Tenant: i.Tenant, By: by}, verbs.Facts{"invitation": token.String()}, nil)
	})
}
