-- What a decision read beside the arguments, so that it can be made again
-- under another policy. Rows of before have none.

ALTER TABLE payload ADD COLUMN facts BYTEA;

CREATE TRIGGER payload_facts BEFORE UPDATE OF facts ON payload FOR EACH ROW
WHEN (NEW.facts IS NOT NULL AND NEW.facts IS DISTINCT FROM OLD.facts)
  EXECUTE FUNCTION refuse('a payload never changes');
