-- Times are nanoseconds since 1970, UTC. Digests are 32 bytes. Sealed columns
-- hold what keys.Sealer made. Texts are compared as bytes. The tenant is part
-- of every key that leads from one table to another.

CREATE SEQUENCE action_seq;

CREATE TABLE action (
  tenant         TEXT COLLATE "C" NOT NULL CHECK (tenant <> ''),
  id             TEXT COLLATE "C" NOT NULL CHECK (id <> ''),
  seq            BIGINT NOT NULL UNIQUE CHECK (seq > 0),
  kind           TEXT COLLATE "C" NOT NULL CHECK (kind IN ('call', 'handoff')),
  principal      TEXT COLLATE "C" NOT NULL CHECK (principal <> ''),
  agent          TEXT COLLATE "C" NOT NULL,
  owner          TEXT COLLATE "C" NOT NULL,
  task           TEXT COLLATE "C" NOT NULL,
  grant_id       TEXT COLLATE "C" NOT NULL,
  grant_digest   BYTEA CHECK (length(grant_digest) = 32),
  tool           TEXT COLLATE "C" NOT NULL,
  definition     BYTEA CHECK (length(definition) = 32),
  mutation       BOOLEAN NOT NULL,
  high_impact    BOOLEAN NOT NULL,
  state          TEXT COLLATE "C" NOT NULL CHECK (state IN ('denied', 'pending_approval', 'approved', 'claimed', 'executing',
                   'succeeded', 'failed', 'uncertain', 'reconciled_succeeded', 'reconciled_failed', 'expired', 'revoked')),
  fence          BIGINT NOT NULL CHECK (fence >= 0),
  lease_until    BIGINT,
  attempt        BIGINT NOT NULL CHECK (attempt >= 0),
  created_at     BIGINT NOT NULL,
  updated_at     BIGINT NOT NULL,
  deadline       BIGINT,
  fingerprint    BYTEA CHECK (length(fingerprint) = 32),
  hash           BYTEA CHECK (length(hash) = 32),
  targets        TEXT COLLATE "C" NOT NULL,
  evidence       TEXT COLLATE "C" NOT NULL,
  changes        TEXT COLLATE "C" NOT NULL,
  key            TEXT COLLATE "C" NOT NULL,
  supersedes     TEXT COLLATE "C" NOT NULL,
  caller_gone    BOOLEAN NOT NULL,
  model          TEXT COLLATE "C" NOT NULL,
  call_id        TEXT COLLATE "C" NOT NULL,
  effect         TEXT COLLATE "C" NOT NULL CHECK (effect IN ('deny', 'allow', 'require_approval')),
  code           TEXT COLLATE "C" NOT NULL,
  reason         TEXT COLLATE "C" NOT NULL,
  public_reason  TEXT COLLATE "C" NOT NULL,
  result_mode    TEXT COLLATE "C" NOT NULL,
  policy_version TEXT COLLATE "C" NOT NULL,
  rules          TEXT COLLATE "C" NOT NULL,
  ended_at       BIGINT,
  end_error      BOOLEAN NOT NULL DEFAULT FALSE,
  end_evidence   TEXT COLLATE "C" NOT NULL DEFAULT '' CHECK (end_evidence IN ('', 'proved', 'reported')),
  end_code       TEXT COLLATE "C" NOT NULL DEFAULT '',
  end_detail     TEXT COLLATE "C" NOT NULL DEFAULT '',
  end_comparison TEXT COLLATE "C" NOT NULL DEFAULT '',
  process        TEXT COLLATE "C" NOT NULL, -- who moved the row last
  timeline       BIGINT NOT NULL,           -- of the server that it was moved on
  PRIMARY KEY (tenant, id),
  UNIQUE (id),
  CHECK ((state IN ('claimed', 'executing')) = (lease_until IS NOT NULL)),
  CHECK (state NOT IN ('claimed', 'executing', 'succeeded', 'failed', 'uncertain') OR fence > 0),
  CHECK (state NOT IN ('executing', 'succeeded', 'failed', 'uncertain') OR attempt > 0),
  CHECK (state NOT IN ('executing', 'succeeded', 'failed', 'uncertain') OR effect <> 'deny'),
  CHECK (state NOT IN ('pending_approval', 'approved', 'claimed') OR deadline IS NOT NULL),
  CHECK (state <> 'failed' OR NOT mutation OR end_evidence <> ''),
  CHECK (NOT high_impact OR effect <> 'allow')
);

