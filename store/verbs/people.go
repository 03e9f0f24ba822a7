package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
)

// MayAct says who may act: whoever acts on a row is active and of its tenant; to another
// tenant the row does not exist.
func MayAct(row action.Action, who action.Person) error {
	if who.Tenant != row.Tenant {
		return action.ErrNotFound
	}
	if !who.Active {
		return action.ErrIneligible
	}
	return nil
}

// mayRevoke: whoever may vote on a row, and operators.
func mayRevoke(row action.Action, who action.Person) error {
	if who.In(action.GroupOperator) {
		return nil
	}
	if row.Terms == nil {
		return action.ErrIneligible
	}
	return approval.Eligible(*row.Terms, approval.ProposerOf(row), who)
}

// ByOldWay reports whether a vote was made by password though its voter had
// a passkey by then: such a vote counts for nothing. passkey says whether an
// account had one at a time.
func ByOldWay(v action.Vote, passkey func(account string, at time.Time) (bool, error)) (bool, error) {
	if v.Method == action.MethodPasskey {
		return false, nil
	}
	return passkey(v.Voter, v.At)
}

// Tally counts stored votes with the accounts as they are now.
func Tally(row action.Action, votes []action.Vote, person func(id string) (action.Person, error),
	passkey func(account string, at time.Time) (bool, error)) (approval.Standing, error) {
	if row.Terms == nil {
		return approval.Waiting, nil
	}
	people := make(map[string]action.Person, len(votes))
	var counted []action.Vote
	for _, v := range votes {
		void, err := ByOldWay(v, passkey)
		if err != nil {
			return approval.Waiting, err
		}
		if void || v.Approve && !approval.SteppedUp(row, v, v.At) {
			continue
		}
		if people[v.Voter], err = person(v.Voter); err != nil {
			return approval.Waiting, err
		}
		counted = append(counted, v)
	}
	return approval.Tally(*row.Terms, approval.ProposerOf(row), counted, people), nil
}
