package hub

import (
	"context"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
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
		Identity: l.server.Identity, Audience: l.server.Audience}.Tend(ctx)
}

// mendEvery is how often servers are looked for that nobody has called yet
// and that left something uncertain.
const mendEvery = 15 * time.Second

// Mend connects servers of which an earlier process left uncertain actions,
// so that what can be found out is found out although no client calls them.
// What it connects settles them (tend). It returns when ctx or the hub ends.
func (h *Hub) Mend(ctx context.Context) { h.mend(ctx, mendEvery) }

func (h *Hub) mend(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := h.mendOnce(ctx); err != nil && ctx.Err() == nil {
			h.cfg.Log.Error("uncertain actions could not be listed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-h.end.Done():
			return
		case <-tick.C:
		}
	}
}

const mendPage = 200

func (h *Hub) mendOnce(ctx context.Context) error {
	f := action.Filter{States: []action.State{action.Uncertain}, Limit: mendPage}
	woken := map[string]bool{}
	for {
		rows, err := h.cfg.Gate.Actions(ctx, f)
		if err != nil {
			return err
		}
		for _, a := range rows {
			if name, _, _ := strings.Cut(a.Tool, "."); !woken[name] {
				woken[name] = true
				h.wake(ctx, name)
			}
		}
		if len(rows) < f.Limit {
			return nil
		}
		f.Before = rows[len(rows)-1].ID
	}
}

// wake connects a server and lists its tools, unless both are done.
func (h *Hub) wake(ctx context.Context, name string) {
	if !h.enter() {
		return
	}
	defer h.runs.Done()
	_, s := h.held(name)
	if s == nil {
		return
	}
	defer s.release()
	l, err := s.connect(ctx, modern)
	if err == nil {
		err = l.roster.Load(ctx)
	}
	if err != nil {
		s.log.Debug("a server with uncertain actions could not be reached", "error", err)
	}
}