CREATE INDEX action_fingerprint ON action (tenant, principal, fingerprint, seq)
  WHERE state IN ('pending_approval', 'approved', 'claimed', 'executing', 'uncertain');
CREATE INDEX action_state ON action (state, seq);
CREATE INDEX action_tenant ON action (tenant, seq);

-- Keyed by number, not by random id, so that new rows stand side by side.
CREATE TABLE payload (
  action_seq BIGINT PRIMARY KEY REFERENCES action (seq),
  raw        BYTEA,
  requested  BYTEA,
  args       BYTEA,
  preview    BYTEA,
  result     BYTEA
);

CREATE TABLE account (
  seq           BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  id            TEXT COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  tenant        TEXT COLLATE "C" NOT NULL CHECK (tenant <> ''),
  name          TEXT COLLATE "C" NOT NULL,
  key           TEXT COLLATE "C" NOT NULL UNIQUE CHECK (key <> ''),
  principal     TEXT COLLATE "C" NOT NULL,
  password_hash TEXT COLLATE "C" NOT NULL,
  password_at   BIGINT,
  active        BOOLEAN NOT NULL,
  created_at    BIGINT,
  UNIQUE (tenant, id)
);

CREATE TABLE account_group (
  account_id TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  name       TEXT COLLATE "C" NOT NULL CHECK (name <> ''),
  PRIMARY KEY (account_id, name)
);

CREATE TABLE approval (
  tenant        TEXT COLLATE "C" NOT NULL,
  action_id     TEXT COLLATE "C" NOT NULL,
  requirements  TEXT COLLATE "C" NOT NULL,
  pending_until BIGINT NOT NULL,
  ttl           BIGINT NOT NULL CHECK (ttl > 0),
  step_up       BOOLEAN NOT NULL,
  nonce         TEXT COLLATE "C" NOT NULL UNIQUE CHECK (nonce <> ''),
  requested_at  BIGINT NOT NULL,
  expires_at    BIGINT NOT NULL,
  preview       BYTEA CHECK (length(preview) = 32),
  digest        BYTEA NOT NULL UNIQUE CHECK (length(digest) = 32),
  PRIMARY KEY (tenant, action_id),
  FOREIGN KEY (tenant, action_id) REFERENCES action (tenant, id)
);

CREATE TABLE vote (
  seq       BIGINT GENERATED ALWAYS AS IDENTITY,
  tenant    TEXT COLLATE "C" NOT NULL,
  action_id TEXT COLLATE "C" NOT NULL,
  voter     TEXT COLLATE "C" NOT NULL,
  approve   BOOLEAN NOT NULL,
  reason    TEXT COLLATE "C" NOT NULL,
  digest    BYTEA NOT NULL CHECK (length(digest) = 32),
  nonce     TEXT COLLATE "C" NOT NULL,
  method    TEXT COLLATE "C" NOT NULL,
  envelope  BYTEA NOT NULL,
  at        BIGINT NOT NULL,
  PRIMARY KEY (tenant, action_id, voter),
  FOREIGN KEY (tenant, action_id) REFERENCES approval (tenant, action_id),
  FOREIGN KEY (tenant, voter) REFERENCES account (tenant, id)
);

-- An approval is used once, whatever else goes wrong.
CREATE TABLE consumption (
  digest    BYTEA PRIMARY KEY CHECK (length(digest) = 32),
  tenant    TEXT COLLATE "C" NOT NULL,
  action_id TEXT COLLATE "C" NOT NULL,
  at        BIGINT NOT NULL,
  UNIQUE (tenant, action_id),
  FOREIGN KEY (tenant, action_id) REFERENCES action (tenant, id)
);

CREATE TABLE attempt (
  action_seq   BIGINT NOT NULL REFERENCES action (seq),
  attempt      BIGINT NOT NULL CHECK (attempt > 0),
  fence        BIGINT NOT NULL CHECK (fence > 0),
  provider_key TEXT COLLATE "C" NOT NULL,
  started_at   BIGINT NOT NULL,
  ended_at     BIGINT,
  outcome      TEXT COLLATE "C" CHECK (outcome IN ('succeeded', 'failed', 'uncertain')),
  PRIMARY KEY (action_seq, attempt)
);

