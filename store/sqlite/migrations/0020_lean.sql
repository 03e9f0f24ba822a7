-- Fewer pages for each decision and each end of a run.

-- The records without the column that never was used, and without its index.
CREATE TABLE event_lean (
  seq       INTEGER PRIMARY KEY,
  id        TEXT NOT NULL,
  at        INTEGER NOT NULL,
  tenant    TEXT NOT NULL,
  event     TEXT NOT NULL,
  action_id TEXT NOT NULL,
  leaf      BLOB NOT NULL CHECK (length(leaf) BETWEEN 2 AND 4096),
  salt      BLOB CHECK (length(salt) = 32)
) STRICT;

INSERT INTO event_lean (seq, id, at, tenant, event, action_id, leaf, salt)
SELECT seq, id, at, tenant, event, action_id, leaf, salt FROM event ORDER BY seq;
DROP TABLE event;
ALTER TABLE event_lean RENAME TO event;

-- An index ends with the number of the row by itself (sqlite.org/fileformat2.html §2.5.1).
CREATE INDEX event_action ON event (action_id);
CREATE INDEX event_tenant ON event (tenant);

CREATE TRIGGER event_frozen BEFORE UPDATE ON event
WHEN NEW.seq <> OLD.seq OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.tenant <> OLD.tenant OR NEW.event <> OLD.event
  OR NEW.action_id <> OLD.action_id OR NEW.leaf <> OLD.leaf OR (NEW.salt IS NOT NULL AND NEW.salt IS NOT OLD.salt)
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_kept BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_dense BEFORE INSERT ON event
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM event)
BEGIN SELECT RAISE(ABORT, 'records are numbered without a gap'); END;

-- Rows are only looked for by their state while they are in flight. Those
-- that have ended are no longer in this index.
DROP INDEX action_state;
CREATE INDEX action_flying ON action (state)
WHERE state = 'executing' OR state = 'pending_approval' OR state = 'approved' OR state = 'claimed' OR state = 'uncertain';

-- The first attempt of a call that policy allowed begins with its row, and
-- the row says everything about it: it has no row among the attempts. Only
-- where it was sent to must be said.
ALTER TABLE action ADD COLUMN server BLOB CHECK (length(server) = 32);

CREATE TRIGGER action_sent BEFORE UPDATE OF server ON action
BEGIN SELECT RAISE(ABORT, 'where a call was sent never changes'); END;
