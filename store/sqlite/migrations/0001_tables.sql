-- Times are nanoseconds since 1970, UTC. Digests are 32 bytes. Sealed columns
-- hold what keys.Sealer made. The whole schema stands from here on, also the
-- tables of features that come later.

CREATE TABLE action (
  seq            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE CHECK (id <> ''),
  kind           TEXT NOT NULL CHECK (kind IN ('call', 'handoff')),
  tenant         TEXT NOT NULL CHECK (tenant <> ''),
  principal      TEXT NOT NULL CHECK (principal <> ''),
  agent          TEXT NOT NULL,
  owner          TEXT NOT NULL,
  task           TEXT NOT NULL,
  grant_id       TEXT NOT NULL,
  grant_digest   BLOB CHECK (length(grant_digest) = 32),
  tool           TEXT NOT NULL,
  definition     BLOB CHECK (length(definition) = 32),
  mutation       INTEGER NOT NULL CHECK (mutation IN (0, 1)),
  high_impact    INTEGER NOT NULL CHECK (high_impact IN (0, 1)),
  state          TEXT NOT NULL CHECK (state IN ('denied', 'pending_approval', 'approved', 'claimed', 'executing',
                   'succeeded', 'failed', 'uncertain', 'reconciled_succeeded', 'reconciled_failed', 'expired', 'revoked')),
  fence          INTEGER NOT NULL CHECK (fence >= 0),
  lease_until    INTEGER,
  attempt        INTEGER NOT NULL CHECK (attempt >= 0),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  deadline       INTEGER,
  fingerprint    BLOB CHECK (length(fingerprint) = 32),
  hash           BLOB CHECK (length(hash) = 32),
  targets        TEXT NOT NULL,
  evidence       TEXT NOT NULL,
  changes        TEXT NOT NULL,
  key            TEXT NOT NULL,
  supersedes     TEXT NOT NULL,
  caller_gone    INTEGER NOT NULL CHECK (caller_gone IN (0, 1)),
  model          TEXT NOT NULL,
  call_id        TEXT NOT NULL,
  effect         TEXT NOT NULL CHECK (effect IN ('deny', 'allow', 'require_approval')),
  code           TEXT NOT NULL,
  reason         TEXT NOT NULL,
  public_reason  TEXT NOT NULL,
  result_mode    TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  rules          TEXT NOT NULL,
  ended_at       INTEGER,
  end_error      INTEGER NOT NULL DEFAULT 0 CHECK (end_error IN (0, 1)),
  end_evidence   TEXT NOT NULL DEFAULT '' CHECK (end_evidence IN ('', 'proved', 'reported')),
  end_code       TEXT NOT NULL DEFAULT '',
  end_detail     TEXT NOT NULL DEFAULT '',
  end_comparison TEXT NOT NULL DEFAULT '',
  process        TEXT NOT NULL,
  CHECK ((state IN ('claimed', 'executing')) = (lease_until IS NOT NULL)),
  CHECK (state NOT IN ('claimed', 'executing', 'succeeded', 'failed', 'uncertain') OR fence > 0),
  CHECK (state NOT IN ('executing', 'succeeded', 'failed', 'uncertain') OR attempt > 0),
  CHECK (state NOT IN ('executing', 'succeeded', 'failed', 'uncertain') OR effect <> 'deny'),
  CHECK (state NOT IN ('pending_approval', 'approved', 'claimed') OR deadline IS NOT NULL),
  CHECK (state <> 'failed' OR mutation = 0 OR end_evidence <> ''),
  CHECK (high_impact = 0 OR effect <> 'allow')
) STRICT;

CREATE INDEX action_fingerprint ON action (tenant, principal, fingerprint, state);
CREATE INDEX action_state ON action (state, seq);
CREATE INDEX action_tenant ON action (tenant, seq);

