-- An index that knows the state of a row is written again with each of its
-- moves. Rows with one fingerprint are few.

DROP INDEX action_fingerprint;
CREATE INDEX action_fingerprint ON action (tenant, principal, fingerprint);
