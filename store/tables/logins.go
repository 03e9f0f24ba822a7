package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// AddLogin adds a login of an active account and forgets those that expired
// before it. Whoever shuts the account out, or takes away what the login was
// proved with, waits for it, and it for them: no login is left that nobody has
// ended.
func (b Book) AddLogin(ctx context.Context, l auth.Login, by auth.Proof) error {
	return b.change(ctx, func(t Tx) error {
		if _, err := t.Exec("DELETE FROM login WHERE expires_at < $1", l.CreatedAt); err != nil {
			return fmt.Errorf("forget logins: %w", err)
		}
		if err := t.Share("SELECT 1 FROM account WHERE id = $1", l.AccountID); err != nil {
			return err
		}
		owner, err := activeAccount(t, l.AccountID)
		if err == nil {
			err = holds(t, owner, l.Method, by)
		}
		if err != nil {
			return err
		}
		if _, err := t.Exec("INSERT INTO login (token, account_id, created_at, expires_at, idle_until, method, proved_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			l.Token, l.AccountID, l.CreatedAt, l.ExpiresAt, l.IdleUntil, l.Method, l.ProvedAt); err != nil {
			return fmt.Errorf("insert login: %w", err)
		}
		return nil
	})
}

// holds fails with auth.ErrProofGone unless a proof is one of its method and
// still proves something about an account that is held. A password is known by
// its hash, which has a salt of its own each time it is set.
func holds(t Tx, owner auth.Account, method string, by auth.Proof) error {
	if by.PasswordHash != owner.PasswordHash {
		return auth.ErrProofGone
	}
	switch method {
	case auth.MethodPassword:
		if by.PasswordHash == "" {
			return auth.ErrProofGone
		}
		return nil
	case auth.MethodPasskey:
		return holdsPasskey(t, owner.ID, by.Passkey)
	case auth.MethodOIDC:
		return nil
	default:
		return auth.ErrProofGone
	}
}

// holdsPasskey shares a passkey of an account that nobody has removed.
func holdsPasskey(t Tx, account string, id []byte) error {
	if err := t.Share("SELECT 1 FROM credential WHERE id = $1", id); err != nil {
		return err
	}
	n, err := number(t, "SELECT count(*) FROM credential WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL", id, account)
	if err == nil && n == 0 {
		err = auth.ErrProofGone
	}
	return err
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
