package approval

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
)

// Standing is where the votes on one action stand.
type Standing string

// The standings. The zero Standing is not enough.
const (
	Waiting Standing = "waiting"
	Enough  Standing = "enough"
	Refused Standing = "refused"
)

// GroupOwner is the group of the human who owns the agent session. Only a
// policy that names it lets that person vote on their own agent's action.
const GroupOwner = "owner"

// Proposer is on whose behalf an action was proposed.
type Proposer struct {
	Tenant    string
	Principal string
	Owner     string // human who owns the agent session
}

// ProposerOf returns the proposer of an action.
func ProposerOf(a action.Action) Proposer {
	return Proposer{Tenant: a.Tenant, Principal: a.Principal, Owner: a.Owner}
}

// Eligible reports, as an error wrapping [action.ErrIneligible], why a person
// may not vote: inactive, of another tenant, in none of the groups asked for,
// or the proposer or owner where policy does not name the group owner.
func Eligible(t action.Terms, p Proposer, who action.Person) error {
	switch {
	case !who.Active:
		return fmt.Errorf("%w: the account is not active", action.ErrIneligible)
	case who.Tenant != p.Tenant:
		return fmt.Errorf("%w: the account belongs to another tenant", action.ErrIneligible)
	}
	own := isProposer(p, who)
	for _, r := range t.Requirements {
		for _, g := range r.AnyOf {
			if inGroup(g.Name, own, who) || len(standins(g.Name, p, who)) > 0 {
				return nil
			}
		}
	}
	if own {
		return fmt.Errorf("%w: nobody decides on the action of their own agent", action.ErrIneligible)
	}
	return fmt.Errorf("%w: the account is in none of the groups asked for", action.ErrIneligible)
}

// Kinship says what ties a voter to the person whose agent asks: "owner" where
// it is that person, "invited" where the account was made by their invitation,
// or by that of somebody they invited, and so on: it may be a second account
// of theirs. inviters are those, nearest first. "" is no tie that is known.
func Kinship(p Proposer, who action.Person, inviters []action.Person) string {
	if isProposer(p, who) {
		return "owner"
	}
	for _, i := range inviters {
		if isProposer(p, i) {
			return "invited"
		}
	}
	return ""
}

func isProposer(p Proposer, who action.Person) bool {
	return who.Is(p.Principal) || who.Is(p.Owner)
}

// inGroup: the owner counts for the group owner only, and only the owner does.
func inGroup(name string, own bool, who action.Person) bool {
	if name == GroupOwner || own {
		return name == GroupOwner && own
	}
	for _, g := range who.Groups {
		if g == name {
			return true
		}
	}
	return false
}

// Tally counts the votes of eligible, distinct people. One rejection by an
// eligible person refuses; no requirement at all is never enough.
func Tally(t action.Terms, p Proposer, votes []action.Vote, people map[string]action.Person) Standing {
	yes := map[string]action.Person{}
	for _, v := range votes {
		who, known := people[v.Voter]
		if !known || v.Digest != t.Digest || Eligible(t, p, who) != nil {
			continue
		}
		if !v.Approve {
			return Refused
		}
		yes[v.Voter] = who
	}
	if len(t.Requirements) == 0 {
		return Waiting
	}
	for _, r := range t.Requirements {
		if !satisfied(r, p, yes) {
			return Waiting
		}
	}
	return Enough
}

func satisfied(r action.Requirement, p Proposer, yes map[string]action.Person) bool {
	for _, g := range r.AnyOf {
		if g.Votes > 0 && heads(g.Name, p, yes) >= g.Votes {
			return true
		}
	}
	return false
}
