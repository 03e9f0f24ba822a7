package sqlite_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestVoteWhoseLoginWasTakenAwayStartsNothing changes a vote behind the back of
// its trigger: what was fresh when it was cast must still be said at the commit
// point.
func TestVoteWhoseLoginWasTakenAwayStartsNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"":            "",
		"no login":    "UPDATE vote SET login_at = NULL",
		"older login": "UPDATE vote SET login_at = login_at - 301000000000",
		"other time":  "UPDATE vote SET at = at + 301000000000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := newStore(t)
			admin(t, s)
			row := claim(t, s, vote(t, s, pending(t, s, "act_1")))
			db := raw(t, path)
			sql(t, db, "DROP TRIGGER vote_frozen; DROP TRIGGER approval_frozen; UPDATE approval SET step_up = 1; "+change)
			if _, err := s.Begin(t.Context(), action.Start{Action: row, Lease: time.Minute}); errors.Is(err, action.ErrIneligible) != (change != "") {
				t.Errorf("beginning: %v", err)
			}
		})
	}
}
