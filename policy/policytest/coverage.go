package policytest

import "slices"

// Coverage says which rules of a policy decided a case of a suite. A rule
// that is satisfied and beaten by a stronger one has not decided.
type Coverage struct {
	Fired  []Fired  `json:"fired"`  // in the order of the policy
	Silent []string `json:"silent"` // rules that decided no case
}

// Fired is one rule with how many cases it decided, alone or with others.
type Fired struct {
	Rule  string `json:"rule"`
	Cases int    `json:"cases"`
}

// Cover counts the rules of a policy, by id, in the decisions of its cases.
// A case that fails counts too: its rule has decided, if wrongly.
func Cover(rules []string, results []Result) Coverage {
	cases := map[string]int{}
	for _, r := range results {
		for _, id := range slices.Compact(sorted(r.Decision.Rules)) {
			cases[id]++
		}
	}
	c := Coverage{Fired: []Fired{}, Silent: []string{}}
	for _, id := range rules {
		if n := cases[id]; n > 0 {
			c.Fired = append(c.Fired, Fired{id, n})
		} else {
			c.Silent = append(c.Silent, id)
		}
	}
	return c
}

// Percent is the share of the rules that decided a case, rounded down; 100
// where there are no rules.
func (c Coverage) Percent() int {
	all := len(c.Fired) + len(c.Silent)
	if all == 0 {
		return 100
	}
	return len(c.Fired) * 100 / all
}
