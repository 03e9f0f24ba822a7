package verbatim

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Stored words what has become of an action so far, as a repeated call with
// its key would be answered. Nothing runs and nothing is decided. It fails with
// action.ErrNotFound, and with what the store fails with.
func (g *Gate) Stored(ctx context.Context, tenant, id string) (Outcome, error) {
	a, err := g.cfg.Store.Action(ctx, tenant, id)
	if err != nil {
		return Outcome{}, err
	}
	o := outcomeOf(a)
	o.Replayed = true
	return g.promise(ctx, Session{Tenant: tenant}, g.credited(ctx, tenant, o), nil), nil
}

// Receipts signs the promise of each record of an action, newest first: DSSE
// envelopes (docs/spec/log.md), at most 100. There are none where
// Config.Receipts is nil.
func (g *Gate) Receipts(ctx context.Context, tenant, id string) ([][]byte, error) {
	if g.cfg.Receipts == nil || id == "" {
		return nil, nil
	}
	found, err := g.cfg.Store.Records(ctx, audit.Filter{Tenant: tenant, Action: id})
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, r := range found {
		leaf, err := r.Leaf()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEvidence, err)
		}
		kept := audit.KeptSynced
		if r.Event == audit.ReadAllowed || r.Event == audit.HandoffAllowed {
			kept = audit.KeptWritten // nobody waited for the disk
		}
		if receipt := g.sign(ctx, leaf, kept); receipt != nil {
			out = append(out, receipt)
		}
	}
	return out, nil
}
