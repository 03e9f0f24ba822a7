-- Payloads are forgotten by age. For each class: up to which action all are
-- erased or held, and the first day that is kept. Class 0 is for records of
-- calls without a row. From here on rows are sealed by class and day.

CREATE TABLE retention (
  class SMALLINT PRIMARY KEY CHECK (class BETWEEN 0 AND 3),
  next  BIGINT NOT NULL,
  kept  BIGINT NOT NULL
);

INSERT INTO retention (class, next, kept) VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0);

-- Actions that were not over when their time was.
CREATE TABLE held (
  action_seq BIGINT PRIMARY KEY REFERENCES action (seq),
  class      SMALLINT NOT NULL CHECK (class BETWEEN 1 AND 3)
);
