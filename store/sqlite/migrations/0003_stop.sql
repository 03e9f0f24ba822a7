-- The freeze switch covers an agent and everything, too. An empty column
-- stops every value of it; an empty tenant stops everything.

ALTER TABLE stop RENAME TO stop_before;

CREATE TABLE stop (
  tenant TEXT NOT NULL,
  agent  TEXT NOT NULL,
  tool   TEXT NOT NULL,
  by     TEXT NOT NULL CHECK (by <> ''),
  reason TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (tenant, agent, tool),
  CHECK (tenant <> '' OR agent = '' AND tool = '')
) STRICT, WITHOUT ROWID;

INSERT INTO stop (tenant, agent, tool, by, reason, at)
SELECT tenant, '', tool, by, reason, at FROM stop_before;

DROP TABLE stop_before;
