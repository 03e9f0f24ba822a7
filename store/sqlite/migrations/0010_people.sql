-- How people come in, stand in for each other and prove who they are.

-- An operator may let somebody back in; the record says who did.
DROP TRIGGER account_final;

-- An account of an identity provider is its issuer and subject.
ALTER TABLE account ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN subject TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX account_subject ON account (issuer, subject) WHERE subject <> '';
CREATE TRIGGER account_bound BEFORE UPDATE OF id, tenant, key, issuer, subject ON account
BEGIN SELECT RAISE(ABORT, 'whose account it is never changes'); END;

-- How a person proved who they are, and when; NULL: when the login began.
ALTER TABLE login ADD COLUMN method TEXT NOT NULL DEFAULT 'password';
ALTER TABLE login ADD COLUMN proved_at INTEGER;

CREATE TRIGGER invitation_frozen BEFORE UPDATE OF token, tenant, groups, by, created_at, expires_at ON invitation
BEGIN SELECT RAISE(ABORT, 'an invitation never changes'); END;
CREATE TRIGGER invitation_final BEFORE UPDATE OF used_at, used_by ON invitation WHEN OLD.used_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a used invitation stays used'); END;

-- What the server signed about the login behind a vote that no passkey
-- signed, and for whom the voter stood in.
ALTER TABLE vote ADD COLUMN login BLOB;
ALTER TABLE vote ADD COLUMN login_at INTEGER;
ALTER TABLE vote ADD COLUMN behalf TEXT NOT NULL DEFAULT '[]';

CREATE TABLE delegation (
  id         TEXT PRIMARY KEY CHECK (id <> ''),
  tenant     TEXT NOT NULL,
  delegator  TEXT NOT NULL REFERENCES account (id),
  delegate   TEXT NOT NULL REFERENCES account (id),
  reason     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  starts_at  INTEGER NOT NULL,
  ends_at    INTEGER NOT NULL,
  ended_at   INTEGER,
  CHECK (delegator <> delegate),
  CHECK (ends_at > starts_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX delegation_delegate ON delegation (delegate, ends_at);
CREATE INDEX delegation_delegator ON delegation (delegator, ends_at);

CREATE TRIGGER delegation_frozen BEFORE UPDATE OF id, tenant, delegator, delegate, reason, created_at, starts_at, ends_at ON delegation
BEGIN SELECT RAISE(ABORT, 'a delegation never changes'); END;
CREATE TRIGGER delegation_final BEFORE UPDATE OF ended_at ON delegation WHEN OLD.ended_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an ended delegation stays ended'); END;
CREATE TRIGGER delegation_kept BEFORE DELETE ON delegation
BEGIN SELECT RAISE(ABORT, 'delegations are kept'); END;
