-- What a decision read beside the arguments, so that it can be made again
-- under another policy. Rows of before have none.

ALTER TABLE payload ADD COLUMN facts BLOB;

CREATE TRIGGER payload_facts BEFORE UPDATE OF facts ON payload
WHEN NEW.facts IS NOT NULL AND NEW.facts IS NOT OLD.facts
BEGIN SELECT RAISE(ABORT, 'a payload never changes'); END;
