-- Which server an attempt went to: after a restart nobody else is asked about
-- it or sent it again. NULL where the host's own code ran.

ALTER TABLE attempt ADD COLUMN server BLOB CHECK (length(server) = 32);

CREATE TRIGGER attempt_sent BEFORE UPDATE OF action_seq, attempt, fence, provider_key, started_at, server ON attempt
BEGIN SELECT RAISE(ABORT, 'what was sent, and where, never changes'); END;
