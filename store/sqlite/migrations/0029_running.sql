-- A swift row that runs longer than many behind it is no longer written again
-- to get into the index of rows in flight: it goes into a list, which takes a
-- few bytes. It does so by itself when the number in swift_from passes it, and
-- leaves the list by itself when it no longer runs.

CREATE TABLE running (
  seq INTEGER PRIMARY KEY
) STRICT;

DROP TRIGGER swift_from_forward;
CREATE TRIGGER swift_from_forward BEFORE UPDATE ON swift_from
WHEN NEW.one <> OLD.one OR NEW.seq < OLD.seq OR NEW.seq > (SELECT coalesce(max(seq), 0) FROM action)
BEGIN SELECT RAISE(ABORT, 'a swift row that runs is a new one'); END;
CREATE TRIGGER swift_from_lists AFTER UPDATE ON swift_from
BEGIN INSERT INTO running (seq)
  SELECT seq FROM action WHERE seq > OLD.seq AND seq <= NEW.seq AND state = 'executing' AND swift = 1; END;

-- Whoever writes more than one row keeps a journal of its own where it may be
-- taken back; see 0024.
CREATE TRIGGER running_over AFTER UPDATE OF state ON action
WHEN OLD.state = 'executing'
BEGIN DELETE FROM running WHERE seq = OLD.seq; END;
CREATE TRIGGER running_true BEFORE DELETE ON running
WHEN EXISTS (SELECT 1 FROM action WHERE seq = OLD.seq AND state = 'executing')
BEGIN SELECT RAISE(FAIL, 'a row that runs is in the list'); END;
CREATE TRIGGER running_kept BEFORE UPDATE ON running
BEGIN SELECT RAISE(ABORT, 'a row that runs is in the list'); END;
