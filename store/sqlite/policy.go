package sqlite

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// SetPolicy notes the digest of the rules that apply to a tool and returns
// the policy version. The epoch moves only when the digest does, and always
// forward: rules that come back get a new epoch.
func (s *Store) SetPolicy(ctx context.Context, tenant, tool string, digest canon.Digest) (string, error) {
	if tenant == "" || digest.IsZero() {
		return "", verbs.Invalid("policy without tenant or digest")
	}
	version, same := "", false
	err := s.read(ctx, func(c *conn) error {
		now, epoch, err := policyOf(c, tenant, tool)
		same = err == nil && epoch > 0 && now == digest
		version = verbs.Version(digest, epoch)
		return err
	})
	if err != nil || same {
		return version, err
	}
	err = s.write(ctx, syncFull, func(t *tx) error {
		now, epoch, err := policyOf(t.conn, tenant, tool)
		if err != nil {
			return err
		}
		if now != digest {
			epoch++
			if err := t.setPolicy(tenant, tool, digest, epoch); err != nil {
				return err
			}
		}
		version = verbs.Version(digest, epoch)
		return nil
	})
	if err != nil {
		return "", err
	}
	return version, nil
}

func (t *tx) setPolicy(tenant, tool string, digest canon.Digest, epoch int64) error {
	t.store.policies = nil
	if _, err := t.exec(`INSERT INTO policy_epoch (tenant, tool, digest, epoch, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (tenant, tool) DO UPDATE SET digest = excluded.digest, epoch = excluded.epoch, at = excluded.at`,
		tenant, tool, digest, epoch, t.now); err != nil {
		return fmt.Errorf("set policy: %w", err)
	}
	r, f := verbs.PolicyRecord(tenant, tool, digest, epoch)
	return t.record(r, f, nil)
}

func policyOf(c *conn, tenant, tool string) (digest canon.Digest, epoch int64, err error) {
	_, err = c.one(func(cur *cursor) error {
		digest, epoch = cur.digest(), cur.int()
		return nil
	}, "SELECT digest, epoch FROM policy_epoch WHERE tenant = ? AND tool = ?", tenant, tool)
	return digest, epoch, err
}

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
	digest, epoch, err := policyOf(t.conn, tenant, name)
	version := verbs.Version(digest, epoch)
	if err == nil && s.policies != nil && len(s.policies) < maxPolicies {
		s.policies[of] = version
	}
	return version, err
}
