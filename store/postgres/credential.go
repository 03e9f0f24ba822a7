package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const selectCredential = `SELECT id, account_id, public_key, rp_id, sign_count, name, created_at, used_at, revoked_at, statement FROM credential `

// AddCredential adds a passkey of an active account.
func (s *Store) AddCredential(ctx context.Context, c auth.Credential) error {
	if len(c.ID) == 0 || c.RPID == "" || len(c.Statement) == 0 {
		return verbs.Invalid("passkey without id, RP ID or statement")
	}
	return s.book(ctx, func(t *tx) error {
		owner, err := activeAccount(t, c.AccountID)
		if err != nil {
			return err
		}
		return t.addCredential(owner, c)
	})
}

func (t *tx) addCredential(owner auth.Account, c auth.Credential) error {
	n, err := t.exec(`INSERT INTO credential (id, account_id, public_key, rp_id, sign_count, name, created_at, statement)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`, c.ID, c.AccountID, c.PublicKey, c.RPID, int64(c.Count), c.Name, c.CreatedAt, c.Statement)
	if err != nil {
		return fmt.Errorf("insert passkey: %w", err)
	}
	if n == 0 {
		return auth.ErrCredentialTaken
	}
	return t.record(audit.Record{Event: audit.PasskeyAdded, Tenant: owner.Tenant, By: c.AccountID},
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

// activeAccount returns an active account, or auth.ErrNoAccount.
func activeAccount(t *tx, id string) (auth.Account, error) {
	found, err := accounts(t.conn, "WHERE id = $1 AND active", id)
	if err == nil && len(found) == 0 {
		err = auth.ErrNoAccount
	}
	if err != nil {
		return auth.Account{}, err
	}
	return found[0], nil
}

func credentials(c *conn, where string, args ...any) ([]auth.Credential, error) {
	var out []auth.Credential
	err := c.query(func(cur *cursor) error {
		out = append(out, auth.Credential{ID: cur.blob(), AccountID: cur.text(), PublicKey: cur.blob(), RPID: cur.text(),
			Count: uint32(cur.int()), Name: cur.text(), CreatedAt: cur.time(), UsedAt: cur.time(), RevokedAt: cur.time(), Statement: cur.blob()})
		return nil
	}, selectCredential+where, args...)
	return out, err
}

// Credentials returns the passkeys of an account, removed ones too, oldest
// first.
func (s *Store) Credentials(ctx context.Context, account string) (out []auth.Credential, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = credentials(c, "WHERE account_id = $1 ORDER BY created_at, id", account)
		return err
	})
	return out, err
}

// AllCredentials returns the good passkeys of active accounts.
func (s *Store) AllCredentials(ctx context.Context) (out []auth.Credential, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = credentials(c, `WHERE revoked_at IS NULL AND account_id IN (SELECT id FROM account WHERE active) ORDER BY created_at, id`)
		return err
	})
	return out, err
}

// CredentialByID returns a passkey, removed or not.
func (s *Store) CredentialByID(ctx context.Context, id []byte) (auth.Credential, error) {
	var found []auth.Credential
	err := s.read(ctx, func(c *conn) (err error) {
		found, err = credentials(c, "WHERE id = $1", id)
		return err
	})
	if err == nil && len(found) == 0 {
		err = auth.ErrNoCredential
	}
	if err != nil {
		return auth.Credential{}, err
	}
	return found[0], nil
}

// UseCredential notes a use, unless the passkey is removed or its count does
// not go up.
func (s *Store) UseCredential(ctx context.Context, id []byte, count uint32, at time.Time) error {
	return s.book(ctx, func(t *tx) error {
		found, err := credentials(t.conn, "WHERE id = $1 AND revoked_at IS NULL FOR UPDATE", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return auth.ErrNoCredential
		}
		if count <= found[0].Count && (count > 0 || found[0].Count > 0) {
			return auth.ErrCloned
		}
		_, err = t.exec("UPDATE credential SET sign_count = $1, used_at = $2 WHERE id = $3", int64(count), at, id)
		return err
	})
}

// RemoveCredential makes a passkey worthless for good.
func (s *Store) RemoveCredential(ctx context.Context, id []byte, at time.Time) error {
	return s.book(ctx, func(t *tx) error {
		found, err := credentials(t.conn, "WHERE id = $1 AND revoked_at IS NULL FOR UPDATE", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return auth.ErrNoCredential
		}
		owner, err := accounts(t.conn, "WHERE id = $1", found[0].AccountID)
		if err != nil {
			return err
		}
		if _, err := t.exec("UPDATE credential SET revoked_at = $1 WHERE id = $2", at, id); err != nil {
			return fmt.Errorf("remove passkey: %w", err)
		}
		return t.record(audit.Record{Event: audit.PasskeyRemoved, Tenant: owner[0].Tenant, By: owner[0].ID},
			verbs.Facts{"account": owner[0].ID, "passkey": keyName(found[0])}, nil)
	})
}

// hasPasskey reports whether an account had a good passkey at a time: from
// then on its password makes no vote.
func hasPasskey(c *conn, account string, at time.Time) (bool, error) {
	n, err := c.number("SELECT count(*) FROM credential WHERE account_id = $1 AND revoked_at IS NULL AND created_at <= $2", account, at)
	return n > 0, err
}
