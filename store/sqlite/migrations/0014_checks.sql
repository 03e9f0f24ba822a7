-- The same checks, said so that they cost less. SQLite fills a table of its
-- own for each list of three or more, with every statement that meets it; it
-- ends an OR at the first part that holds. Only the text of the rules
-- changes, nothing that is stored (sqlite.org/lang_altertable.html, "Making
-- Other Kinds Of Table Schema Changes").

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(replace(replace(sql,
  'CHECK (state IN (''denied'', ''pending_approval'', ''approved'', ''claimed'', ''executing'',
                   ''succeeded'', ''failed'', ''uncertain'', ''reconciled_succeeded'', ''reconciled_failed'', ''expired'', ''revoked''))',
  'CHECK (state = ''executing'' OR state = ''succeeded'' OR state = ''failed'' OR state = ''denied''
                   OR state = ''pending_approval'' OR state = ''approved'' OR state = ''claimed'' OR state = ''uncertain''
                   OR state = ''reconciled_succeeded'' OR state = ''reconciled_failed'' OR state = ''expired'' OR state = ''revoked'')'),
  'CHECK (effect IN (''deny'', ''allow'', ''require_approval''))',
  'CHECK (effect = ''allow'' OR effect = ''deny'' OR effect = ''require_approval'')'),
  'CHECK (end_evidence IN ('''', ''proved'', ''reported''))',
  'CHECK (end_evidence = '''' OR end_evidence = ''proved'' OR end_evidence = ''reported'')'),
  'CHECK (state NOT IN (''claimed'', ''executing'', ''succeeded'', ''failed'', ''uncertain'') OR fence > 0)',
  'CHECK (fence > 0 OR state <> ''claimed'' AND state <> ''executing'' AND state <> ''succeeded'' AND state <> ''failed''
    AND state <> ''uncertain'')'),
  'CHECK (state NOT IN (''executing'', ''succeeded'', ''failed'', ''uncertain'') OR attempt > 0)',
  'CHECK (attempt > 0 OR state <> ''executing'' AND state <> ''succeeded'' AND state <> ''failed'' AND state <> ''uncertain'')'),
  'CHECK (state NOT IN (''executing'', ''succeeded'', ''failed'', ''uncertain'') OR effect <> ''deny'')',
  'CHECK (effect <> ''deny'' OR state <> ''executing'' AND state <> ''succeeded'' AND state <> ''failed'' AND state <> ''uncertain'')'),
  'CHECK (state NOT IN (''pending_approval'', ''approved'', ''claimed'') OR deadline IS NOT NULL)',
  'CHECK (deadline IS NOT NULL OR state <> ''pending_approval'' AND state <> ''approved'' AND state <> ''claimed'')')
WHERE type = 'table' AND name = 'action';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (outcome IN (''succeeded'', ''failed'', ''uncertain''))',
  'CHECK (outcome = ''succeeded'' OR outcome = ''failed'' OR outcome = ''uncertain'')')
WHERE type = 'table' AND name = 'attempt';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state IN (''reserved'', ''posted'', ''void''))',
  'CHECK (state = ''reserved'' OR state = ''posted'' OR state = ''void'')')
WHERE type = 'table' AND name = 'reservation';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (span IN (''hour'', ''day'', ''week'', ''month''))',
  'CHECK (span = ''hour'' OR span = ''day'' OR span = ''week'' OR span = ''month'')')
WHERE type = 'table' AND name = 'budget';

PRAGMA writable_schema = RESET;

DROP TRIGGER action_start;
CREATE TRIGGER action_start BEFORE INSERT ON action
WHEN NEW.state <> 'executing' AND NEW.state <> 'denied' AND NEW.state <> 'pending_approval'
BEGIN SELECT RAISE(ABORT, 'an action cannot start in this state'); END;

DROP TRIGGER action_edge;
CREATE TRIGGER action_edge BEFORE UPDATE OF state ON action
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
BEGIN SELECT RAISE(ABORT, 'the state table has no such edge'); END;

DROP TRIGGER action_erased;
CREATE TRIGGER action_erased BEFORE UPDATE OF erased_at ON action
WHEN OLD.erased_at IS NOT NULL OR NEW.state = 'pending_approval' OR NEW.state = 'approved' OR NEW.state = 'claimed'
  OR NEW.state = 'executing' OR NEW.state = 'uncertain'
  OR NEW.fingerprint IS NOT NULL OR NEW.hash IS NOT NULL OR NEW.targets <> '[]'
BEGIN SELECT RAISE(ABORT, 'only what has ended is erased, once and as a whole'); END;