-- The key is claimed before its row is written, so the reference is checked
-- when the transaction ends.
CREATE TABLE idempotency (
  tenant      TEXT COLLATE "C" NOT NULL,
  principal   TEXT COLLATE "C" NOT NULL,
  key         TEXT COLLATE "C" NOT NULL CHECK (key <> ''),
  action_id   TEXT COLLATE "C" NOT NULL,
  created_at  BIGINT NOT NULL,
  PRIMARY KEY (tenant, principal, key),
  FOREIGN KEY (tenant, action_id) REFERENCES action (tenant, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE policy_epoch (
  tenant TEXT COLLATE "C" NOT NULL,
  tool   TEXT COLLATE "C" NOT NULL,
  digest BYTEA NOT NULL CHECK (length(digest) = 32),
  epoch  BIGINT NOT NULL CHECK (epoch > 0),
  at     BIGINT NOT NULL,
  PRIMARY KEY (tenant, tool)
);

-- The freeze switch. An empty column stops every value of it; an empty tenant
-- stops everything.
CREATE TABLE stop (
  tenant TEXT COLLATE "C" NOT NULL,
  agent  TEXT COLLATE "C" NOT NULL,
  tool   TEXT COLLATE "C" NOT NULL,
  by     TEXT COLLATE "C" NOT NULL CHECK (by <> ''),
  reason TEXT COLLATE "C" NOT NULL,
  at     BIGINT NOT NULL,
  PRIMARY KEY (tenant, agent, tool),
  CHECK (tenant <> '' OR agent = '' AND tool = '')
);

CREATE TABLE login (
  token      BYTEA PRIMARY KEY CHECK (length(token) = 32),
  account_id TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  idle_until BIGINT NOT NULL
);

CREATE INDEX login_account ON login (account_id);

CREATE TABLE credential (
  id         BYTEA PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  public_key BYTEA NOT NULL,
  rp_id      TEXT COLLATE "C" NOT NULL,
  sign_count BIGINT NOT NULL DEFAULT 0 CHECK (sign_count >= 0),
  name       TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT,
  revoked_at BIGINT,
  statement  BYTEA NOT NULL
);

CREATE INDEX credential_account ON credential (account_id);

-- One row for each record of the audit log, written with the change that it
-- tells of. Its place grows, but not without gaps: a place is lost with its
-- transaction. The salt may be forgotten.
CREATE TABLE event (
  place      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         TEXT COLLATE "C" NOT NULL UNIQUE,
  at         BIGINT NOT NULL,
  tenant     TEXT COLLATE "C" NOT NULL,
  event      TEXT COLLATE "C" NOT NULL,
  action_id  TEXT COLLATE "C" NOT NULL,
  body       BYTEA NOT NULL CHECK (length(body) BETWEEN 2 AND 4096)
);

CREATE INDEX event_action ON event (action_id, place);

CREATE TABLE salt (
  place BIGINT PRIMARY KEY REFERENCES event (place),
  salt  BYTEA NOT NULL CHECK (length(salt) = 32)
);

-- The numbering of records without a gap is done behind the changes, by one
-- at a time, so that changes need not wait for each other.
CREATE TABLE unnumbered (
  place BIGINT PRIMARY KEY
);

CREATE TABLE numbering (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  last BIGINT NOT NULL CHECK (last >= 0)
);

INSERT INTO numbering (one, last) VALUES (1, 0);

CREATE TABLE leaf (
  seq   BIGINT PRIMARY KEY CHECK (seq > 0),
  place BIGINT NOT NULL UNIQUE REFERENCES event (place),
  leaf  BYTEA NOT NULL CHECK (length(leaf) BETWEEN 2 AND 4096)
);

-- The gateways that share this database, and when each was last seen.
CREATE TABLE process (
  id         TEXT COLLATE "C" PRIMARY KEY,
  started_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL
);

-- The latest time ever seen: a clock that steps back cannot revive anything.
CREATE TABLE time_floor (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at  BIGINT NOT NULL
);

INSERT INTO time_floor (one, at) VALUES (1, 0);

-- A sealed word that shows at start whether the sealing key is the right one.
CREATE TABLE seal_check (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  sealed BYTEA NOT NULL
);
