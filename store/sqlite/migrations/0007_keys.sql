-- Keys that nobody can repeat any more are looked for by their age.

CREATE INDEX idempotency_age ON idempotency (created_at);
