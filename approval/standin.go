package approval

import (
	"maps"
	"slices"

	"github.com/seed-de4804fb/verbatim/action"
)

// standins are the people through whose membership somebody counts for a
// group without being in it: those whom they stand in for, unless one of them
// proposed the action or owns the session. Nobody stands in for an owner: that
// person is excluded.
func standins(name string, p Proposer, who action.Person) []action.Person {
	var out []action.Person
	if name == GroupOwner || isProposer(p, who) {
		return nil
	}
	for _, d := range who.For {
		if d.Active && d.Tenant == p.Tenant && d.ID != who.ID && !isProposer(p, d) && slices.Contains(d.Groups, name) {
			out = append(out, d)
		}
	}
	return out
}

// StandsFor lists those whom a person's vote needs, because they themselves
// are in none of the groups asked for; nil where they are.
func StandsFor(t action.Terms, p Proposer, who action.Person) []string {
	for _, r := range t.Requirements {
		for _, g := range r.AnyOf {
			if inGroup(g.Name, isProposer(p, who), who) {
				return nil
			}
		}
	}
	var out []string
	for _, r := range t.Requirements {
		for _, g := range r.AnyOf {
			for _, d := range standins(g.Name, p, who) {
				out = append(out, d.ID)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// human is who an account belongs to, as far as anybody has said: the
// principal that it stands for, else itself.
func human(who action.Person) string {
	if who.Principal != "" {
		return "principal " + who.Principal
	}
	return "account " + who.ID
}

// heads counts the voters of a group so that no membership counts twice: who
// is in the group counts as themselves, everybody else as one of those whom
// they stand in for and as whom nobody else counts (a maximum matching).
// Accounts of one principal are one human, and count once, also where others
// stand in for them.
func heads(name string, p Proposer, yes map[string]action.Person) int {
	taken := map[string]string{} // human whose membership it is, to voter
	var others []string
	counted := map[string]bool{}
	ids := slices.Sorted(maps.Keys(yes))
	slices.SortStableFunc(ids, func(a, b string) int { // who is in the group comes first
		return rank(inGroup(name, isProposer(p, yes[a]), yes[a])) - rank(inGroup(name, isProposer(p, yes[b]), yes[b]))
	})
	for _, id := range ids {
		if counted[human(yes[id])] {
			continue
		}
		counted[human(yes[id])] = true
		if inGroup(name, isProposer(p, yes[id]), yes[id]) {
			taken[human(yes[id])] = id
		} else {
			others = append(others, id)
		}
	}
	fixed := maps.Clone(taken)
	var place func(voter string, tried map[string]bool) bool
	place = func(voter string, tried map[string]bool) bool {
		for _, of := range standins(name, p, yes[voter]) {
			d := human(of)
			if tried[d] || fixed[d] != "" {
				continue
			}
			tried[d] = true
			if taken[d] == "" || place(taken[d], tried) {
				taken[d] = voter
				return true
			}
		}
		return false
	}
	for _, voter := range others {
		place(voter, map[string]bool{})
	}
	return len(taken)
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
