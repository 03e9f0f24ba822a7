-- What was proposed may be erased once an action has ended: everything that
-- tells of the arguments goes, the rest stays as it was decided on. A
-- gateway's own role may not: see roles.go.

ALTER TABLE action ADD COLUMN erased_at BIGINT;

DROP TRIGGER action_frozen ON action;
CREATE TRIGGER action_frozen BEFORE UPDATE OF id, seq, kind, tenant, principal, agent, owner, task, grant_id, grant_digest,
  tool, definition, mutation, high_impact, created_at, key, supersedes, model, call_id ON action
  FOR EACH ROW EXECUTE FUNCTION refuse('what was decided on never changes');
CREATE TRIGGER action_proposed BEFORE UPDATE OF fingerprint, hash, targets, evidence, changes ON action FOR EACH ROW
WHEN (OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL OR NEW.fingerprint IS NOT NULL OR NEW.hash IS NOT NULL
  OR NEW.targets <> '[]' OR NEW.evidence <> '[]' OR NEW.changes <> '[]')
  EXECUTE FUNCTION refuse('what was decided on never changes');
CREATE TRIGGER action_erased BEFORE UPDATE OF erased_at ON action FOR EACH ROW
WHEN (OLD.erased_at IS NOT NULL OR NEW.state IN ('pending_approval', 'approved', 'claimed', 'executing', 'uncertain')
  OR NEW.fingerprint IS NOT NULL OR NEW.hash IS NOT NULL OR NEW.targets <> '[]')
  EXECUTE FUNCTION refuse('only what has ended is erased, once and as a whole');

-- The nonce and the digest of the preview would let somebody guess at what
-- was approved.
CREATE FUNCTION approval_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM action WHERE id = OLD.action_id AND erased_at IS NOT NULL) OR NEW.action_id <> OLD.action_id
    OR NEW.requirements <> OLD.requirements OR NEW.pending_until <> OLD.pending_until OR NEW.ttl <> OLD.ttl
    OR NEW.step_up <> OLD.step_up OR NEW.requested_at <> OLD.requested_at OR NEW.expires_at <> OLD.expires_at
    OR NEW.digest <> OLD.digest THEN
    RAISE EXCEPTION 'terms never change' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER approval_frozen ON approval;
CREATE TRIGGER approval_frozen BEFORE UPDATE ON approval FOR EACH ROW EXECUTE FUNCTION approval_frozen();
