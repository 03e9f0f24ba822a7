-- What somebody has decided on is found by who they are.

CREATE INDEX vote_voter ON vote (voter, action_id);
