-- One row holds the latest time ever seen, and whoever raises it holds it to
-- the end of their change. Nobody waits for them: a time that lies further
-- ahead is written here meanwhile. The latest of both is the latest time ever
-- seen. What the row has passed is deleted.

CREATE TABLE time_ahead (
  at BIGINT NOT NULL
);

CREATE INDEX time_ahead_at ON time_ahead (at);

CREATE FUNCTION ahead_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at > (SELECT at FROM time_floor) THEN
    RAISE EXCEPTION 'time never goes back' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER ahead_kept BEFORE DELETE ON time_ahead FOR EACH ROW EXECUTE FUNCTION ahead_kept();
CREATE TRIGGER ahead_frozen BEFORE UPDATE ON time_ahead FOR EACH ROW EXECUTE FUNCTION refuse('time never goes back');
CREATE TRIGGER ahead_whole BEFORE TRUNCATE ON time_ahead FOR EACH STATEMENT EXECUTE FUNCTION refuse('time never goes back');
