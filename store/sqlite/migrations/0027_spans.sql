-- What an action does is mostly recorded in packs that follow each other: the
-- list has one row for those, from the first pack to the last.

CREATE TABLE event_span (
  action_id TEXT NOT NULL CHECK (action_id <> ''),
  first     INTEGER NOT NULL,
  last      INTEGER NOT NULL CHECK (last >= first),
  PRIMARY KEY (action_id, first)
) STRICT, WITHOUT ROWID;

INSERT INTO event_span (action_id, first, last) SELECT action_id, first, first FROM event_of ORDER BY action_id, first;
DROP TABLE event_of;
ALTER TABLE event_span RENAME TO event_of;

CREATE TRIGGER event_of_frozen BEFORE UPDATE ON event_of
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_of_kept BEFORE DELETE ON event_of
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
