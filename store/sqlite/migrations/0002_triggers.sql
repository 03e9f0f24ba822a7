-- The second line behind the program: what must never happen is refused by
-- the database too.

CREATE TRIGGER action_start BEFORE INSERT ON action
WHEN NEW.state NOT IN ('denied', 'pending_approval', 'executing')
BEGIN SELECT RAISE(ABORT, 'an action cannot start in this state'); END;

CREATE TRIGGER action_edge BEFORE UPDATE OF state ON action
WHEN OLD.state || '>' || NEW.state NOT IN (
  'pending_approval>pending_approval', 'pending_approval>approved', 'pending_approval>denied',
  'pending_approval>expired', 'pending_approval>revoked',
  'approved>claimed', 'approved>executing', 'approved>denied', 'approved>expired', 'approved>revoked',
  'claimed>claimed', 'claimed>executing', 'claimed>denied', 'claimed>expired', 'claimed>revoked',
  'executing>succeeded', 'executing>failed', 'executing>uncertain',
  'uncertain>reconciled_succeeded', 'uncertain>reconciled_failed', 'uncertain>executing')
BEGIN SELECT RAISE(ABORT, 'the state table has no such edge'); END;

CREATE TRIGGER action_fence BEFORE UPDATE OF fence ON action
WHEN NEW.fence < OLD.fence
BEGIN SELECT RAISE(ABORT, 'a fence never falls'); END;

CREATE TRIGGER action_frozen BEFORE UPDATE OF id, kind, tenant, principal, agent, owner, task, grant_id, grant_digest,
  tool, definition, mutation, high_impact, created_at, fingerprint, hash, targets, evidence, changes, key, supersedes,
  model, call_id ON action
BEGIN SELECT RAISE(ABORT, 'what was decided on never changes'); END;

CREATE TRIGGER action_kept BEFORE DELETE ON action
BEGIN SELECT RAISE(ABORT, 'actions are kept'); END;

-- A payload may be forgotten, never exchanged.
CREATE TRIGGER payload_frozen BEFORE UPDATE ON payload
WHEN (NEW.raw IS NOT NULL AND NEW.raw IS NOT OLD.raw) OR (NEW.requested IS NOT NULL AND NEW.requested IS NOT OLD.requested)
  OR (NEW.args IS NOT NULL AND NEW.args IS NOT OLD.args) OR (NEW.preview IS NOT NULL AND NEW.preview IS NOT OLD.preview)
  OR NEW.action_seq <> OLD.action_seq
BEGIN SELECT RAISE(ABORT, 'a payload never changes'); END;

CREATE TRIGGER approval_frozen BEFORE UPDATE ON approval
BEGIN SELECT RAISE(ABORT, 'terms never change'); END;
CREATE TRIGGER approval_kept BEFORE DELETE ON approval
BEGIN SELECT RAISE(ABORT, 'terms are kept'); END;

CREATE TRIGGER vote_frozen BEFORE UPDATE ON vote
BEGIN SELECT RAISE(ABORT, 'votes never change'); END;
CREATE TRIGGER vote_kept BEFORE DELETE ON vote
BEGIN SELECT RAISE(ABORT, 'votes are kept'); END;
CREATE TRIGGER vote_open BEFORE INSERT ON vote
WHEN (SELECT state FROM action WHERE id = NEW.action_id) IS NOT 'pending_approval'
BEGIN SELECT RAISE(ABORT, 'the vote is over'); END;

CREATE TRIGGER consumption_frozen BEFORE UPDATE ON consumption
BEGIN SELECT RAISE(ABORT, 'a used approval stays used'); END;
CREATE TRIGGER consumption_kept BEFORE DELETE ON consumption
BEGIN SELECT RAISE(ABORT, 'a used approval stays used'); END;

CREATE TRIGGER attempt_kept BEFORE DELETE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempts are kept'); END;

CREATE TRIGGER policy_forward BEFORE UPDATE ON policy_epoch
WHEN NEW.epoch <= OLD.epoch
BEGIN SELECT RAISE(ABORT, 'an epoch never comes back'); END;

CREATE TRIGGER time_forward BEFORE UPDATE ON time_floor
WHEN NEW.at < OLD.at
BEGIN SELECT RAISE(ABORT, 'time never goes back'); END;

CREATE TRIGGER event_frozen BEFORE UPDATE ON event
WHEN NEW.seq <> OLD.seq OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.tenant <> OLD.tenant OR NEW.event <> OLD.event
  OR NEW.action_id <> OLD.action_id OR NEW.leaf <> OLD.leaf
  OR (NEW.salt IS NOT NULL AND NEW.salt IS NOT OLD.salt)
  OR (OLD.leaf_index IS NOT NULL AND NEW.leaf_index IS NOT OLD.leaf_index)
BEGIN SELECT RAISE(ABORT, 'records never change'); END;
CREATE TRIGGER event_kept BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'records are kept'); END;
CREATE TRIGGER event_dense BEFORE INSERT ON event
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM event)
BEGIN SELECT RAISE(ABORT, 'records are numbered without a gap'); END;

CREATE TRIGGER account_final BEFORE UPDATE OF active ON account
WHEN OLD.active = 0 AND NEW.active <> 0
BEGIN SELECT RAISE(ABORT, 'a disabled account stays disabled'); END;
CREATE TRIGGER account_kept BEFORE DELETE ON account
BEGIN SELECT RAISE(ABORT, 'accounts are kept'); END;
