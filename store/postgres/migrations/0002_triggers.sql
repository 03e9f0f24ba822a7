-- The second line behind the program and behind what its role may do: what
-- must never happen is refused by the database too.

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation'; END $$;

CREATE FUNCTION action_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state NOT IN ('denied', 'pending_approval', 'executing') THEN
    RAISE EXCEPTION 'an action cannot start in this state' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER action_start BEFORE INSERT ON action FOR EACH ROW EXECUTE FUNCTION action_start();

CREATE FUNCTION action_edge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state || '>' || NEW.state NOT IN (
    'pending_approval>pending_approval', 'pending_approval>approved', 'pending_approval>denied',
    'pending_approval>expired', 'pending_approval>revoked',
    'approved>claimed', 'approved>executing', 'approved>denied', 'approved>expired', 'approved>revoked',
    'claimed>claimed', 'claimed>executing', 'claimed>denied', 'claimed>expired', 'claimed>revoked',
    'executing>succeeded', 'executing>failed', 'executing>uncertain',
    'uncertain>reconciled_succeeded', 'uncertain>reconciled_failed', 'uncertain>executing') THEN
    RAISE EXCEPTION 'the state table has no such edge' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER action_edge BEFORE UPDATE OF state ON action FOR EACH ROW EXECUTE FUNCTION action_edge();

CREATE TRIGGER action_fence BEFORE UPDATE OF fence ON action FOR EACH ROW WHEN (NEW.fence < OLD.fence)
  EXECUTE FUNCTION refuse('a fence never falls');

CREATE TRIGGER action_frozen BEFORE UPDATE OF id, seq, kind, tenant, principal, agent, owner, task, grant_id, grant_digest,
  tool, definition, mutation, high_impact, created_at, fingerprint, hash, targets, evidence, changes, key, supersedes,
  model, call_id ON action FOR EACH ROW EXECUTE FUNCTION refuse('what was decided on never changes');

-- A payload may be forgotten, never exchanged.
CREATE TRIGGER payload_frozen BEFORE UPDATE ON payload FOR EACH ROW
WHEN ((NEW.raw IS NOT NULL AND NEW.raw IS DISTINCT FROM OLD.raw)
  OR (NEW.requested IS NOT NULL AND NEW.requested IS DISTINCT FROM OLD.requested)
  OR (NEW.args IS NOT NULL AND NEW.args IS DISTINCT FROM OLD.args)
  OR (NEW.preview IS NOT NULL AND NEW.preview IS DISTINCT FROM OLD.preview)
  OR NEW.action_seq <> OLD.action_seq)
  EXECUTE FUNCTION refuse('a payload never changes');

CREATE TRIGGER approval_frozen BEFORE UPDATE ON approval FOR EACH ROW EXECUTE FUNCTION refuse('terms never change');
CREATE TRIGGER vote_frozen BEFORE UPDATE ON vote FOR EACH ROW EXECUTE FUNCTION refuse('votes never change');

CREATE FUNCTION vote_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT state FROM action WHERE tenant = NEW.tenant AND id = NEW.action_id) IS DISTINCT FROM 'pending_approval' THEN
    RAISE EXCEPTION 'the vote is over' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER vote_open BEFORE INSERT ON vote FOR EACH ROW EXECUTE FUNCTION vote_open();

CREATE TRIGGER consumption_frozen BEFORE UPDATE ON consumption FOR EACH ROW
  EXECUTE FUNCTION refuse('a used approval stays used');

CREATE TRIGGER policy_forward BEFORE UPDATE ON policy_epoch FOR EACH ROW WHEN (NEW.epoch <= OLD.epoch)
  EXECUTE FUNCTION refuse('an epoch never comes back');

CREATE TRIGGER time_forward BEFORE UPDATE ON time_floor FOR EACH ROW WHEN (NEW.at < OLD.at)
  EXECUTE FUNCTION refuse('time never goes back');

