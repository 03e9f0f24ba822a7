package gate

import (
	"context"
	"errors"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// ErrListing says that the server's tools could not be listed, so nothing was called.
var ErrListing = errors.New("the server's tools could not be listed")

// Propose takes a call that did not come over MCP through the Gate. m is the
// tools/call request that the server would get, in which the tool has the
// server's name: the frozen arguments take the place of those in it. An answer
// that asks for input is kept back, because nobody there could give any.
func (d *Desk) Propose(ctx context.Context, m *wire.Message, c verbatim.Call) (verbatim.Outcome, error) {
	t, err := d.toolsFor(ctx, m)
	if err != nil {
		return verbatim.Outcome{}, err
	}
	through := d.cfg.Gate.Counting(t, d.runs)
	o, err := d.decided(ctx, c, func() (verbatim.Outcome, error) { return through.Call(ctx, d.cfg.Session, c) })
	if t.asks.Load() {
		o.Output = nil
	}
	return o, err
}

// Authorize takes such a call to the permit: its caller runs it; see
// [verbatim.Gate.Authorize].
func (d *Desk) Authorize(ctx context.Context, m *wire.Message, c verbatim.Call) (verbatim.Authorization, error) {
	t, err := d.toolsFor(ctx, m)
	if err != nil {
		return verbatim.Authorization{}, err
	}
	return d.cfg.Gate.Counting(t, d.runs).Authorize(ctx, d.cfg.Session, c)
}

// Explain walks such a call up to the decision; see [verbatim.Gate.Explain].
func (d *Desk) Explain(ctx context.Context, m *wire.Message, c verbatim.Call) (verbatim.Explanation, error) {
	t, err := d.toolsFor(ctx, m)
	if err != nil {
		return verbatim.Explanation{}, err
	}
	return d.cfg.Gate.Counting(t, d.runs).Explain(ctx, d.cfg.Session, c)
}

func (d *Desk) toolsFor(ctx context.Context, m *wire.Message) (*tools, error) {
	if err := d.roster.LoadFor(ctx, m.Name()); err != nil {
		d.cfg.Log.Warn("the server's tools could not be listed", "server", d.cfg.Server, "error", err)
		return nil, ErrListing
	}
	return &tools{desk: d, message: m, reload: func() error { return d.roster.Load(ctx) }}, nil
}
