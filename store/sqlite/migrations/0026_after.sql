-- The same checks behind the row instead of before it. A trigger before a
-- row is given a copy of all its columns, and after it SQLite reads the row
-- again (sqlite.org/lang_createtrigger.html §2.2); one after it reads what was
-- written. What it refuses takes the whole transaction back: a statement that
-- is refused alone leaves nothing, as before.

DROP TRIGGER action_start;
CREATE TRIGGER action_start AFTER INSERT ON action
WHEN NEW.state <> 'executing' AND NEW.state <> 'denied' AND NEW.state <> 'pending_approval'
BEGIN SELECT RAISE(ROLLBACK, 'an action cannot start in this state'); END;

DROP TRIGGER action_edge;
CREATE TRIGGER action_edge AFTER UPDATE OF state ON action
WHEN NOT CASE OLD.state
  WHEN 'executing' THEN NEW.state = 'succeeded' OR NEW.state = 'failed' OR NEW.state = 'uncertain'
  WHEN 'pending_approval' THEN NEW.state = 'pending_approval' OR NEW.state = 'approved' OR NEW.state = 'denied'
    OR NEW.state = 'expired' OR NEW.state = 'revoked'
  WHEN 'approved' THEN NEW.state = 'claimed' OR NEW.state = 'executing' OR NEW.state = 'denied' OR NEW.state = 'expired'
    OR NEW.state = 'revoked'
  WHEN 'claimed' THEN NEW.state = 'executing' OR NEW.state = 'claimed' OR NEW.state = 'denied' OR NEW.state = 'expired'
    OR NEW.state = 'revoked'
  WHEN 'uncertain' THEN NEW.state = 'reconciled_succeeded' OR NEW.state = 'reconciled_failed' OR NEW.state = 'executing'
  ELSE FALSE END
BEGIN SELECT RAISE(ROLLBACK, 'the state table has no such edge'); END;

DROP TRIGGER event_pack_dense;
CREATE TRIGGER event_pack_dense AFTER INSERT ON event_pack
WHEN EXISTS (SELECT 1 FROM event_pack WHERE first > NEW.first)
  OR NEW.first <> coalesce((SELECT first + count FROM event_pack WHERE first < NEW.first ORDER BY first DESC LIMIT 1), 1)
BEGIN SELECT RAISE(ROLLBACK, 'records are numbered without a gap'); END;
