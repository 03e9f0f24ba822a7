package hub

import (
	"context"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
)

// tend settles what is uncertain of a server's tools over one connection,
// until that or the hub ends.
func (l *link) tend() {
	if l.server.hub.cfg.Gate == nil {
		return // the server is only looked at, see Definitions
	}
	ctx, cancel := context.WithCancel(l.server.hub.end)
	defer cancel()
	go func() {
		select {
		case <-l.Gone():
		case <-ctx.Done():
		}
		cancel()
	}()
	gate.Tending{Gate: l.server.hub.cfg.Gate, Server: l.server.Name, Roster: l.roster, Line: &bent{l, legacy},
		Begun: &l.server.begun}.Tend(ctx)
}
