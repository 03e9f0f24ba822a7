-- What a passkey is valid for, and the server's signature over its row.
ALTER TABLE credential ADD COLUMN rp_id TEXT NOT NULL DEFAULT '';
ALTER TABLE credential ADD COLUMN statement BLOB NOT NULL DEFAULT x'';

CREATE INDEX credential_account ON credential (account_id);

CREATE TRIGGER credential_frozen BEFORE UPDATE OF id, account_id, public_key, created_at, rp_id, statement ON credential
BEGIN SELECT RAISE(ABORT, 'a passkey never changes'); END;
CREATE TRIGGER credential_final BEFORE UPDATE OF revoked_at ON credential
WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at
BEGIN SELECT RAISE(ABORT, 'a removed passkey stays removed'); END;
CREATE TRIGGER credential_kept BEFORE DELETE ON credential
BEGIN SELECT RAISE(ABORT, 'passkeys are kept'); END;
