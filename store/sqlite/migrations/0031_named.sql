-- Most records of an action are two, written with its row and with the end of
-- its run. The row says their numbers itself: they need no row in the list of
-- records by action. What that has of before stays there, and rows of before
-- say nothing.

ALTER TABLE action ADD COLUMN first_record INTEGER;
ALTER TABLE action ADD COLUMN end_record INTEGER;

CREATE TRIGGER action_records AFTER UPDATE OF first_record, end_record ON action
WHEN NEW.first_record IS NOT OLD.first_record OR OLD.end_record IS NOT NULL AND NEW.end_record IS NOT OLD.end_record
BEGIN SELECT RAISE(ROLLBACK, 'records never change'); END;
