package postgres

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
		// Every start that read the rules before has ended when this goes on.
		if _, err := t.exec("LOCK TABLE policy_epoch IN EXCLUSIVE MODE"); err != nil {
			return err
		}
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
	if _, err := t.exec(`INSERT INTO policy_epoch (tenant, tool, digest, epoch, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, tool) DO UPDATE SET digest = excluded.digest, epoch = excluded.epoch, at = excluded.at`,
		tenant, tool, digest, epoch, t.now()); err != nil {
		return fmt.Errorf("set policy: %w", err)
	}
	r, f := verbs.PolicyRecord(tenant, tool, digest, epoch)
	return t.record(r, f, nil)
}

func policyOf(c *conn, tenant, tool string) (digest canon.Digest, epoch int64, err error) {
	_, err = c.one(func(cur *cursor) error {
		digest, epoch = cur.digest(), cur.int()
		return nil
	}, "SELECT digest, epoch FROM policy_epoch WHERE tenant = $1 AND tool = $2", tenant, tool)
	return digest, epoch, err
}
