package main

import (
	"context"
	"fmt"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/internal/metrics"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// meters counts what the process does. It counts whether or not anybody reads.
type meters struct {
	registry *metrics.Registry
	calls    *metrics.Calls
}

func newMeters() meters {
	r := metrics.New()
	return meters{r, metrics.NewCalls(r)}
}

func (m meters) timed(s verbatim.Store) verbatim.Store {
	metrics.WatchBook(m.registry, s, localTenant)
	return metrics.Timed(m.registry, s)
}

// upstreams adds whether the servers behind the endpoint are connected.
func (m meters) upstreams(h *hub.Hub) {
	up := m.registry.Gauge("verbatim_upstream_up", "1 while the server behind the endpoint is connected.", "server")
	m.registry.Ask(func(_ context.Context, set metrics.Set) error {
		for _, s := range h.Up() {
			is := 0.0
			if s.Up {
				is = 1
			}
			set(up, is, s.Server)
		}
		return nil
	})
}

// candidate adds what became of the calls that the candidate policy was told
// of; nothing where there is none.
func (m meters) candidate(c *candidate) {
	if c == nil {
		return
	}
	calls := m.registry.Gauge("verbatim_candidate_calls", "Calls that the candidate policy was told of since the start, by what became of them.", "outcome")
	m.registry.Ask(func(_ context.Context, set metrics.Set) error {
		n := c.watcher.Counts()
		for outcome, value := range map[string]int64{"same": n.Same, "changed": n.Changed, "unreplayable": n.Unreplayable, "dropped": n.Dropped,
			"waiting": n.Waiting, "failed": n.Failed, "unkept": n.Unkept} {
			set(calls, float64(value), outcome)
		}
		return nil
	})
}

// measured is the address for Prometheus; nil if the configuration has none.
func (p *parts) measured() (*daemon.Metrics, error) {
	m := p.cfg.Metrics
	if m == nil {
		return nil, nil
	}
	out := &daemon.Metrics{Listen: m.Listen, Registry: p.meters.registry}
	var err error
	if m.Cert != "" {
		if out.TLS, err = newTLS(m.Cert, m.Key, p.log); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	if !m.Token.IsZero() {
		if out.Token, err = readSecret(context.Background(), m.Token); err != nil {
			return nil, fmt.Errorf("metrics: token: %w", err)
		}
		if len(out.Token) < minToken {
			return nil, fmt.Errorf("metrics: a token has at least %d characters", minToken)
		}
	}
	return out, nil
}
