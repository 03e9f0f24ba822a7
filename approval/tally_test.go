package approval_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
)

func TestWhoMayVote(t *testing.T) {
	t.Parallel()
	admin := action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}}
	owner := action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: approval.GroupOwner, Votes: 1}}}}}
	either := action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}, {Name: approval.GroupOwner, Votes: 1}}}}}
	p := approval.Proposer{Tenant: "acme", Principal: "robot", Owner: "otto"}
	who := func(id, principal string, groups ...string) action.Person {
		return action.Person{ID: id, Tenant: "acme", Principal: principal, Groups: groups, Active: true}
	}
	foreign, gone := who("ada", "", "admin"), who("ada", "", "admin")
	foreign.Tenant, gone.Active = "other", false
	for _, tc := range []struct {
		name  string
		terms action.Terms
		who   action.Person
		ok    bool
	}{
		{"one of the group", admin, who("ada", "", "admin"), true},
		{"one of another group", admin, who("ada", "", "kitchen"), false},
		{"one of a group in other case", admin, who("ada", "", "Admin"), false},
		{"an account that is not active", admin, gone, false},
		{"an account of another tenant", admin, foreign, false},
		{"the proposer by account", admin, who("robot", "", "admin"), false},
		{"the proposer by principal", admin, who("x", "robot", "admin"), false},
		{"the owner by account", admin, who("otto", "", "admin"), false},
		{"the owner by principal", admin, who("x", "otto", "admin"), false},
		{"the owner where policy says so", owner, who("otto", ""), true},
		{"the proposer where policy says so", owner, who("x", "robot"), true},
		{"a member of a group called owner", owner, who("ada", "", approval.GroupOwner), false},
		{"the owner among others", either, who("otto", "", "admin"), true},
		{"nobody is asked", action.Terms{}, who("ada", "", "admin"), false},
	} {
		err := approval.Eligible(tc.terms, p, tc.who)
		if tc.ok != (err == nil) || !tc.ok && !errors.Is(err, action.ErrIneligible) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestOwnersVoteCountsForTheGroupOwnerOnly(t *testing.T) {
	t.Parallel()
	terms := action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}},
		{AnyOf: []action.Group{{Name: approval.GroupOwner, Votes: 1}}}}}
	p := approval.Proposer{Tenant: "acme", Principal: "robot", Owner: "otto"}
	people := map[string]action.Person{"otto": {ID: "otto", Tenant: "acme", Groups: []string{"admin"}, Active: true}}
	if s := approval.Tally(terms, p, []action.Vote{{Voter: "otto", Approve: true}}, people); s != approval.Waiting {
		t.Errorf("the owner alone is %s", s)
	}
	people["ada"] = action.Person{ID: "ada", Tenant: "acme", Groups: []string{"admin"}, Active: true}
	if s := approval.Tally(terms, p, []action.Vote{{Voter: "otto", Approve: true}, {Voter: "ada", Approve: true}}, people); s != approval.Enough {
		t.Errorf("the owner and an admin are %s", s)
	}
}

func TestVoteForSomethingElseCountsForNothing(t *testing.T) {
	t.Parallel()
	terms := action.Terms{Digest: canon.Sum([]byte("this")), Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}}
	people := map[string]action.Person{"ada": {ID: "ada", Tenant: "acme", Groups: []string{"admin"}, Active: true}}
	for name, c := range map[string]struct {
		vote action.Vote
		want approval.Standing
	}{
		"for this":              {action.Vote{Voter: "ada", Approve: true, Digest: terms.Digest}, approval.Enough},
		"for another digest":    {action.Vote{Voter: "ada", Approve: true, Digest: canon.Sum([]byte("other"))}, approval.Waiting},
		"for no digest":         {action.Vote{Voter: "ada", Approve: true}, approval.Waiting},
		"against":               {action.Vote{Voter: "ada", Digest: terms.Digest}, approval.Refused},
		"against another":       {action.Vote{Voter: "ada", Digest: canon.Sum([]byte("other"))}, approval.Waiting},
		"of nobody known":       {action.Vote{Voter: "bob", Approve: true, Digest: terms.Digest}, approval.Waiting},
		"against, of a nobody":  {action.Vote{Voter: "bob", Digest: terms.Digest}, approval.Waiting},
		"of nobody, for others": {action.Vote{Voter: "bob", Approve: true}, approval.Waiting},
	} {
		if got := approval.Tally(terms, approval.Proposer{Tenant: "acme"}, []action.Vote{c.vote}, people); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTallyAgreesWithCounting compares with a count that is written another
// way, on random votes: duplicates, strangers, rejections, other digests.
func TestTallyAgreesWithCounting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		people, votes := map[string]action.Person{}, []action.Vote(nil)
		digest := canon.Sum([]byte("this"))
		for i := range rapid.IntRange(0, 6).Draw(t, "people") {
			id := fmt.Sprintf("p%d", i)
			people[id] = action.Person{ID: id, Tenant: "acme", Active: rapid.IntRange(0, 3).Draw(t, "active") > 0,
				Groups: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID[string]).Draw(t, "groups")}
		}
		for range rapid.IntRange(0, 8).Draw(t, "votes") {
			d := digest
			if rapid.IntRange(0, 5).Draw(t, "digest") == 0 {
				d = canon.Sum([]byte("other"))
			}
			votes = append(votes, action.Vote{Voter: fmt.Sprintf("p%d", rapid.IntRange(0, 7).Draw(t, "voter")),
				Approve: rapid.IntRange(0, 9).Draw(t, "approve") > 0, Digest: d})
		}
		terms := action.Terms{Digest: digest}
		for range rapid.IntRange(0, 2).Draw(t, "requirements") {
			r := action.Requirement{}
			for range rapid.IntRange(1, 2).Draw(t, "groups") {
				r.AnyOf = append(r.AnyOf, action.Group{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"), Votes: rapid.IntRange(0, 3).Draw(t, "need")})
			}
			terms.Requirements = append(terms.Requirements, r)
		}
		if got, want := approval.Tally(terms, approval.Proposer{Tenant: "acme"}, votes, people), counted(terms, votes, people); got != want {
			t.Fatalf("tally %s, counted %s", got, want)
		}
	})
}

