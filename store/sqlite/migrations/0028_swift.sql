-- Fewer pages for each decision and each end of a run: a call that begins with
-- its row mostly ends before anybody looks for it, and was written into the
-- index of rows in flight only to be taken out again. Such a row is swift, and
-- is not in that index while it runs. Rows that run and are swift are the
-- newest ones: each has a number above the one in swift_from.

ALTER TABLE action ADD COLUMN swift INTEGER NOT NULL DEFAULT 0 CHECK (swift = 0 OR swift = 1);

CREATE TABLE swift_from (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL CHECK (seq >= 0)
) STRICT;

INSERT INTO swift_from (one, seq) SELECT 1, coalesce(max(seq), 0) FROM action;

DROP INDEX action_flying;
CREATE INDEX action_flying ON action (state)
WHERE state = 'pending_approval' OR state = 'approved' OR state = 'claimed' OR state = 'uncertain' OR state = 'executing' AND swift = 0;

CREATE TRIGGER action_swift BEFORE UPDATE OF swift ON action
WHEN NEW.swift > OLD.swift
BEGIN SELECT RAISE(ABORT, 'only a new row is swift'); END;
CREATE TRIGGER swift_from_forward BEFORE UPDATE ON swift_from
WHEN NEW.one <> OLD.one OR NEW.seq < OLD.seq OR NEW.seq > (SELECT coalesce(max(seq), 0) FROM action)
  OR EXISTS (SELECT 1 FROM action WHERE seq > OLD.seq AND seq <= NEW.seq AND state = 'executing' AND swift = 1)
BEGIN SELECT RAISE(ABORT, 'a swift row that runs is a new one'); END;
CREATE TRIGGER swift_from_kept BEFORE DELETE ON swift_from
BEGIN SELECT RAISE(ABORT, 'a swift row that runs is a new one'); END;

-- What begins to run later is not swift.
DROP TRIGGER action_edge;
CREATE TRIGGER action_edge AFTER UPDATE OF state ON action
WHEN NOT CASE OLD.state
  WHEN 'executing' THEN NEW.state = 'succeeded' OR NEW.state = 'failed' OR NEW.state = 'uncertain'
  WHEN 'pending_approval' THEN NEW.state = 'pending_approval' OR NEW.state = 'approved' OR NEW.state = 'denied'
    OR NEW.state = 'expired' OR NEW.state = 'revoked'
  WHEN 'approved' THEN NEW.state = 'claimed' OR NEW.state = 'executing' AND NEW.swift = 0 OR NEW.state = 'denied'
    OR NEW.state = 'expired' OR NEW.state = 'revoked'
  WHEN 'claimed' THEN NEW.state = 'executing' AND NEW.swift = 0 OR NEW.state = 'claimed' OR NEW.state = 'denied'
    OR NEW.state = 'expired' OR NEW.state = 'revoked'
  WHEN 'uncertain' THEN NEW.state = 'reconciled_succeeded' OR NEW.state = 'reconciled_failed'
    OR NEW.state = 'executing' AND NEW.swift = 0
  ELSE FALSE END
BEGIN SELECT RAISE(ROLLBACK, 'the state table has no such edge'); END;
