-- How people come in, stand in for each other and prove who they are.

-- An operator may let somebody back in; the record says who did.
DROP TRIGGER account_final ON account;

-- An account of an identity provider is its issuer and subject.
ALTER TABLE account ADD COLUMN issuer TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN subject TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE UNIQUE INDEX account_subject ON account (issuer, subject) WHERE subject <> '';
CREATE TRIGGER account_bound BEFORE UPDATE OF id, tenant, key, issuer, subject ON account
  FOR EACH ROW EXECUTE FUNCTION refuse('whose account it is never changes');

-- How a person proved who they are, and when; NULL: when the login began.
ALTER TABLE login ADD COLUMN method TEXT COLLATE "C" NOT NULL DEFAULT 'password';
ALTER TABLE login ADD COLUMN proved_at BIGINT;

CREATE TABLE invitation (
  token      BYTEA PRIMARY KEY CHECK (length(token) = 32),
  tenant     TEXT COLLATE "C" NOT NULL,
  groups     TEXT COLLATE "C" NOT NULL,
  by         TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_by    TEXT COLLATE "C" REFERENCES account (id),
  used_at    BIGINT
);

CREATE TRIGGER invitation_frozen BEFORE UPDATE OF token, tenant, groups, by, created_at, expires_at ON invitation
  FOR EACH ROW EXECUTE FUNCTION refuse('an invitation never changes');
CREATE TRIGGER invitation_final BEFORE UPDATE OF used_at, used_by ON invitation FOR EACH ROW WHEN (OLD.used_at IS NOT NULL)
  EXECUTE FUNCTION refuse('a used invitation stays used');

-- What the server signed about the login behind a vote that no passkey
-- signed, and for whom the voter stood in.
ALTER TABLE vote ADD COLUMN login BYTEA;
ALTER TABLE vote ADD COLUMN login_at BIGINT;
ALTER TABLE vote ADD COLUMN behalf TEXT COLLATE "C" NOT NULL DEFAULT '[]';

CREATE TABLE delegation (
  id         TEXT COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  tenant     TEXT COLLATE "C" NOT NULL,
  delegator  TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  delegate   TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  reason     TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  starts_at  BIGINT NOT NULL,
  ends_at    BIGINT NOT NULL,
  ended_at   BIGINT,
  CHECK (delegator <> delegate),
  CHECK (ends_at > starts_at)
);

CREATE INDEX delegation_delegate ON delegation (delegate, ends_at);
CREATE INDEX delegation_delegator ON delegation (delegator, ends_at);

CREATE TRIGGER delegation_frozen BEFORE UPDATE OF id, tenant, delegator, delegate, reason, created_at, starts_at, ends_at ON delegation
  FOR EACH ROW EXECUTE FUNCTION refuse('a delegation never changes');
CREATE TRIGGER delegation_final BEFORE UPDATE OF ended_at ON delegation FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL)
  EXECUTE FUNCTION refuse('an ended delegation stays ended');
CREATE TRIGGER delegation_kept BEFORE DELETE ON delegation FOR EACH ROW EXECUTE FUNCTION refuse('delegations are kept');
