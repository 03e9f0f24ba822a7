package tables

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Policies keeps which rules are in force, for a store that embeds it.
type Policies struct{ db DB }

// NewPolicies are the rules of a store.
func NewPolicies(db DB) Policies { return Policies{db} }

const policyTable = "policy_epoch"

// SetPolicy notes the digest of the rules that apply to a tool and returns
// the policy version. The epoch moves only when the digest does, and always
// forward: rules that come back get a new epoch.
func (p Policies) SetPolicy(ctx context.Context, tenant, tool string, digest canon.Digest) (string, error) {
	if tenant == "" || digest.IsZero() {
		return "", verbs.Invalid("policy without tenant or digest")
	}
	version, same := "", false
	err := p.db.Read(ctx, func(c Reader) error {
		now, epoch, err := PolicyOf(c, tenant, tool)
		same = err == nil && epoch > 0 && now == digest
		version = verbs.Version(digest, epoch)
		return err
	})
	if err != nil || same {
		return version, err
	}
	err = p.db.Write(ctx, synced, func(t Tx) error {
		if err := t.Alone(policyTable); err != nil { // every start that read the rules before has ended then
			return err
		}
		now, epoch, err := PolicyOf(t, tenant, tool)
		if err != nil {
			return err
		}
		if now != digest {
			epoch++
			if err := setPolicy(t, tenant, tool, digest, epoch); err != nil {
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

func setPolicy(t Tx, tenant, tool string, digest canon.Digest, epoch int64) error {
	if _, err := t.Exec(`INSERT INTO policy_epoch (tenant, tool, digest, epoch, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, tool) DO UPDATE SET digest = excluded.digest, epoch = excluded.epoch, at = excluded.at`,
		tenant, tool, digest, epoch, t.Now()); err != nil {
		return fmt.Errorf("set policy: %w", err)
	}
	r, f := verbs.PolicyRecord(tenant, tool, digest, epoch)
	return t.Record(r, f, nil)
}

// PolicyOf is the digest of the rules for a tool, and their epoch; 0 where
// none were ever set.
func PolicyOf(c Reader, tenant, tool string) (digest canon.Digest, epoch int64, err error) {
	err = c.Query(func(cur Row) error {
		digest, epoch = cur.Digest(), cur.Int()
		return nil
	}, "SELECT digest, epoch FROM policy_epoch WHERE tenant = $1 AND tool = $2", tenant, tool)
	return digest, epoch, err
}
