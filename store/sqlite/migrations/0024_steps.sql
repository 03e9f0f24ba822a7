-- Fewer pages and fewer steps for each decision and each end of a run.

-- Rows in flight are found by what the program remembers of them, and rows
-- that took effect by the index of those: one entry of it says all that is asked.
DROP INDEX action_fingerprint;
DROP INDEX action_effects;
CREATE INDEX action_effects ON action (tenant, tool, targets, ended_at, fingerprint)
WHERE state = 'succeeded' OR state = 'reconciled_succeeded';

-- A statement that a trigger may take back keeps a journal of its own, whether
-- it is taken back or not (sqlite.org/tempfiles.html §2.4). These change one
-- row, or their verb is undone as a whole: nothing is left to take back.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, 'RAISE(ABORT,', 'RAISE(FAIL,')
WHERE type = 'trigger' AND tbl_name IN ('action', 'event');

PRAGMA writable_schema = RESET;

-- Hashes of the tree, 120 in a row by their dense index: to go through the
-- tables for each costs more than to compute it. A row is filled, then never
-- changes; nor does what stands in it already.
CREATE TABLE tree_part (
  part   INTEGER PRIMARY KEY CHECK (part >= 0),
  hashes BLOB NOT NULL CHECK (length(hashes) BETWEEN 32 AND 3840 AND length(hashes) % 32 = 0)
) STRICT;

INSERT INTO tree_part (part, hashes)
SELECT position / 120, unhex(group_concat(hex(hash), '' ORDER BY position)) FROM tree_hash GROUP BY position / 120;
DROP TABLE tree_hash;

CREATE TRIGGER tree_part_grows BEFORE UPDATE ON tree_part
WHEN NEW.part <> OLD.part OR length(NEW.hashes) <= length(OLD.hashes)
  OR substr(NEW.hashes, 1, length(OLD.hashes)) <> OLD.hashes
BEGIN SELECT RAISE(ABORT, 'the tree never changes'); END;
CREATE TRIGGER tree_part_kept BEFORE DELETE ON tree_part
BEGIN SELECT RAISE(ABORT, 'the tree is kept'); END;
CREATE TRIGGER tree_part_dense BEFORE INSERT ON tree_part
WHEN NEW.part <> (SELECT coalesce(max(part), -1) + 1 FROM tree_part)
  OR NEW.part > 0 AND (SELECT length(hashes) FROM tree_part WHERE part = NEW.part - 1) <> 3840
BEGIN SELECT RAISE(ABORT, 'the tree has no gap'); END;
