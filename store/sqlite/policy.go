package sqlite

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// SetPolicy notes the digest of the rules that apply to a tool and returns
// the policy version. The epoch moves only when the digest does, and always
// forward: rules that come back get a new epoch.
func (s *Store) SetPolicy(ctx context.Context, tenant, tool string, digest canon.Digest) (string, error) {
	if tenant == "" || digest.IsZero() {
		return "", invalid("policy without tenant or digest")
	}
	version, same := "", false
	err := s.read(ctx, func(c *conn) error {
		now, epoch, err := policyOf(c, tenant, tool)
		same = err == nil && epoch > 0 && now == digest
		version = versionText(digest, epoch)
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
		version = versionText(digest, epoch)
		return nil
	})
	if err != nil {
		return "", err
	}
	return version, nil
}

func (t *tx) setPolicy(tenant, tool string, digest canon.Digest, epoch int64) error {
	if _, err := t.exec(`INSERT INTO policy_epoch (tenant, tool, digest, epoch, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (tenant, tool) DO UPDATE SET digest = excluded.digest, epoch = excluded.epoch, at = excluded.at`,
		tenant, tool, digest, epoch, t.now); err != nil {
		return fmt.Errorf("set policy: %w", err)
	}
	return t.record(audit.Record{Event: audit.PolicyChanged, Tenant: tenant, Tool: tool},
		facts{"digest": digest.String(), "epoch": strconv.FormatInt(epoch, 10)}, nil)
}

func policyOf(c *conn, tenant, tool string) (digest canon.Digest, epoch int64, err error) {
	_, err = c.one(func(cur *cursor) error {
		digest, epoch = cur.digest(), cur.int()
		return nil
	}, "SELECT digest, epoch FROM policy_epoch WHERE tenant = ? AND tool = ?", tenant, tool)
	return digest, epoch, err
}

// policyVersion is the version that decisions on a tool must carry now; ""
// where no policy was ever set.
func (t *tx) policyVersion(tenant, tool string) (string, error) {
	digest, epoch, err := policyOf(t.conn, tenant, tool)
	if err != nil || epoch == 0 {
		return "", err
	}
	return versionText(digest, epoch), nil
}

// versionText is the first 16 hex digits of the digest, a point, the epoch.
func versionText(digest canon.Digest, epoch int64) string {
	return digest.String()[:16] + "." + strconv.FormatInt(epoch, 10)
}
