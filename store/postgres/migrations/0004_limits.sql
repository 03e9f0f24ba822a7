-- Limits add up over fixed windows. A window stays under the limit that its
-- last reservation was made under, whatever the catalog says later.

CREATE TABLE budget (
  seq      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant   TEXT COLLATE "C" NOT NULL CHECK (tenant <> ''),
  name     TEXT COLLATE "C" NOT NULL CHECK (name <> ''),
  span     TEXT COLLATE "C" NOT NULL CHECK (span IN ('hour', 'day', 'week', 'month')),
  scope    TEXT COLLATE "C" NOT NULL,
  currency TEXT COLLATE "C" NOT NULL,
  starts   BIGINT NOT NULL,
  ends     BIGINT NOT NULL CHECK (ends > starts),
  most     BIGINT NOT NULL CHECK (most >= 0),
  reserved BIGINT NOT NULL CHECK (reserved >= 0),
  posted   BIGINT NOT NULL CHECK (posted >= 0),
  UNIQUE (tenant, seq),
  UNIQUE (tenant, name, span, scope, currency, starts),
  CHECK (reserved + posted <= most)
);

CREATE INDEX budget_ends ON budget (ends);

CREATE TABLE reservation (
  tenant    TEXT COLLATE "C" NOT NULL,
  action_id TEXT COLLATE "C" NOT NULL,
  budget    BIGINT NOT NULL,
  amount    BIGINT NOT NULL CHECK (amount >= 0),
  state     TEXT COLLATE "C" NOT NULL CHECK (state IN ('reserved', 'posted', 'void')),
  at        BIGINT NOT NULL,
  PRIMARY KEY (action_id, budget),
  FOREIGN KEY (tenant, action_id) REFERENCES action (tenant, id),
  FOREIGN KEY (tenant, budget) REFERENCES budget (tenant, seq)
);

CREATE TRIGGER reservation_once BEFORE UPDATE ON reservation FOR EACH ROW
  WHEN (OLD.state <> 'reserved' OR NEW.state = 'reserved' OR NEW.amount <> OLD.amount
    OR NEW.action_id <> OLD.action_id OR NEW.budget <> OLD.budget OR NEW.tenant <> OLD.tenant)
  EXECUTE FUNCTION refuse('a reservation is settled once, as it was made');
CREATE TRIGGER reservation_kept BEFORE DELETE ON reservation FOR EACH ROW EXECUTE FUNCTION refuse('reservations are kept');
CREATE TRIGGER reservation_whole BEFORE TRUNCATE ON reservation FOR EACH STATEMENT EXECUTE FUNCTION refuse('reservations are kept');
CREATE TRIGGER budget_kept BEFORE DELETE ON budget FOR EACH ROW EXECUTE FUNCTION refuse('windows are kept');
CREATE TRIGGER budget_whole BEFORE TRUNCATE ON budget FOR EACH STATEMENT EXECUTE FUNCTION refuse('windows are kept');
