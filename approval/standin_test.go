package approval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
)

func human(id string, groups ...string) action.Person {
	return action.Person{ID: id, Tenant: "acme", Groups: groups, Active: true}
}

// forThem has a person stand in for others.
func forThem(who action.Person, others ...action.Person) action.Person {
	who.For = others
	return who
}

func TestStandingInNeverMakesMoreVotesThanThereArePeople(t *testing.T) {
	t.Parallel()
	terms := func(gs ...action.Group) action.Terms {
		return action.Terms{Requirements: []action.Requirement{{AnyOf: gs}}, Digest: canon.Sum([]byte("d"))}
	}
	one, two, three := action.Group{Name: "finance", Votes: 1}, action.Group{Name: "finance", Votes: 2}, action.Group{Name: "finance", Votes: 3}
	ann, bob, fay := human("ann", "finance"), human("bob", "finance"), human("fay", "finance")
	pat := human("pat", "finance")   // whose agent it is
	ann2 := human("ann2", "finance") // a second account of hers
	annAs := ann
	annAs.Principal, ann2.Principal = "user:ann", "user:ann"
	danAs := human("dan") // a third, in no group
	danAs.Principal = "user:ann"
	gone := ann
	gone.Active = false
	rival := ann
	rival.Tenant = "rival"
	for _, c := range []struct {
		name   string
		terms  action.Terms
		voters []action.Person
		want   approval.Standing
	}{
		{"nobody of the group", terms(one), []action.Person{human("dan")}, approval.Waiting},
		{"for one who is away", terms(one), []action.Person{forThem(human("dan"), ann)}, approval.Enough},
		{"one person for two is one vote", terms(two), []action.Person{forThem(human("dan"), ann, bob)}, approval.Waiting},
		{"a member for another is one vote", terms(two), []action.Person{forThem(bob, ann)}, approval.Waiting},
		{"who is away votes too: one membership", terms(two), []action.Person{ann, forThem(human("dan"), ann)}, approval.Waiting},
		{"two for the same one: one membership", terms(two), []action.Person{forThem(human("dan"), ann), forThem(human("eve"), ann)}, approval.Waiting},
		{"two for two", terms(two), []action.Person{forThem(human("dan"), ann), forThem(human("eve"), bob)}, approval.Enough},
		{"two for two, whichever way round", terms(two), []action.Person{forThem(human("dan"), ann, bob), forThem(human("eve"), ann)}, approval.Enough},
		{"two for three are two", terms(three), []action.Person{forThem(human("dan"), ann, bob), forThem(human("eve"), ann, fay)}, approval.Waiting},
		{"three need three", terms(three), []action.Person{forThem(human("dan"), ann, bob), forThem(human("eve"), ann, bob), forThem(human("kim"), ann, bob)}, approval.Waiting},
		{"three for three", terms(three), []action.Person{forThem(human("dan"), ann), forThem(human("eve"), ann, bob), forThem(human("kim"), bob, fay)}, approval.Enough},
		{"for the proposer", terms(one), []action.Person{forThem(human("dan"), pat)}, approval.Waiting},
		{"by the proposer for another", terms(one), []action.Person{forThem(pat, ann)}, approval.Waiting},
		{"for the owner, where policy names the owner", terms(action.Group{Name: "owner", Votes: 1}), []action.Person{forThem(human("dan"), pat)}, approval.Waiting},
		{"for one who was shut out", terms(one), []action.Person{forThem(human("dan"), gone)}, approval.Waiting},
		{"for one of another tenant", terms(one), []action.Person{forThem(human("dan"), rival)}, approval.Waiting},
		{"for two accounts of one person: one membership", terms(two), []action.Person{forThem(human("dan"), annAs), forThem(human("eve"), ann2)}, approval.Waiting},
		{"for a second account of one who votes: one membership", terms(two), []action.Person{ann2, forThem(human("dan"), annAs)}, approval.Waiting},
		{"for two accounts of one person and for another", terms(two), []action.Person{forThem(human("dan"), annAs, ann2), forThem(human("eve"), ann2, bob)}, approval.Enough},
		{"for an account of oneself, in the group, beside another", terms(two), []action.Person{forThem(danAs, annAs), bob}, approval.Enough},
		{"for oneself", terms(two), []action.Person{forThem(ann, ann)}, approval.Waiting},
	} {
		people, votes := map[string]action.Person{}, []action.Vote(nil)
		for _, p := range c.voters {
			people[p.ID] = p
			votes = append(votes, action.Vote{Voter: p.ID, Approve: true, Digest: c.terms.Digest})
		}
		proposer := approval.Proposer{Tenant: "acme", Principal: "agent", Owner: "pat"}
		if got := approval.Tally(c.terms, proposer, votes, people); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

func TestWhoStandsInSaysForWhom(t *testing.T) {
	t.Parallel()
	terms := action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 1}, {Name: "admin", Votes: 1}}}}}
	p := approval.Proposer{Tenant: "acme", Owner: "pat"}
	dan := forThem(human("dan"), human("bob", "admin"), human("ann", "finance", "admin"), human("kay", "kitchen"))
	if got := approval.StandsFor(terms, p, dan); strings.Join(got, " ") != "ann bob" {
		t.Errorf("stands for %v", got)
	}
	dan.Groups = []string{"admin"}
	if got := approval.StandsFor(terms, p, dan); got != nil {
		t.Errorf("who is in the group votes as themselves: %v", got)
	}
	if err := approval.Eligible(terms, p, forThem(human("dan"), human("kay", "kitchen"))); !errors.Is(err, action.ErrIneligible) {
		t.Errorf("for somebody of no such group: %v", err)
	}
}
