-- The windows of one limit are listed by their end, however many are over.

CREATE INDEX budget_listed ON budget (tenant, name, ends);