CREATE TRIGGER event_frozen BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION refuse('records never change');
CREATE TRIGGER salt_frozen BEFORE UPDATE ON salt FOR EACH ROW EXECUTE FUNCTION refuse('salts never change');
CREATE TRIGGER leaf_frozen BEFORE UPDATE ON leaf FOR EACH ROW EXECUTE FUNCTION refuse('records never change');

CREATE FUNCTION leaf_dense() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM leaf) THEN
    RAISE EXCEPTION 'records are numbered without a gap' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER leaf_dense BEFORE INSERT ON leaf FOR EACH ROW EXECUTE FUNCTION leaf_dense();

CREATE TRIGGER account_final BEFORE UPDATE OF active ON account FOR EACH ROW WHEN (NEW.active AND NOT OLD.active)
  EXECUTE FUNCTION refuse('a disabled account stays disabled');

CREATE TRIGGER credential_frozen BEFORE UPDATE OF id, account_id, public_key, created_at, rp_id, statement ON credential
  FOR EACH ROW EXECUTE FUNCTION refuse('a passkey never changes');
CREATE TRIGGER credential_final BEFORE UPDATE OF revoked_at ON credential FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
  EXECUTE FUNCTION refuse('a removed passkey stays removed');

CREATE TRIGGER action_kept BEFORE DELETE ON action FOR EACH ROW EXECUTE FUNCTION refuse('actions are kept');
CREATE TRIGGER action_whole BEFORE TRUNCATE ON action FOR EACH STATEMENT EXECUTE FUNCTION refuse('actions are kept');
CREATE TRIGGER approval_kept BEFORE DELETE ON approval FOR EACH ROW EXECUTE FUNCTION refuse('terms are kept');
CREATE TRIGGER approval_whole BEFORE TRUNCATE ON approval FOR EACH STATEMENT EXECUTE FUNCTION refuse('terms are kept');
CREATE TRIGGER vote_kept BEFORE DELETE ON vote FOR EACH ROW EXECUTE FUNCTION refuse('votes are kept');
CREATE TRIGGER vote_whole BEFORE TRUNCATE ON vote FOR EACH STATEMENT EXECUTE FUNCTION refuse('votes are kept');
CREATE TRIGGER consumption_kept BEFORE DELETE ON consumption FOR EACH ROW EXECUTE FUNCTION refuse('a used approval stays used');
CREATE TRIGGER consumption_whole BEFORE TRUNCATE ON consumption FOR EACH STATEMENT EXECUTE FUNCTION refuse('a used approval stays used');
CREATE TRIGGER attempt_kept BEFORE DELETE ON attempt FOR EACH ROW EXECUTE FUNCTION refuse('attempts are kept');
CREATE TRIGGER attempt_whole BEFORE TRUNCATE ON attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse('attempts are kept');
CREATE TRIGGER event_kept BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse('records are kept');
CREATE TRIGGER event_whole BEFORE TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION refuse('records are kept');
CREATE TRIGGER leaf_kept BEFORE DELETE ON leaf FOR EACH ROW EXECUTE FUNCTION refuse('records are kept');
CREATE TRIGGER leaf_whole BEFORE TRUNCATE ON leaf FOR EACH STATEMENT EXECUTE FUNCTION refuse('records are kept');
CREATE TRIGGER account_kept BEFORE DELETE ON account FOR EACH ROW EXECUTE FUNCTION refuse('accounts are kept');
CREATE TRIGGER account_whole BEFORE TRUNCATE ON account FOR EACH STATEMENT EXECUTE FUNCTION refuse('accounts are kept');
CREATE TRIGGER credential_kept BEFORE DELETE ON credential FOR EACH ROW EXECUTE FUNCTION refuse('passkeys are kept');
CREATE TRIGGER credential_whole BEFORE TRUNCATE ON credential FOR EACH STATEMENT EXECUTE FUNCTION refuse('passkeys are kept');
