-- What is short of a payload stands in the row of its action: one page and
-- one statement less for each decision and each end. What is long stays
-- beside it, so that a move does not write it again.

ALTER TABLE action ADD COLUMN raw BLOB;
ALTER TABLE action ADD COLUMN requested BLOB;
ALTER TABLE action ADD COLUMN args BLOB;
ALTER TABLE action ADD COLUMN preview BLOB;
ALTER TABLE action ADD COLUMN facts BLOB;
ALTER TABLE action ADD COLUMN result BLOB;

CREATE TRIGGER action_payload BEFORE UPDATE OF raw, requested, args, preview, facts ON action
WHEN (NEW.raw IS NOT NULL AND NEW.raw IS NOT OLD.raw) OR (NEW.requested IS NOT NULL AND NEW.requested IS NOT OLD.requested)
  OR (NEW.args IS NOT NULL AND NEW.args IS NOT OLD.args) OR (NEW.preview IS NOT NULL AND NEW.preview IS NOT OLD.preview)
  OR (NEW.facts IS NOT NULL AND NEW.facts IS NOT OLD.facts)
BEGIN SELECT RAISE(ABORT, 'a payload never changes'); END;
