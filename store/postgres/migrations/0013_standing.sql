-- Standing grants: authority over calls like one that waited, signed by the
-- people who would have voted on it, for a day at most.

CREATE TABLE standing_grant (
  seq            BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  id             TEXT COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  tenant         TEXT COLLATE "C" NOT NULL CHECK (tenant <> ''),
  principal      TEXT COLLATE "C" NOT NULL CHECK (principal <> ''),
  agent          TEXT COLLATE "C" NOT NULL,
  owner          TEXT COLLATE "C" NOT NULL,
  task           TEXT COLLATE "C" NOT NULL,
  session_grant  TEXT COLLATE "C" NOT NULL,
  session_digest BYTEA CHECK (length(session_digest) = 32),
  tool           TEXT COLLATE "C" NOT NULL CHECK (tool <> ''),
  definition     BYTEA CHECK (length(definition) = 32),
  policy_version TEXT COLLATE "C" NOT NULL CHECK (policy_version <> ''),
  source         TEXT COLLATE "C" NOT NULL,
  scope          BYTEA, -- sealed under the source; NULL once that is erased
  requirements   TEXT COLLATE "C" NOT NULL,
  step_up        BOOLEAN NOT NULL,
  nonce          TEXT COLLATE "C" NOT NULL UNIQUE CHECK (nonce <> ''),
  requested_at   BIGINT NOT NULL,
  expires_at     BIGINT NOT NULL CHECK (expires_at > requested_at AND expires_at - requested_at <= 86400000000000),
  digest         BYTEA NOT NULL UNIQUE CHECK (length(digest) = 32),
  max_uses       BIGINT NOT NULL CHECK (max_uses > 0),
  uses           BIGINT NOT NULL CHECK (uses >= 0 AND uses <= max_uses),
  total          BIGINT CHECK (total >= 0), -- NULL: nothing is added up
  spent          BIGINT NOT NULL CHECK (spent >= 0 AND (total IS NULL OR spent <= total)),
  revoked_at     BIGINT,
  revoked_by     TEXT COLLATE "C" NOT NULL DEFAULT '',
  FOREIGN KEY (tenant, source) REFERENCES action (tenant, id)
);

CREATE INDEX standing_listed ON standing_grant (tenant, seq);
CREATE INDEX standing_for ON standing_grant (tenant, principal, tool, expires_at);
CREATE INDEX standing_source ON standing_grant (tenant, source);

CREATE TRIGGER standing_frozen BEFORE UPDATE OF seq, id, tenant, principal, agent, owner, task, session_grant, session_digest, tool, definition,
  policy_version, source, requirements, step_up, nonce, requested_at, expires_at, digest, max_uses, total ON standing_grant
  FOR EACH ROW EXECUTE FUNCTION refuse('what was signed never changes');
CREATE TRIGGER standing_scope BEFORE UPDATE OF scope ON standing_grant FOR EACH ROW
  WHEN (NEW.scope IS NOT NULL AND NEW.scope IS DISTINCT FROM OLD.scope) EXECUTE FUNCTION refuse('what was signed never changes');
CREATE TRIGGER standing_spent BEFORE UPDATE OF uses, spent ON standing_grant FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL OR NEW.uses <> OLD.uses + 1 OR NEW.spent < OLD.spent)
  EXECUTE FUNCTION refuse('a use is counted once and never comes back');
CREATE TRIGGER standing_final BEFORE UPDATE OF revoked_at, revoked_by ON standing_grant FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL)
  EXECUTE FUNCTION refuse('a revoked grant stays revoked');
CREATE TRIGGER standing_kept BEFORE DELETE ON standing_grant FOR EACH ROW EXECUTE FUNCTION refuse('grants are kept');
CREATE TRIGGER standing_whole BEFORE TRUNCATE ON standing_grant FOR EACH STATEMENT EXECUTE FUNCTION refuse('grants are kept');

CREATE TABLE standing_vote (
  seq      BIGINT GENERATED ALWAYS AS IDENTITY,
  grant_id TEXT COLLATE "C" NOT NULL REFERENCES standing_grant (id),
  voter    TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  reason   TEXT COLLATE "C" NOT NULL,
  digest   BYTEA NOT NULL CHECK (length(digest) = 32),
  nonce    TEXT COLLATE "C" NOT NULL,
  method   TEXT COLLATE "C" NOT NULL,
  envelope BYTEA NOT NULL,
  at       BIGINT NOT NULL,
  login    BYTEA,
  login_at BIGINT,
  behalf   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (grant_id, voter)
);

CREATE TRIGGER standing_vote_frozen BEFORE UPDATE ON standing_vote FOR EACH ROW EXECUTE FUNCTION refuse('votes never change');
CREATE TRIGGER standing_vote_kept BEFORE DELETE ON standing_vote FOR EACH ROW EXECUTE FUNCTION refuse('votes are kept');
CREATE TRIGGER standing_vote_whole BEFORE TRUNCATE ON standing_vote FOR EACH STATEMENT EXECUTE FUNCTION refuse('votes are kept');

-- Which calls a grant approved, and when the run used it.
CREATE TABLE standing_cover (
  action_id TEXT COLLATE "C" PRIMARY KEY,
  tenant    TEXT COLLATE "C" NOT NULL,
  grant_id  TEXT COLLATE "C" NOT NULL REFERENCES standing_grant (id),
  amount    BIGINT NOT NULL CHECK (amount >= 0),
  at        BIGINT NOT NULL,
  used_at   BIGINT,
  FOREIGN KEY (tenant, action_id) REFERENCES approval (tenant, action_id)
);

CREATE INDEX standing_cover_grant ON standing_cover (grant_id);

CREATE TRIGGER standing_cover_frozen BEFORE UPDATE ON standing_cover FOR EACH ROW
  WHEN (NEW.action_id <> OLD.action_id OR NEW.tenant <> OLD.tenant OR NEW.grant_id <> OLD.grant_id OR NEW.amount <> OLD.amount
    OR NEW.at <> OLD.at OR OLD.used_at IS NOT NULL) EXECUTE FUNCTION refuse('a use is counted once');
CREATE TRIGGER standing_cover_kept BEFORE DELETE ON standing_cover FOR EACH ROW EXECUTE FUNCTION refuse('uses are kept');
CREATE TRIGGER standing_cover_whole BEFORE TRUNCATE ON standing_cover FOR EACH STATEMENT EXECUTE FUNCTION refuse('uses are kept');
