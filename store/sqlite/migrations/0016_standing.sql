-- Standing grants: authority over calls like one that waited, signed by the
-- people who would have voted on it, for a day at most. The table of the first
-- migration was never written to.

DROP TABLE standing_grant;

CREATE TABLE standing_grant (
  seq            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE CHECK (id <> ''),
  tenant         TEXT NOT NULL CHECK (tenant <> ''),
  principal      TEXT NOT NULL CHECK (principal <> ''),
  agent          TEXT NOT NULL,
  owner          TEXT NOT NULL,
  task           TEXT NOT NULL,
  session_grant  TEXT NOT NULL,
  session_digest BLOB CHECK (length(session_digest) = 32),
  tool           TEXT NOT NULL CHECK (tool <> ''),
  definition     BLOB CHECK (length(definition) = 32),
  policy_version TEXT NOT NULL CHECK (policy_version <> ''),
  source         TEXT NOT NULL REFERENCES action (id),
  scope          BLOB, -- sealed under the source; NULL once that is erased
  requirements   TEXT NOT NULL,
  step_up        INTEGER NOT NULL CHECK (step_up IN (0, 1)),
  nonce          TEXT NOT NULL UNIQUE CHECK (nonce <> ''),
  requested_at   INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL CHECK (expires_at > requested_at AND expires_at - requested_at <= 86400000000000),
  digest         BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  max_uses       INTEGER NOT NULL CHECK (max_uses > 0),
  uses           INTEGER NOT NULL CHECK (uses >= 0 AND uses <= max_uses),
  total          INTEGER CHECK (total >= 0), -- NULL: nothing is added up
  spent          INTEGER NOT NULL CHECK (spent >= 0 AND (total IS NULL OR spent <= total)),
  revoked_at     INTEGER,
  revoked_by     TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX standing_listed ON standing_grant (tenant, seq);
CREATE INDEX standing_for ON standing_grant (tenant, principal, tool, expires_at);
CREATE INDEX standing_source ON standing_grant (source);

CREATE TRIGGER standing_frozen BEFORE UPDATE OF seq, id, tenant, principal, agent, owner, task, session_grant, session_digest, tool, definition,
  policy_version, source, requirements, step_up, nonce, requested_at, expires_at, digest, max_uses, total ON standing_grant
BEGIN SELECT RAISE(ABORT, 'what was signed never changes'); END;
CREATE TRIGGER standing_scope BEFORE UPDATE OF scope ON standing_grant WHEN NEW.scope IS NOT NULL AND NEW.scope IS NOT OLD.scope
BEGIN SELECT RAISE(ABORT, 'what was signed never changes'); END;
CREATE TRIGGER standing_spent BEFORE UPDATE OF uses, spent ON standing_grant
WHEN OLD.revoked_at IS NOT NULL OR NEW.uses <> OLD.uses + 1 OR NEW.spent < OLD.spent
BEGIN SELECT RAISE(ABORT, 'a use is counted once and never comes back'); END;
CREATE TRIGGER standing_final BEFORE UPDATE OF revoked_at, revoked_by ON standing_grant WHEN OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a revoked grant stays revoked'); END;
CREATE TRIGGER standing_kept BEFORE DELETE ON standing_grant
BEGIN SELECT RAISE(ABORT, 'grants are kept'); END;

CREATE TABLE standing_vote (
  grant_id TEXT NOT NULL REFERENCES standing_grant (id),
  voter    TEXT NOT NULL REFERENCES account (id),
  reason   TEXT NOT NULL,
  digest   BLOB NOT NULL CHECK (length(digest) = 32),
  nonce    TEXT NOT NULL,
  method   TEXT NOT NULL,
  envelope BLOB NOT NULL,
  at       INTEGER NOT NULL,
  login    BLOB,
  login_at INTEGER,
  behalf   TEXT NOT NULL,
  UNIQUE (grant_id, voter)
) STRICT;

CREATE TRIGGER standing_vote_frozen BEFORE UPDATE ON standing_vote
BEGIN SELECT RAISE(ABORT, 'votes never change'); END;
CREATE TRIGGER standing_vote_kept BEFORE DELETE ON standing_vote
BEGIN SELECT RAISE(ABORT, 'votes are kept'); END;

-- Which calls a grant approved, and when the run used it.
CREATE TABLE standing_cover (
  action_id TEXT PRIMARY KEY REFERENCES approval (action_id),
  grant_id  TEXT NOT NULL REFERENCES standing_grant (id),
  amount    INTEGER NOT NULL CHECK (amount >= 0),
  at        INTEGER NOT NULL,
  used_at   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX standing_cover_grant ON standing_cover (grant_id);

CREATE TRIGGER standing_cover_frozen BEFORE UPDATE ON standing_cover
WHEN NEW.action_id <> OLD.action_id OR NEW.grant_id <> OLD.grant_id OR NEW.amount <> OLD.amount OR NEW.at <> OLD.at OR OLD.used_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a use is counted once'); END;
CREATE TRIGGER standing_cover_kept BEFORE DELETE ON standing_cover
BEGIN SELECT RAISE(ABORT, 'uses are kept'); END;
