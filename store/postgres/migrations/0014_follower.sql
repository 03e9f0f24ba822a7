-- How far readers of the log have come that are told of every record.

CREATE TABLE follower (
  name  TEXT COLLATE "C" PRIMARY KEY CHECK (name <> ''),
  next  BIGINT NOT NULL CHECK (next >= 0),
  owner TEXT COLLATE "C" NOT NULL,
  until BIGINT NOT NULL,
  at    BIGINT
);

CREATE TRIGGER follower_forward BEFORE UPDATE ON follower FOR EACH ROW WHEN (NEW.next < OLD.next OR NEW.name <> OLD.name)
  EXECUTE FUNCTION refuse('a place in the log never goes back');
