package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/keys"
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

// Passkeys is what a transaction knows of passkeys.
type Passkeys struct {
	Had     func(account string, at time.Time) (bool, error) // whether an account had one at a time
	Removed func(id []byte) (bool, error)                    // whether one was removed; it stays as it is to the end
}

// Worthless reports whether a vote counts for nothing: it was made by password
// though its voter had a passkey by then, or by a passkey that was removed
// since. Whether it was signed at all is not asked here.
func Worthless(v action.Vote, of Passkeys) (bool, error) {
	if v.Method != action.MethodPasskey {
		return of.Had(v.Voter, v.At)
	}
	envelope, err := keys.ParseEnvelope(v.Envelope)
	if err != nil {
		return false, nil
	}
	key, err := keys.ClaimedPasskey(envelope)
	if err != nil {
		return false, nil
	}
	return of.Removed(key.CredentialID())
}

// Tally counts stored votes with the accounts as they are now.
func Tally(row action.Action, votes []action.Vote, person func(id string) (action.Person, error), passkeys Passkeys) (approval.Standing, error) {
	if row.Terms == nil {
		return approval.Waiting, nil
	}
	people := make(map[string]action.Person, len(votes))
	var counted []action.Vote
	for _, v := range votes {
		void, err := Worthless(v, passkeys)
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
