-- Before an attempt is sent again, the store asks what began after it and
-- what was made to replace it.

CREATE INDEX attempt_started ON attempt (started_at);
CREATE INDEX action_supersedes ON action (supersedes) WHERE supersedes <> '';
