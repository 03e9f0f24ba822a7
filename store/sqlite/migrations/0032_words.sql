-- Records that are written together say the same agent, tool, moment and more. A
-- pack of many keeps those once, beside the leaves that refer to them (package
-- audit, Words). Packs of before have none, and do not change.

ALTER TABLE event_pack ADD COLUMN words BLOB;

DROP TRIGGER event_pack_frozen;
CREATE TRIGGER event_pack_frozen BEFORE UPDATE ON event_pack
WHEN NEW.first <> OLD.first OR NEW.count <> OLD.count OR NEW.at <> OLD.at OR NEW.leaves <> OLD.leaves OR NEW.words IS NOT OLD.words
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
