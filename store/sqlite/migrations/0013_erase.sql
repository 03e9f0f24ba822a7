-- What was proposed may be erased once an action has ended: everything that
-- tells of the arguments goes, the rest stays as it was decided on.

ALTER TABLE action ADD COLUMN erased_at INTEGER;

DROP TRIGGER action_frozen;
CREATE TRIGGER action_frozen BEFORE UPDATE OF id, kind, tenant, principal, agent, owner, task, grant_id, grant_digest,
  tool, definition, mutation, high_impact, created_at, key, supersedes, model, call_id ON action
BEGIN SELECT RAISE(ABORT, 'what was decided on never changes'); END;
CREATE TRIGGER action_proposed BEFORE UPDATE OF fingerprint, hash, targets, evidence, changes ON action
WHEN OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL OR NEW.fingerprint IS NOT NULL OR NEW.hash IS NOT NULL
  OR NEW.targets <> '[]' OR NEW.evidence <> '[]' OR NEW.changes <> '[]'
BEGIN SELECT RAISE(ABORT, 'what was decided on never changes'); END;
CREATE TRIGGER action_erased BEFORE UPDATE OF erased_at ON action
WHEN OLD.erased_at IS NOT NULL OR NEW.state IN ('pending_approval', 'approved', 'claimed', 'executing', 'uncertain')
  OR NEW.fingerprint IS NOT NULL OR NEW.hash IS NOT NULL OR NEW.targets <> '[]'
BEGIN SELECT RAISE(ABORT, 'only what has ended is erased, once and as a whole'); END;

-- The nonce and the digest of the preview would let somebody guess at what
-- was approved.
DROP TRIGGER approval_frozen;
CREATE TRIGGER approval_frozen BEFORE UPDATE ON approval
WHEN (SELECT erased_at FROM action WHERE id = OLD.action_id) IS NULL OR NEW.action_id <> OLD.action_id
  OR NEW.requirements <> OLD.requirements OR NEW.pending_until <> OLD.pending_until OR NEW.ttl <> OLD.ttl
  OR NEW.step_up <> OLD.step_up OR NEW.requested_at <> OLD.requested_at OR NEW.expires_at <> OLD.expires_at
  OR NEW.digest <> OLD.digest
BEGIN SELECT RAISE(ABORT, 'terms never change'); END;
