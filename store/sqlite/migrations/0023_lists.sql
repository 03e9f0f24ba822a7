-- Which records are of an action, and of a tenant, stands in two lists. They
-- are written for many records at once: what follows the number in
-- event_listed is not in them yet, and is looked at itself.

CREATE TABLE event_of (
  action_id TEXT NOT NULL CHECK (action_id <> ''),
  seq       INTEGER NOT NULL,
  PRIMARY KEY (action_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_in (
  tenant TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_listed (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL CHECK (seq >= 0)
) STRICT;

INSERT INTO event_of (action_id, seq) SELECT action_id, seq FROM event WHERE action_id <> '';
INSERT INTO event_in (tenant, seq) SELECT tenant, seq FROM event;
INSERT INTO event_listed (one, seq) SELECT 1, coalesce(max(seq), 0) FROM event;

DROP INDEX event_action;
DROP INDEX event_tenant;

CREATE TRIGGER event_of_frozen BEFORE UPDATE ON event_of
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_of_kept BEFORE DELETE ON event_of
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_in_frozen BEFORE UPDATE ON event_in
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_in_kept BEFORE DELETE ON event_in
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_listed_forward BEFORE UPDATE ON event_listed
WHEN NEW.seq < OLD.seq OR NEW.one <> OLD.one OR NEW.seq > (SELECT coalesce(max(seq), 0) FROM event)
BEGIN SELECT RAISE(ABORT, 'the lists only grow'); END;
CREATE TRIGGER event_listed_kept BEFORE DELETE ON event_listed
BEGIN SELECT RAISE(ABORT, 'the lists only grow'); END;
