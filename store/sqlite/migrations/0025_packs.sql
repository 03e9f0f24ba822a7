-- The records of one commit in one row: with many callers a row for each cost
-- more than what is in it. A row begins with record number first. Before each
-- leaf stands its length in two bytes; 32 bytes of salts are of each record,
-- zeros once they are forgotten.

CREATE TABLE event_pack (
  first  INTEGER PRIMARY KEY CHECK (first > 0),
  count  INTEGER NOT NULL CHECK (count BETWEEN 1 AND 128),
  at     INTEGER NOT NULL, -- of its last record
  salts  BLOB NOT NULL CHECK (length(salts) = 32 * count),
  leaves BLOB NOT NULL CHECK (length(leaves) BETWEEN 4 * count AND 4098 * count)
) STRICT;

-- A gap that somebody has made stays one.
INSERT INTO event_pack (first, count, at, salts, leaves)
SELECT g.first, g.last - g.first + 1, (SELECT at FROM event WHERE seq = g.last),
  (SELECT unhex(group_concat(hex(coalesce(salt, zeroblob(32))), '' ORDER BY seq)) FROM event WHERE seq BETWEEN g.first AND g.last),
  (SELECT unhex(group_concat(printf('%04x', length(leaf)) || hex(leaf), '' ORDER BY seq)) FROM event WHERE seq BETWEEN g.first AND g.last)
FROM (SELECT e.seq AS first, (SELECT l.seq FROM event l WHERE l.seq >= e.seq
    AND (l.seq % 64 = 0 OR NOT EXISTS (SELECT 1 FROM event n WHERE n.seq = l.seq + 1)) ORDER BY l.seq LIMIT 1) AS last
  FROM event e WHERE e.seq % 64 = 1 OR NOT EXISTS (SELECT 1 FROM event b WHERE b.seq = e.seq - 1)) g
ORDER BY g.first;

CREATE TRIGGER event_pack_frozen BEFORE UPDATE ON event_pack
WHEN NEW.first <> OLD.first OR NEW.count <> OLD.count OR NEW.at <> OLD.at OR NEW.leaves <> OLD.leaves
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_pack_salts BEFORE UPDATE OF salts ON event_pack
WHEN length(NEW.salts) <> length(OLD.salts) OR EXISTS (
  WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < OLD.count)
  SELECT 1 FROM place WHERE substr(NEW.salts, 32 * n + 1, 32) NOT IN (substr(OLD.salts, 32 * n + 1, 32), zeroblob(32)))
BEGIN SELECT RAISE(ABORT, 'a salt is kept or forgotten'); END;
CREATE TRIGGER event_pack_kept BEFORE DELETE ON event_pack
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_pack_dense BEFORE INSERT ON event_pack
WHEN NEW.first <> coalesce((SELECT first + count FROM event_pack ORDER BY first DESC LIMIT 1), 1)
BEGIN SELECT RAISE(FAIL, 'records are numbered without a gap'); END;

-- The lists say which rows have records of an action, and of a tenant.
DROP TABLE event_of;
DROP TABLE event_in;

CREATE TABLE event_of (
  action_id TEXT NOT NULL CHECK (action_id <> ''),
  first     INTEGER NOT NULL,
  PRIMARY KEY (action_id, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_in (
  tenant TEXT NOT NULL,
  first  INTEGER NOT NULL,
  PRIMARY KEY (tenant, first)
) STRICT, WITHOUT ROWID;

INSERT INTO event_of (action_id, first)
SELECT DISTINCT action_id, (SELECT max(first) FROM event_pack WHERE first <= seq) FROM event WHERE action_id <> '' ORDER BY 1, 2;
INSERT INTO event_in (tenant, first)
SELECT DISTINCT tenant, (SELECT max(first) FROM event_pack WHERE first <= seq) FROM event ORDER BY 1, 2;

DROP TRIGGER event_listed_forward;
UPDATE event_listed SET seq = (SELECT coalesce(max(seq), 0) FROM event);
DROP TABLE event;

CREATE TRIGGER event_of_frozen BEFORE UPDATE ON event_of
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_of_kept BEFORE DELETE ON event_of
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_in_frozen BEFORE UPDATE ON event_in
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_in_kept BEFORE DELETE ON event_in
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_listed_forward BEFORE UPDATE ON event_listed
WHEN NEW.seq < OLD.seq OR NEW.one <> OLD.one OR NEW.seq > coalesce((SELECT first + count - 1 FROM event_pack ORDER BY first DESC LIMIT 1), 0)
BEGIN SELECT RAISE(ABORT, 'the lists only grow'); END;
