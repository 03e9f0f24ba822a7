package sqlite

import (
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// tool names a tool of a tenant.
type tool struct{ tenant, name string }

// maxPolicies is how many policy versions are remembered at most.
const maxPolicies = 4096

// policyVersion is the version that decisions on a tool must carry now; ""
// where no policy was ever set. It is remembered until a verb sets one: from
// there to the end of its batch only the database can say.
func (t *tx) policyVersion(tenant, name string) (string, error) {
	s, of := t.store, tool{tenant, name}
	if version, known := s.policies[of]; known {
		return version, nil
	}
	digest, epoch, err := tables.PolicyOf(t, tenant, name)
	version := verbs.Version(digest, epoch)
	if err == nil && s.policies != nil && len(s.policies) < maxPolicies {
		s.policies[of] = version
	}
	return version, err
}
