package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// AddCredential adds a passkey of an active account.
func (b Book) AddCredential(ctx context.Context, c auth.Credential) error {
	if len(c.ID) == 0 || c.RPID == "" || len(c.Statement) == 0 {
		return verbs.Invalid("passkey without id, RP ID or statement")
	}
	return b.change(ctx, func(t Tx) error {
		owner, err := activeAccount(t, c.AccountID)
		if err != nil {
			return err
		}
		return addCredential(t, owner, c)
	})
}

func addCredential(t Tx, owner auth.Account, c auth.Credential) error {
	n, err := t.Exec(`INSERT INTO credential (id, account_id, public_key, rp_id, sign_count, name, created_at, statement)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`, c.ID, c.AccountID, c.PublicKey, c.RPID, int64(c.Count), c.Name, c.CreatedAt, c.Statement)
	if err != nil {
		return fmt.Errorf("insert passkey: %w", err)
	}
	if n == 0 {
		return auth.ErrCredentialTaken
	}
	return t.Record(audit.Record{Event: audit.PasskeyAdded, Tenant: owner.Tenant, By: c.AccountID},
		verbs.Facts{"account": c.AccountID, "passkey": keyName(c), "rpId": c.RPID}, nil)
}

// keyName names a passkey in records as envelopes do.
func keyName(c auth.Credential) string {
	p, err := keys.ParsePasskey(c.ID, c.PublicKey)
	if err != nil {
		return ""
	}
	return p.KeyID()
}

func credentials(c Reader, where string, args ...any) ([]auth.Credential, error) {
	var out []auth.Credential
	err := c.Query(func(cur Row) error {
		out = append(out, auth.Credential{ID: cur.Blob(), AccountID: cur.Text(), PublicKey: cur.Blob(), RPID: cur.Text(),
			Count: uint32(cur.Int()), Name: cur.Text(), CreatedAt: cur.Time(), UsedAt: cur.Time(), RevokedAt: cur.Time(), Statement: cur.Blob()})
		return nil
	}, "SELECT id, account_id, public_key, rp_id, sign_count, name, created_at, used_at, revoked_at, statement FROM credential "+where, args...)
	return out, err
}

// Credentials returns the passkeys of an account, removed ones too, oldest
// first.
func (b Book) Credentials(ctx context.Context, account string) ([]auth.Credential, error) {
	return many(ctx, b.db, func(c Reader) ([]auth.Credential, error) {
		return credentials(c, "WHERE account_id = $1 ORDER BY created_at, id", account)
	})
}

// AllCredentials returns the good passkeys of active accounts.
func (b Book) AllCredentials(ctx context.Context) ([]auth.Credential, error) {
	return many(ctx, b.db, func(c Reader) ([]auth.Credential, error) {
		return credentials(c, "WHERE revoked_at IS NULL AND account_id IN (SELECT id FROM account WHERE active) ORDER BY created_at, id")
	})
}

// CredentialByID returns a passkey, removed or not.
func (b Book) CredentialByID(ctx context.Context, id []byte) (auth.Credential, error) {
	return one(ctx, b.db, auth.ErrNoCredential, func(c Reader) ([]auth.Credential, error) { return credentials(c, "WHERE id = $1", id) })
}

// good returns a passkey that nobody has removed, and holds it.
func good(t Tx, id []byte) (auth.Credential, error) {
	if err := t.Hold("SELECT 1 FROM credential WHERE id = $1", id); err != nil {
		return auth.Credential{}, err
	}
	found, err := credentials(t, "WHERE id = $1 AND revoked_at IS NULL", id)
	return first(found, err, auth.ErrNoCredential)
}

// UseCredential notes a use, unless the passkey is removed or its count does
// not go up.
func (b Book) UseCredential(ctx context.Context, id []byte, count uint32, at time.Time) error {
	return b.change(ctx, func(t Tx) error {
		c, err := good(t, id)
		if err != nil {
			return err
		}
		if count <= c.Count && (count > 0 || c.Count > 0) {
			return auth.ErrCloned
		}
		_, err = t.Exec("UPDATE credential SET sign_count = $1, used_at = $2 WHERE id = $3", int64(count), at, id)
		return err
	})
}

// RemoveCredential makes a passkey worthless for good.
func (b Book) RemoveCredential(ctx context.Context, id []byte, at time.Time) error {
	return b.change(ctx, func(t Tx) error {
		c, err := good(t, id)
		if err != nil {
			return err
		}
		owner, err := accountOf(t, c.AccountID)
		if err != nil {
			return err
		}
		if _, err := t.Exec("UPDATE credential SET revoked_at = $1 WHERE id = $2", at, id); err != nil {
			return fmt.Errorf("remove passkey: %w", err)
		}
		return t.Record(audit.Record{Event: audit.PasskeyRemoved, Tenant: owner.Tenant, By: owner.ID},
			verbs.Facts{"account": owner.ID, "passkey": keyName(c)}, nil)
	})
}

// Passkeys is what votes ask of passkeys: whether an account had a good one at
// a time, from when on its password makes no vote, and whether one was
// removed. Whoever removes one waits for the transaction.
func Passkeys(t Tx) verbs.Passkeys {
	return verbs.Passkeys{
		Had: func(account string, at time.Time) (bool, error) {
			n, err := number(t, "SELECT count(*) FROM credential WHERE account_id = $1 AND revoked_at IS NULL AND created_at <= $2", account, at)
			return n > 0, err
		},
		Removed: func(id []byte) (bool, error) {
			if err := t.Share("SELECT 1 FROM credential WHERE id = $1", id); err != nil {
				return false, err
			}
			n, err := number(t, "SELECT count(*) FROM credential WHERE id = $1 AND revoked_at IS NOT NULL", id)
			return n > 0, err
		},
	}
}
