-- How far readers of the log have come that are told of every record. The
-- table that stood for this before was never used: the records themselves are
-- what is handed on.

DROP TABLE outbox;

CREATE TABLE follower (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  next  INTEGER NOT NULL CHECK (next >= 0),
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TRIGGER follower_forward BEFORE UPDATE ON follower
WHEN NEW.next < OLD.next OR NEW.name <> OLD.name
BEGIN SELECT RAISE(ABORT, 'a place in the log never goes back'); END;