func counted(terms action.Terms, votes []action.Vote, people map[string]action.Person) approval.Standing {
	asked := map[string]bool{}
	for _, r := range terms.Requirements {
		for _, g := range r.AnyOf {
			asked[g.Name] = true
		}
	}
	yes := map[string]map[string]bool{} // group to voters
	for _, v := range votes {
		who, counts := people[v.Voter], false
		for _, g := range who.Groups {
			counts = counts || asked[g]
		}
		if !who.Active || !counts || v.Digest != terms.Digest {
			continue
		}
		if !v.Approve {
			return approval.Refused
		}
		for _, g := range who.Groups {
			if yes[g] == nil {
				yes[g] = map[string]bool{}
			}
			yes[g][v.Voter] = true
		}
	}
	enough := len(terms.Requirements) > 0
	for _, r := range terms.Requirements {
		one := false
		for _, g := range r.AnyOf {
			one = one || g.Votes > 0 && len(yes[g.Name]) >= g.Votes
		}
		enough = enough && one
	}
	if enough {
		return approval.Enough
	}
	return approval.Waiting
}

func TestTwoAccountsOfOneHumanCountOnce(t *testing.T) {
	t.Parallel()
	terms := action.Terms{Digest: canon.Sum([]byte("d")), Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 2}}}}}
	p := approval.Proposer{Tenant: "acme", Principal: "user:pat"}
	person := func(id, principal string, groups ...string) action.Person {
		return action.Person{ID: id, Tenant: "acme", Principal: principal, Groups: groups, Active: true}
	}
	for name, c := range map[string]struct {
		people []action.Person
		want   approval.Standing
	}{
		"two people":                         {[]action.Person{person("a", "", "finance"), person("b", "", "finance")}, approval.Enough},
		"two people with principals":         {[]action.Person{person("a", "user:a", "finance"), person("b", "user:b", "finance")}, approval.Enough},
		"two accounts of one principal":      {[]action.Person{person("a", "user:a", "finance"), person("b", "user:a", "finance")}, approval.Waiting},
		"and somebody else":                  {[]action.Person{person("a", "user:a", "finance"), person("b", "user:a", "finance"), person("c", "", "finance")}, approval.Enough},
		"a second account as a stand-in":     {[]action.Person{person("a", "user:a", "finance"), standingFor(person("b", "user:a"), person("c", "", "finance"))}, approval.Waiting},
		"who stands in for somebody counts":  {[]action.Person{person("a", "user:a", "finance"), standingFor(person("b", ""), person("c", "", "finance"))}, approval.Enough},
		"a principal like the id of another": {[]action.Person{person("a", "b", "finance"), person("b", "", "finance")}, approval.Enough},
	} {
		people, votes := map[string]action.Person{}, []action.Vote{}
		for _, who := range c.people {
			people[who.ID] = who
			votes = append(votes, action.Vote{Voter: who.ID, Approve: true, Digest: terms.Digest})
		}
		if got := approval.Tally(terms, p, votes, people); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func standingFor(who, other action.Person) action.Person {
	who.For = []action.Person{other}
	return who
}

func TestATieToWhoseAgentItIsIsSaid(t *testing.T) {
	t.Parallel()
	p := approval.Proposer{Tenant: "acme", Principal: "user:pat", Owner: "acc_pat"}
	pat, ann, bob := action.Person{ID: "acc_pat"}, action.Person{ID: "acc_ann"}, action.Person{ID: "acc_bob", Principal: "user:pat"}
	for name, c := range map[string]struct {
		who      action.Person
		inviters []action.Person
		want     string
	}{
		"the owner":                         {pat, nil, "owner"},
		"another account of the principal":  {bob, []action.Person{ann}, "owner"},
		"invited by the owner":              {ann, []action.Person{pat}, "invited"},
		"invited by whom the owner invited": {ann, []action.Person{{ID: "acc_x"}, pat}, "invited"},
		"invited by somebody else":          {ann, []action.Person{{ID: "acc_x"}}, ""},
		"invited by nobody":                 {ann, nil, ""},
	} {
		if got := approval.Kinship(p, c.who, c.inviters); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
