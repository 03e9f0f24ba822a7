-- Who decides asks what has succeeded before with a tool on its targets.

CREATE INDEX action_effects ON action (tenant, tool, targets, ended_at) WHERE state IN ('succeeded', 'reconciled_succeeded');
