package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// AddLogin adds a login of an active account and forgets those that expired
// before it. Whoever shuts the account out waits for it, and it for them: no
// login is left that nobody has ended.
func (b Book) AddLogin(ctx context.Context, l auth.Login) error {
	return b.change(ctx, func(t Tx) error {
		if _, err := t.Exec("DELETE FROM login WHERE expires_at < $1", l.CreatedAt); err != nil {
			return fmt.Errorf("forget logins: %w", err)
		}
		if err := t.Share("SELECT 1 FROM account WHERE id = $1", l.AccountID); err != nil {
			return err
		}
		n, err := t.Exec(`INSERT INTO login (token, account_id, created_at, expires_at, idle_until, method, proved_at)
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
func (b Book) Login(ctx context.Context, token canon.Digest) (auth.Login, error) {
	return one(ctx, b.db, auth.ErrNoLogin, func(c Reader) (out []auth.Login, err error) {
		err = c.Query(func(cur Row) error {
			out = append(out, auth.Login{Token: cur.Digest(), AccountID: cur.Text(), CreatedAt: cur.Time(), ExpiresAt: cur.Time(),
				IdleUntil: cur.Time(), Method: cur.Text(), ProvedAt: cur.Time()})
			return nil
		}, "SELECT token, account_id, created_at, expires_at, idle_until, method, proved_at FROM login WHERE token = $1", token)
		return out, err
	})
}

// TouchLogin moves IdleUntil. One that is gone stays gone.
func (b Book) TouchLogin(ctx context.Context, token canon.Digest, idleUntil time.Time) error {
	return b.db.Write(ctx, written, func(t Tx) error {
		_, err := t.Exec("UPDATE login SET idle_until = $1 WHERE token = $2", idleUntil, token)
		return err
	})
}

// EndLogin forgets a login. One that is gone is no error.
func (b Book) EndLogin(ctx context.Context, token canon.Digest) error {
	return b.db.Write(ctx, synced, func(t Tx) error {
		_, err := t.Exec("DELETE FROM login WHERE token = $1", token)
		return err
	})
}

// endLogins forgets all logins of an account.
func endLogins(t Tx, account string) error {
	if _, err := t.Exec("DELETE FROM login WHERE account_id = $1", account); err != nil {
		return fmt.Errorf("end logins: %w", err)
	}
	return nil
}
