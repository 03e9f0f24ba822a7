package resolve

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// RoleValue is the role of a resolver's only source or only result.
const RoleValue = "value"

// Roles are the roles that a resolver reads and answers.
type Roles struct {
	In   []string
	Out  []string
	Need []string // results that every rule must place somewhere
	Some []string // sources of which every rule must bind at least one
}

// RoleLister is a resolver that tells its roles, so that a rule which binds
// another one is refused when the catalog loads.
type RoleLister interface{ Roles() Roles }

// checkRoles refuses roles that the resolver does not have. A result that is
// left out would be a decision on half of an answer.
func (r Rule) checkRoles() error {
	lister, ok := r.Resolver.(RoleLister)
	if !ok {
		return nil
	}
	roles := lister.Roles()
	for _, role := range sortedKeys(r.From) {
		if !slices.Contains(roles.In, role) {
			return fmt.Errorf("resolver %q has no source role %q, only %q", r.Name, role, roles.In)
		}
	}
	for _, role := range sortedKeys(r.Into) {
		if !slices.Contains(roles.Out, role) {
			return fmt.Errorf("resolver %q has no result role %q, only %q", r.Name, role, roles.Out)
		}
	}
	for _, role := range roles.Need {
		if _, ok := r.Into[role]; !ok {
			return fmt.Errorf("resolver %q needs a place for its result %q", r.Name, role)
		}
	}
	if len(roles.Some) > 0 && !slices.ContainsFunc(roles.Some, func(role string) bool { return r.From[role] != "" }) {
		return fmt.Errorf("resolver %q needs a source in one of the roles %q", r.Name, roles.Some)
	}
	return nil
}

// Func is a resolver in Go. It must be pure enough to be asked twice: the
// answer to the same sources must change only when the world does.
type Func func(ctx context.Context, in map[string]canon.Value) (Answer, error)

// Resolve calls f.
func (f Func) Resolve(ctx context.Context, in map[string]canon.Value) (Answer, error) {
	return f(ctx, in)
}
