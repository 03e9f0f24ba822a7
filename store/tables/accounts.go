package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// AddAccount adds an account.
func (b Book) AddAccount(ctx context.Context, a auth.Account) error {
	if a.ID == "" || a.Key == "" || a.Tenant == "" {
		return verbs.Invalid("account without id, key or tenant")
	}
	return b.change(ctx, func(t Tx) error { return addAccount(t, a, action.ByHost, "") })
}

// addAccount adds an account, made by the host or of somebody's invitation.
func addAccount(t Tx, a auth.Account, by, invitation string) error {
	n, err := t.Exec(`INSERT INTO account (id, tenant, name, key, principal, password_hash, password_at, active, created_at, issuer, subject)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		a.ID, a.Tenant, a.Name, a.Key, a.Principal, a.PasswordHash, a.PasswordAt, a.Active, a.CreatedAt, a.Issuer, a.Subject)
	if err != nil {
		return fmt.Errorf("insert account: %w", err)
	}
	if n == 0 {
		return auth.ErrNameTaken
	}
	if err := addGroups(t, a.ID, a.Groups); err != nil {
		return err
	}
	return t.Record(audit.Record{Event: audit.AccountAdded, Tenant: a.Tenant, By: by},
		verbs.Facts{"account": a.ID, "groups": verbs.ListText(a.Groups), "invitation": invitation, "issuer": a.Issuer}, nil)
}

func addGroups(t Tx, account string, groups []string) error {
	for _, g := range groups {
		if _, err := t.Exec("INSERT INTO account_group (account_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", account, g); err != nil {
			return fmt.Errorf("insert group: %w", err)
		}
	}
	return nil
}

// AccountByName returns the account with a key, active or not.
func (b Book) AccountByName(ctx context.Context, key string) (auth.Account, error) {
	return b.account(ctx, "WHERE key = $1", key)
}

// AccountByID returns an account, active or not.
func (b Book) AccountByID(ctx context.Context, id string) (auth.Account, error) {
	return b.account(ctx, "WHERE id = $1", id)
}

// AccountBySubject returns the account of somebody at an identity provider.
func (b Book) AccountBySubject(ctx context.Context, issuer, subject string) (auth.Account, error) {
	return b.account(ctx, "WHERE issuer = $1 AND subject = $2 AND subject <> ''", issuer, subject)
}

func (b Book) account(ctx context.Context, where string, args ...any) (auth.Account, error) {
	return one(ctx, b.db, auth.ErrNoAccount, func(c Reader) ([]auth.Account, error) { return accounts(c, where, args...) })
}

func accounts(c Reader, where string, args ...any) ([]auth.Account, error) {
	var out []auth.Account
	err := c.Query(func(cur Row) error {
		out = append(out, auth.Account{ID: cur.Text(), Name: cur.Text(), Key: cur.Text(), Tenant: cur.Text(),
			Principal: cur.Text(), PasswordHash: cur.Text(), PasswordAt: cur.Time(), Active: cur.Bool(), CreatedAt: cur.Time(), Issuer: cur.Text(), Subject: cur.Text()})
		return nil
	}, "SELECT id, name, key, tenant, principal, password_hash, password_at, active, created_at, issuer, subject FROM account "+where, args...)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err := c.Query(func(cur Row) error { out[i].Groups = append(out[i].Groups, cur.Text()); return nil },
			"SELECT name FROM account_group WHERE account_id = $1 ORDER BY name", out[i].ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// accountOf returns an account, active or not, or auth.ErrNoAccount.
func accountOf(c Reader, id string) (auth.Account, error) {
	found, err := accounts(c, "WHERE id = $1", id)
	return first(found, err, auth.ErrNoAccount)
}

// activeAccount returns an active account, or auth.ErrNoAccount.
func activeAccount(c Reader, id string) (auth.Account, error) {
	a, err := accountOf(c, id)
	if err == nil && !a.Active {
		return auth.Account{}, auth.ErrNoAccount
	}
	return a, err
}

// activeOf returns an active account of a tenant, or auth.ErrNoAccount.
func activeOf(c Reader, tenant, id string) (auth.Account, error) {
	a, err := activeAccount(c, id)
	if err == nil && a.Tenant != tenant {
		return auth.Account{}, auth.ErrNoAccount
	}
	return a, err
}

// ListAccounts returns the accounts of a tenant in the order of their
// creation.
func (b Book) ListAccounts(ctx context.Context, tenant string) ([]auth.Account, error) {
	return many(ctx, b.db, func(c Reader) ([]auth.Account, error) { return accounts(c, "WHERE tenant = $1 ORDER BY seq", tenant) })
}

// CountAccounts counts the active accounts of all tenants.
func (b Book) CountAccounts(ctx context.Context) (int, error) {
	n := int64(0)
	err := b.db.Read(ctx, func(c Reader) (err error) {
		n, err = number(c, "SELECT count(*) FROM account WHERE active")
		return err
	})
	return int(n), err
}

// SetPassword replaces the hash and the time of an account's password and
// ends all its logins.
func (b Book) SetPassword(ctx context.Context, id, hash string, at time.Time) error {
	return b.alter(ctx, id, audit.PasswordChanged, "UPDATE account SET password_hash = $1, password_at = $2 WHERE id = $3", hash, at, id)
}

// Disable makes an account inactive and ends all its logins.
func (b Book) Disable(ctx context.Context, id string) error {
	return b.alter(ctx, id, audit.AccountDisabled, "UPDATE account SET active = FALSE WHERE id = $1", id)
}

func (b Book) alter(ctx context.Context, id, event, sql string, args ...any) error {
	return b.change(ctx, func(t Tx) error {
		a, err := accountOf(t, id)
		if err != nil {
			return err
		}
		if _, err := t.Exec(sql, args...); err != nil {
			return fmt.Errorf("alter account: %w", err)
		}
		if err := endLogins(t, id); err != nil {
			return err
		}
		return t.Record(audit.Record{Event: event, Tenant: a.Tenant, By: action.ByHost}, verbs.Facts{"account": id}, nil)
	})
}
