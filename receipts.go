package verbatim

import (
	"context"
	"sync"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// receipted adds the receipt of a record that a verb has just written. An
// outcome without one is still true, so nothing that fails here changes it.
func (g *Gate) receipted(o Outcome, leaf []byte) Outcome {
	if g.cfg.Receipts == nil || leaf == nil {
		return o
	}
	o.Receipt = g.sign(context.Background(), leaf, audit.KeptSynced)
	return o
}

// logName remembers the name of the log.
type logName struct {
	mu   sync.Mutex
	name string
}

func (l *logName) get(ctx context.Context, s Store) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name != "" {
		return l.name, nil
	}
	name, err := s.Origin(ctx)
	l.name = name
	return name, err
}

func (g *Gate) sign(ctx context.Context, leaf []byte, kept string) []byte {
	origin, err := g.origin.get(ctx, g.cfg.Store)
	if err != nil {
		g.log.Error("a receipt could not be signed", "error", err)
		return nil
	}
	r, err := audit.NewReceipt(origin, kept, leaf)
	if err == nil {
		var text []byte
		if text, err = r.Sign(g.cfg.Receipts); err == nil {
			return text
		}
	}
	g.log.Error("a receipt could not be signed", "error", err)
	return nil
}

// promise adds a receipt to an outcome that has none yet: that of the newest
// record of its action.
func (g *Gate) promise(ctx context.Context, s Session, o Outcome, failed error) Outcome {
	if failed != nil || g.cfg.Receipts == nil || o.Receipt != nil || o.ActionID == "" || o.read && !g.cfg.ReadReceipts {
		return o
	}
	found, err := g.cfg.Store.Records(context.WithoutCancel(ctx), audit.Filter{Tenant: s.Tenant, Action: o.ActionID, Limit: 1})
	if err != nil || len(found) == 0 || o.State != action.State(found[0].To) && !o.read {
		if err != nil {
			g.log.Error("a receipt could not be signed", "action", o.ActionID, "error", err)
		}
		return o // somebody else has moved it on: there is no record of this answer
	}
	leaf, err := found[0].Leaf()
	if err != nil {
		g.log.Error("a receipt could not be signed", "action", o.ActionID, "error", err)
		return o
	}
	kept := audit.KeptSynced
	if o.read {
		kept = audit.KeptWritten
	}
	o.Receipt = g.sign(ctx, leaf, kept)
	return o
}
