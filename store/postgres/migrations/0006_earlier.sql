-- Who decides asks what has succeeded before with a tool on its targets. An
-- entry of an index must stay short, so it holds the beginning of the targets.

CREATE INDEX action_effects ON action (tenant, tool, left(targets, 200), ended_at) WHERE state IN ('succeeded', 'reconciled_succeeded');
