-- What is in flight is looked for by its fingerprint before every start. An
-- index that begins with the tenant ties with every other that does, as long
-- as nothing is known of how many rows there are; this one has no rival.

CREATE INDEX action_flight ON action (fingerprint, principal)
  WHERE state IN ('pending_approval', 'approved', 'claimed', 'executing', 'uncertain');
DROP INDEX action_fingerprint;
