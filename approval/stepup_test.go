package approval_test

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
)

func TestStepUpTakesAPasskeyOrAFreshLogin(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	high, asked, plain := action.Action{HighImpact: true}, action.Action{Terms: &action.Terms{StepUp: true}}, action.Action{Terms: &action.Terms{}}
	for _, c := range []struct {
		name string
		vote action.Vote
		ok   bool
	}{
		{"a passkey", action.Vote{Method: action.MethodPasskey}, true},
		{"a password, now", action.Vote{Method: action.MethodPassword, LoginAt: now}, true},
		{"a login of five minutes ago", action.Vote{Method: action.MethodOIDC, LoginAt: now.Add(-5 * time.Minute)}, true},
		{"an older login", action.Vote{Method: action.MethodOIDC, LoginAt: now.Add(-5*time.Minute - time.Millisecond)}, false},
		{"another clock", action.Vote{Method: action.MethodOIDC, LoginAt: now.Add(time.Minute)}, true},
		{"a login to come", action.Vote{Method: action.MethodOIDC, LoginAt: now.Add(2 * time.Minute)}, false},
		{"nobody said when", action.Vote{Method: action.MethodPassword}, false},
		{"an unknown way", action.Vote{Method: "other"}, false},
	} {
		for kind, a := range map[string]action.Action{"high impact": high, "asked for": asked} {
			if got := approval.SteppedUp(a, c.vote, now); got != c.ok {
				t.Errorf("%s, %s: %v", kind, c.name, got)
			}
		}
		if !approval.SteppedUp(plain, c.vote, now) {
			t.Errorf("%s: nobody asked for a step-up", c.name)
		}
	}
}
