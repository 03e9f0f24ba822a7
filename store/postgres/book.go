package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const selectAccount = `SELECT id, name, key, tenant, principal, password_hash, password_at, active, created_at, issuer, subject FROM account `

// AddAccount adds an account.
func (s *Store) AddAccount(ctx context.Context, a auth.Account) error {
	if a.ID == "" || a.Key == "" || a.Tenant == "" {
		return verbs.Invalid("account without id, key or tenant")
	}
	return s.book(ctx, func(t *tx) error { return t.addAccount(a, action.ByHost, "") })
}

// addAccount adds an account, made by the host or of somebody's invitation.
func (t *tx) addAccount(a auth.Account, by, invitation string) error {
	n, err := t.exec(`INSERT INTO account (id, tenant, name, key, principal, password_hash, password_at, active, created_at, issuer, subject)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		a.ID, a.Tenant, a.Name, a.Key, a.Principal, a.PasswordHash, a.PasswordAt, a.Active, a.CreatedAt, a.Issuer, a.Subject)
	if err != nil {
		return fmt.Errorf("insert account: %w", err)
	}
	if n == 0 {
		return auth.ErrNameTaken
	}
	if err := t.addGroups(a.ID, a.Groups); err != nil {
		return err
	}
	return t.record(audit.Record{Event: audit.AccountAdded, Tenant: a.Tenant, By: by},
		verbs.Facts{"account": a.ID, "groups": verbs.ListText(a.Groups), "invitation": invitation, "issuer": a.Issuer}, nil)
}

func (t *tx) addGroups(account string, groups []string) error {
	for _, g := range groups {
		if _, err := t.exec("INSERT INTO account_group (account_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", account, g); err != nil {
			return fmt.Errorf("insert group: %w", err)
		}
	}
	return nil
}

// book is write for the verbs on accounts, whose answers pass unwrapped.
func (s *Store) book(ctx context.Context, fn func(*tx) error) error {
	err := s.write(ctx, syncFull, fn)
	for _, answer := range []error{auth.ErrNoAccount, auth.ErrNameTaken, auth.ErrNoLogin, auth.ErrNoCredential, auth.ErrCredentialTaken, auth.ErrCloned,
		auth.ErrNoInvitation, auth.ErrNotManager, auth.ErrLast, auth.ErrNoDelegation} {
		if errors.Is(err, answer) {
			return answer
		}
	}
	return err
}

// AccountByName returns the account with a key, active or not.
func (s *Store) AccountByName(ctx context.Context, key string) (auth.Account, error) {
	return s.account(ctx, "WHERE key = $1", key)
}

// AccountByID returns an account, active or not.
func (s *Store) AccountByID(ctx context.Context, id string) (auth.Account, error) {
	return s.account(ctx, "WHERE id = $1", id)
}

// AccountBySubject returns the account of somebody at an identity provider.
func (s *Store) AccountBySubject(ctx context.Context, issuer, subject string) (auth.Account, error) {
	return s.account(ctx, "WHERE issuer = $1 AND subject = $2 AND subject <> ''", issuer, subject)
}

func (s *Store) account(ctx context.Context, where string, args ...any) (auth.Account, error) {
	var found []auth.Account
	err := s.read(ctx, func(c *conn) (err error) {
		found, err = accounts(c, where, args...)
		return err
	})
	if err != nil {
		return auth.Account{}, err
	}
	if len(found) == 0 {
		return auth.Account{}, auth.ErrNoAccount
	}
	return found[0], nil
}

func accounts(c *conn, where string, args ...any) ([]auth.Account, error) {
	var out []auth.Account
	err := c.query(func(cur *cursor) error {
		out = append(out, auth.Account{ID: cur.text(), Name: cur.text(), Key: cur.text(), Tenant: cur.text(),
			Principal: cur.text(), PasswordHash: cur.text(), PasswordAt: cur.time(), Active: cur.bool(), CreatedAt: cur.time(), Issuer: cur.text(), Subject: cur.text()})
		return nil
	}, selectAccount+where, args...)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Groups, err = groupsOf(c, out[i].ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ListAccounts returns the accounts of a tenant in the order of their
// creation.
func (s *Store) ListAccounts(ctx context.Context, tenant string) (out []auth.Account, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = accounts(c, "WHERE tenant = $1 ORDER BY seq", tenant)
		return err
	})
	return out, err
}

// CountAccounts counts the active accounts of all tenants.
func (s *Store) CountAccounts(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(c *conn) error {
		count, err := c.number("SELECT count(*) FROM account WHERE active")
		n = int(count)
		return err
	})
	return n, err
}

// SetPassword replaces the hash and the time of an account's password and
// ends all its logins.
func (s *Store) SetPassword(ctx context.Context, id, hash string, at time.Time) error {
	return s.alter(ctx, id, audit.PasswordChanged, "UPDATE account SET password_hash = $1, password_at = $2 WHERE id = $3", hash, at, id)
}

// Disable makes an account inactive and ends all its logins.
func (s *Store) Disable(ctx context.Context, id string) error {
	return s.alter(ctx, id, audit.AccountDisabled, "UPDATE account SET active = FALSE WHERE id = $1", id)
}

func (s *Store) alter(ctx context.Context, id, event, sql string, args ...any) error {
	return s.book(ctx, func(t *tx) error {
		found, err := accounts(t.conn, "WHERE id = $1", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return auth.ErrNoAccount
		}
		if _, err := t.exec(sql, args...); err != nil {
			return fmt.Errorf("alter account: %w", err)
		}
		if _, err := t.exec("DELETE FROM login WHERE account_id = $1", id); err != nil {
			return fmt.Errorf("end logins: %w", err)
		}
		return t.record(audit.Record{Event: event, Tenant: found[0].Tenant, By: action.ByHost}, verbs.Facts{"account": id}, nil)
	})
}

// AddLogin adds a login of an active account and forgets those that expired
// before it.
func (s *Store) AddLogin(ctx context.Context, l auth.Login) error {
	return s.book(ctx, func(t *tx) error {
		if _, err := t.exec("DELETE FROM login WHERE expires_at < $1", l.CreatedAt); err != nil {
			return fmt.Errorf("forget logins: %w", err)
		}
		n, err := t.exec(`INSERT INTO login (token, account_id, created_at, expires_at, idle_until, method, proved_at)
			SELECT $1, id, $2, $3, $4, $5, $6 FROM account WHERE id = $7 AND active`,
			l.Token, l.CreatedAt, l.ExpiresAt, l.IdleUntil, l.Method, l.ProvedAt, l.AccountID)
		if err != nil {
			return fmt.Errorf("insert login: %w", err)
		}
		if n == 0 {
			return auth.ErrNoAccount
		}
		return nil
	})
}

// Login returns a login by the digest of its token, also one that is over by
// time.
func (s *Store) Login(ctx context.Context, token canon.Digest) (l auth.Login, err error) {
	err = s.read(ctx, func(c *conn) error {
		found, err := c.one(func(cur *cursor) error {
			l = auth.Login{Token: cur.digest(), AccountID: cur.text(), CreatedAt: cur.time(), ExpiresAt: cur.time(),
				IdleUntil: cur.time(), Method: cur.text(), ProvedAt: cur.time()}
			return nil
		}, "SELECT token, account_id, created_at, expires_at, idle_until, method, proved_at FROM login WHERE token = $1", token)
		if err == nil && !found {
			err = auth.ErrNoLogin
		}
		return err
	})
	return l, err
}

// TouchLogin moves IdleUntil. One that is gone stays gone.
func (s *Store) TouchLogin(ctx context.Context, token canon.Digest, idleUntil time.Time) error {
	return s.write(ctx, syncNormal, func(t *tx) error {
		_, err := t.exec("UPDATE login SET idle_until = $1 WHERE token = $2", idleUntil, token)
		return err
	})
}

// EndLogin forgets a login. One that is gone is no error.
func (s *Store) EndLogin(ctx context.Context, token canon.Digest) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		_, err := t.exec("DELETE FROM login WHERE token = $1", token)
		return err
	})
}