-- Keyed by number, not by random id, so that new rows stand side by side.
CREATE TABLE payload (
  action_seq INTEGER PRIMARY KEY REFERENCES action (seq),
  raw        BLOB,
  requested  BLOB,
  args       BLOB,
  preview    BLOB,
  result     BLOB
) STRICT;

CREATE TABLE approval (
  action_id     TEXT PRIMARY KEY REFERENCES action (id),
  requirements  TEXT NOT NULL,
  pending_until INTEGER NOT NULL,
  ttl           INTEGER NOT NULL CHECK (ttl > 0),
  step_up       INTEGER NOT NULL CHECK (step_up IN (0, 1)),
  nonce         TEXT NOT NULL UNIQUE CHECK (nonce <> ''),
  requested_at  INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  preview       BLOB CHECK (length(preview) = 32),
  digest        BLOB NOT NULL UNIQUE CHECK (length(digest) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE vote (
  action_id TEXT NOT NULL REFERENCES approval (action_id),
  voter     TEXT NOT NULL REFERENCES account (id),
  approve   INTEGER NOT NULL CHECK (approve IN (0, 1)),
  reason    TEXT NOT NULL,
  digest    BLOB NOT NULL CHECK (length(digest) = 32),
  nonce     TEXT NOT NULL,
  method    TEXT NOT NULL,
  envelope  BLOB NOT NULL,
  at        INTEGER NOT NULL,
  UNIQUE (action_id, voter)
) STRICT;

-- An approval is used once, whatever else goes wrong.
CREATE TABLE consumption (
  digest    BLOB PRIMARY KEY CHECK (length(digest) = 32),
  action_id TEXT NOT NULL UNIQUE REFERENCES action (id),
  at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
  action_seq   INTEGER NOT NULL REFERENCES action (seq),
  attempt      INTEGER NOT NULL CHECK (attempt > 0),
  fence        INTEGER NOT NULL CHECK (fence > 0),
  provider_key TEXT NOT NULL,
  started_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  outcome      TEXT CHECK (outcome IN ('succeeded', 'failed', 'uncertain')),
  PRIMARY KEY (action_seq, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  tenant      TEXT NOT NULL,
  principal   TEXT NOT NULL,
  key         TEXT NOT NULL CHECK (key <> ''),
  action_id   TEXT NOT NULL REFERENCES action (id),
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (tenant, principal, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE budget (
  id           TEXT PRIMARY KEY,
  tenant       TEXT NOT NULL,
  scope        TEXT NOT NULL,
  currency     TEXT NOT NULL,
  window_start INTEGER NOT NULL,
  window_end   INTEGER NOT NULL,
  most         INTEGER NOT NULL CHECK (most >= 0),
  reserved     INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  posted       INTEGER NOT NULL DEFAULT 0 CHECK (posted >= 0),
  UNIQUE (tenant, scope, currency, window_start),
  CHECK (reserved + posted <= most)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservation (
  action_id TEXT NOT NULL REFERENCES action (id),
  budget_id TEXT NOT NULL REFERENCES budget (id),
  amount    INTEGER NOT NULL CHECK (amount >= 0),
  state     TEXT NOT NULL CHECK (state IN ('reserved', 'posted', 'void')),
  at        INTEGER NOT NULL,
  PRIMARY KEY (action_id, budget_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE standing_grant (
  id            TEXT PRIMARY KEY,
  tenant        TEXT NOT NULL,
  principal     TEXT NOT NULL,
  tool          TEXT NOT NULL,
  predicate     TEXT NOT NULL,
  max_uses      INTEGER NOT NULL CHECK (max_uses > 0),
  uses          INTEGER NOT NULL DEFAULT 0 CHECK (uses >= 0 AND uses <= max_uses),
  per_call      INTEGER CHECK (per_call >= 0),
  total         INTEGER CHECK (total >= 0),
  spent         INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0 AND (total IS NULL OR spent <= total)),
  policy_digest BLOB NOT NULL CHECK (length(policy_digest) = 32),
  granted_by    TEXT NOT NULL REFERENCES account (id),
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  revoked_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE policy_epoch (
  tenant TEXT NOT NULL,
  tool   TEXT NOT NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  epoch  INTEGER NOT NULL CHECK (epoch > 0),
  at     INTEGER NOT NULL,
  PRIMARY KEY (tenant, tool)
) STRICT, WITHOUT ROWID;

-- The freeze switch. An empty tool stops every tool of the tenant.
CREATE TABLE stop (
  tenant TEXT NOT NULL CHECK (tenant <> ''),
  tool   TEXT NOT NULL,
  by     TEXT NOT NULL,
  reason TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (tenant, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
  seq           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE CHECK (id <> ''),
  tenant        TEXT NOT NULL CHECK (tenant <> ''),
  name          TEXT NOT NULL,
  key           TEXT NOT NULL UNIQUE CHECK (key <> ''),
  principal     TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  password_at   INTEGER,
  active        INTEGER NOT NULL CHECK (active IN (0, 1)),
  created_at    INTEGER
) STRICT;

CREATE TABLE account_group (
  account_id TEXT NOT NULL REFERENCES account (id),
  name       TEXT NOT NULL CHECK (name <> ''),
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE login (
  token      BLOB PRIMARY KEY CHECK (length(token) = 32),
  account_id TEXT NOT NULL REFERENCES account (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  idle_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX login_account ON login (account_id);

CREATE TABLE invitation (
  token      BLOB PRIMARY KEY CHECK (length(token) = 32),
  tenant     TEXT NOT NULL,
  groups     TEXT NOT NULL,
  by         TEXT NOT NULL REFERENCES account (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_by    TEXT REFERENCES account (id),
  used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE credential (
  id         BLOB PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  public_key BLOB NOT NULL,
  sign_count INTEGER NOT NULL DEFAULT 0 CHECK (sign_count >= 0),
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at    INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- One row for each record of the audit log. The salt may be forgotten; the
-- leaf index is set once, by the sequencer.
CREATE TABLE event (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL,
  at         INTEGER NOT NULL,
  tenant     TEXT NOT NULL,
  event      TEXT NOT NULL,
  action_id  TEXT NOT NULL,
  leaf       BLOB NOT NULL CHECK (length(leaf) BETWEEN 2 AND 4096),
  salt       BLOB CHECK (length(salt) = 32),
  leaf_index INTEGER UNIQUE CHECK (leaf_index >= 0)
) STRICT;

CREATE INDEX event_action ON event (action_id, seq);
CREATE INDEX event_tenant ON event (tenant, seq);

-- Stored hashes of the Merkle tree, by their dense index (RFC 6962; the
-- layout of golang.org/x/mod/sumdb/tlog).
CREATE TABLE tree_hash (
  position INTEGER PRIMARY KEY CHECK (position >= 0),
  hash     BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE head (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  size INTEGER NOT NULL CHECK (size >= 0),
  root BLOB NOT NULL CHECK (length(root) = 32),
  at   INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoint (
  size INTEGER PRIMARY KEY CHECK (size >= 0),
  root BLOB NOT NULL CHECK (length(root) = 32),
  note TEXT NOT NULL,
  at   INTEGER NOT NULL
) STRICT;

CREATE TABLE outbox (
  seq        INTEGER PRIMARY KEY,
  topic      TEXT NOT NULL,
  tenant     TEXT NOT NULL,
  action_id  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  tries      INTEGER NOT NULL DEFAULT 0,
  next_at    INTEGER NOT NULL,
  done_at    INTEGER
) STRICT;

-- The latest time ever seen: a clock that steps back cannot revive anything.
CREATE TABLE time_floor (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at  INTEGER NOT NULL
) STRICT;

INSERT INTO time_floor (one, at) VALUES (1, 0);

-- A sealed word that shows at start whether the sealing key is the right one.
CREATE TABLE seal_check (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  sealed BLOB NOT NULL
) STRICT;
