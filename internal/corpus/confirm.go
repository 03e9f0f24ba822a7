package corpus

import (
	"context"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
)

// The grants that a host gives for one action. The digest is the proposal hash
// of that action.
const (
	// Yes: the host has shown the action and the customer has said yes to it.
	Yes = "customer-yes"
	// Named: what the action is about stands word for word in what the user
	// has written.
	Named = "user-named"
)

// confirmed shows the inner engine a grant only for the very action that it
// was given for. A yes to anything else is no yes.
type confirmed struct{ inner policy.Engine }

// Confirmed wraps an engine whose rules know the grants [Yes] and [Named].
func Confirmed(inner policy.Engine) policy.Engine { return &confirmed{inner} }

// Decide asks the inner engine, without the grant where it is for another
// action.
func (e *confirmed) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	g := in.Session.Grant
	if (g.ID == Yes || g.ID == Named) && g.Digest != canon.Digest(in.Proposal.Hash) {
		in.Session.Grant = identity.Grant{}
	}
	d, err := e.inner.Decide(ctx, in)
	d.PolicyVersion = e.Version(in.Tool.Name)
	return d, err
}

// Version changes with the inner rules and with this one.
func (e *confirmed) Version(tool string) string {
	return canon.Sum([]byte("confirmed-1\n" + e.inner.Version(tool))).String()
}
