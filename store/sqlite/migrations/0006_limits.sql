-- Limits add up over fixed windows. Nothing was ever reserved before this
-- step, so both tables are made anew. A window stays under the limit that its
-- last reservation was made under, whatever the catalog says later.

DROP TABLE reservation;
DROP TABLE budget;

CREATE TABLE budget (
  seq      INTEGER PRIMARY KEY,
  tenant   TEXT NOT NULL CHECK (tenant <> ''),
  name     TEXT NOT NULL CHECK (name <> ''),
  span     TEXT NOT NULL CHECK (span IN ('hour', 'day', 'week', 'month')),
  scope    TEXT NOT NULL,
  currency TEXT NOT NULL,
  starts   INTEGER NOT NULL,
  ends     INTEGER NOT NULL CHECK (ends > starts),
  most     INTEGER NOT NULL CHECK (most >= 0),
  reserved INTEGER NOT NULL CHECK (reserved >= 0),
  posted   INTEGER NOT NULL CHECK (posted >= 0),
  UNIQUE (tenant, name, span, scope, currency, starts),
  CHECK (reserved + posted <= most)
) STRICT;

CREATE INDEX budget_ends ON budget (ends);

CREATE TABLE reservation (
  action_id TEXT NOT NULL REFERENCES action (id),
  budget    INTEGER NOT NULL REFERENCES budget (seq),
  amount    INTEGER NOT NULL CHECK (amount >= 0),
  state     TEXT NOT NULL CHECK (state IN ('reserved', 'posted', 'void')),
  at        INTEGER NOT NULL,
  PRIMARY KEY (action_id, budget)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER reservation_once BEFORE UPDATE ON reservation
WHEN OLD.state <> 'reserved' OR NEW.state = 'reserved' OR NEW.amount <> OLD.amount
  OR NEW.action_id <> OLD.action_id OR NEW.budget <> OLD.budget
BEGIN SELECT RAISE(ABORT, 'a reservation is settled once, as it was made'); END;

CREATE TRIGGER reservation_kept BEFORE DELETE ON reservation
BEGIN SELECT RAISE(ABORT, 'reservations are kept'); END;

CREATE TRIGGER budget_kept BEFORE DELETE ON budget
BEGIN SELECT RAISE(ABORT, 'windows are kept'); END;
