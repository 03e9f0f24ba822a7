package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// everyElement in a pointer stands for each element of an array.
const everyElement = "*"

// Check verifies that a rule can be followed: it has a resolver, sources and
// results; its pointers are JSON Pointers to members; and pointers with "*"
// agree on the array whose elements they walk, so that each element is
// resolved by itself.
func (r Rule) Check() error {
	if r.Resolver == nil {
		return fmt.Errorf("resolver %q is missing", r.Name)
	}
	if len(r.From) == 0 || len(r.Into) == 0 {
		return fmt.Errorf("resolver %q needs from and into", r.Name)
	}
	if err := r.checkRoles(); err != nil {
		return err
	}
	stem, err := r.stem()
	if err != nil {
		return err
	}
	if stem != "" && !anyStarred(r.From) {
		return fmt.Errorf("resolver %q: no source lies below %s", r.Name, stem)
	}
	seen := map[string]bool{}
	for _, role := range sortedKeys(r.Into) {
		p := r.Into[role]
		if seen[p] {
			return fmt.Errorf("resolver %q: two results at %s", r.Name, p)
		}
		seen[p] = true
		switch {
		case stem != "" && !starred(p):
			return fmt.Errorf("resolver %q: result %s must lie below %s", r.Name, p, stem)
		case strings.HasSuffix(p, "/"+everyElement) && !r.inPlace(p):
			return fmt.Errorf("resolver %q: result %s must be its own source", r.Name, p)
		}
	}
	return nil
}

// CheckAll checks the rules of one tool, each and together: no rule may
// overwrite what another found, unless it works on that as its source.
func CheckAll(rules []Rule) error {
	owner := map[string]string{}
	for _, r := range rules {
		if err := r.Check(); err != nil {
			return err
		}
		for _, role := range sortedKeys(r.Into) {
			p := r.Into[role]
			if first, taken := owner[p]; taken && !contains(r.From, p) {
				return fmt.Errorf("resolvers %q and %q both set %s", first, r.Name, p)
			}
			owner[p] = r.Name
		}
	}
	return nil
}

// stem returns the common part, up to the last "*", of all pointers with one.
func (r Rule) stem() (string, error) {
	stem := ""
	for _, side := range []map[string]string{r.From, r.Into} {
		for _, role := range sortedKeys(side) {
			p := side[role]
			tokens, ok := canon.SplitPointer(p)
			if !ok || len(tokens) == 0 {
				return "", fmt.Errorf("resolver %q: %s is not a JSON Pointer to a member", r.Name, role)
			}
			here := stemOf(p)
			if here == "" {
				continue
			}
			if stem != "" && here != stem {
				return "", fmt.Errorf("resolver %q walks two arrays, %s and %s", r.Name, stem, here)
			}
			stem = here
		}
	}
	return stem, nil
}

func anyStarred(side map[string]string) bool {
	for _, p := range side {
		if starred(p) {
			return true
		}
	}
	return false
}

func starred(pointer string) bool { return stemOf(pointer) != "" }

// stemOf returns the pointer up to and including its last "*"; "" if none.
func stemOf(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i := len(parts) - 1; i > 0; i-- {
		if parts[i] == everyElement {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return ""
}

// inPlace reports whether the pointer is both a source and a result.
func (r Rule) inPlace(pointer string) bool {
	return contains(r.From, pointer) && contains(r.Into, pointer)
}

func contains(side map[string]string, pointer string) bool {
	for _, p := range side {
		if p == pointer {
			return true
		}
	}
	return false
}

// bind returns the rule once for each array element that it walks, in order;
// a rule without "*" once, as it is.
func (r Rule) bind(args canon.Value) ([]Rule, error) {
	stem, err := r.stem()
	if err != nil || stem == "" {
		return []Rule{r}, err
	}
	var bound []Rule
	for _, here := range elements(args, "", strings.Split(stem, "/")[1:]) {
		b := r
		b.From, b.Into = rebase(r.From, stem, here), rebase(r.Into, stem, here)
		bound = append(bound, b)
	}
	return bound, nil
}

// elements returns the pointers that a pattern of raw tokens matches.
func elements(v canon.Value, prefix string, pattern []string) []string {
	if len(pattern) == 0 {
		return []string{prefix}
	}
	if pattern[0] != everyElement {
		here := "/" + pattern[0]
		x, ok := v.Lookup(here)
		if !ok {
			return nil
		}
		return elements(x, prefix+here, pattern[1:])
	}
	if v.Kind() != canon.Array {
		return nil
	}
	var found []string
	for i := range v.Len() {
		found = append(found, elements(v.At(i), canon.JoinIndex(prefix, i), pattern[1:])...)
	}
	return found
}

func rebase(side map[string]string, stem, here string) map[string]string {
	out := make(map[string]string, len(side))
	for role, p := range side {
		if starred(p) {
			p = here + strings.TrimPrefix(p, stem)
		}
		out[role] = p
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
