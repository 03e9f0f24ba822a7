package postgres

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
func (s *Store) AddInvitation(ctx context.Context, i auth.Invitation) error {
	return s.book(ctx, func(t *tx) error {
		by, err := activeAccount(t, i.By)
		if err == nil && by.Tenant != i.Tenant {
			err = auth.ErrNoAccount
		}
		if err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO invitation (token, tenant, groups, by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
			i.Token, i.Tenant, verbs.ListText(i.Groups), i.By, i.CreatedAt, i.ExpiresAt); err != nil {
			return fmt.Errorf("insert invitation: %w", err)
		}
		return t.record(audit.Record{Event: audit.InvitationMade, Tenant: i.Tenant, By: i.By},
			verbs.Facts{"invitation": i.Token.String(), "groups": verbs.ListText(i.Groups), "expires": i.ExpiresAt.Format(time.RFC3339)}, nil)
	})
}

func invitations(c *conn, where string, args ...any) ([]auth.Invitation, error) {
	var out []auth.Invitation
	err := c.query(func(cur *cursor) error {
		i := auth.Invitation{Token: cur.digest(), Tenant: cur.text()}
		if err := verbs.ParseList(cur.text(), &i.Groups); err != nil {
			return err
		}
		i.By, i.CreatedAt, i.ExpiresAt, i.UsedBy, i.UsedAt = cur.text(), cur.time(), cur.time(), cur.text(), cur.time()
		out = append(out, i)
		return nil
	}, "SELECT token, tenant, groups, by, created_at, expires_at, coalesce(used_by, ''), used_at FROM invitation "+where, args...)
	return out, err
}

// Invitation returns an invitation, used or not.
func (s *Store) Invitation(ctx context.Context, token canon.Digest) (auth.Invitation, error) {
	var found []auth.Invitation
	err := s.read(ctx, func(c *conn) (err error) {
		found, err = invitations(c, "WHERE token = $1", token)
		return err
	})
	if err == nil && len(found) == 0 {
		err = auth.ErrNoInvitation
	}
	if err != nil {
		return auth.Invitation{}, err
	}
	return found[0], nil
}

// Invitations lists the open invitations of a tenant, oldest first.
func (s *Store) Invitations(ctx context.Context, tenant string) (out []auth.Invitation, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = invitations(c, "WHERE tenant = $1 AND used_at IS NULL ORDER BY created_at, token", tenant)
		return err
	})
	return out, err
}

// invited returns an invitation that is good at a time.
func (t *tx) invited(token canon.Digest, at time.Time) (auth.Invitation, error) {
	found, err := invitations(t.conn, "WHERE token = $1 AND used_at IS NULL FOR UPDATE", token)
	if err != nil {
		return auth.Invitation{}, err
	}
	if len(found) == 0 || !at.Before(found[0].ExpiresAt) {
		return auth.Invitation{}, auth.ErrNoInvitation
	}
	return found[0], nil
}

// Accept makes the account of an invitation, which is used up.
func (s *Store) Accept(ctx context.Context, token canon.Digest, a auth.Account, c *auth.Credential) error {
	return s.book(ctx, func(t *tx) error {
		i, err := t.invited(token, a.CreatedAt)
		if err != nil {
			return err
		}
		if _, err := activeAccount(t, i.By); err != nil { // whoever was shut out invites nobody
			return auth.ErrNoInvitation
		}
		a := a
		a.Tenant, a.Groups = i.Tenant, i.Groups
		if err := t.addAccount(a, i.By, i.Token.String()); err != nil {
			return err
		}
		if c != nil {
			if err := t.addCredential(a, *c); err != nil {
				return err
			}
		}
		_, err = t.exec("UPDATE invitation SET used_by = $1, used_at = $2 WHERE token = $3", a.ID, a.CreatedAt, token)
		return err
	})
}

// WithdrawInvitation ends an open invitation.
func (s *Store) WithdrawInvitation(ctx context.Context, token canon.Digest, by string, at time.Time) error {
	return s.book(ctx, func(t *tx) error {
		found, err := invitations(t.conn, "WHERE token = $1 AND used_at IS NULL FOR UPDATE", token)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return auth.ErrNoInvitation
		}
		if _, err := t.exec("UPDATE invitation SET used_at = $1 WHERE token = $2", at, token); err != nil {
			return fmt.Errorf("withdraw invitation: %w", err)
		}
		return t.record(audit.Record{Event: audit.InvitationEnded, Tenant: found[0].Tenant, By: by}, verbs.Facts{"invitation": token.String()}, nil)
	})
}
