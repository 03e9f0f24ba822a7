package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/metrics"
)

// Metrics is a third address, for Prometheus. It is never that of the page or
// of clients.
type Metrics struct {
	Listen   string
	TLS      *tls.Config // nil: in the clear, on this machine
	Token    string      // that whoever reads must bear; "" asks for none
	Registry *metrics.Registry
}

// openMetrics listens for Prometheus, if there are metrics, and adds what the
// daemon itself knows.
func (d *Daemon) openMetrics() (net.Listener, error) {
	m := d.cfg.Metrics
	if m == nil {
		return nil, nil
	}
	l, err := net.Listen("tcp", m.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w", err)
	}
	d.state.Metrics = "http://" + l.Addr().String()
	if m.TLS != nil {
		d.state.Metrics = "https://" + l.Addr().String()
		l = tls.NewListener(l, m.TLS)
	}
	d.meter(m.Registry)
	return l, nil
}

func (d *Daemon) meter(r *metrics.Registry) {
	metrics.WatchProcess(r, d.cfg.Build.Version)
	clients := r.Gauge("verbatim_attached_clients", "Clients of wrap and call that are connected.")
	draining := r.Gauge("verbatim_draining", "1 while the daemon ends when its last client has gone.")
	bytes := r.Gauge("verbatim_store_bytes", "What the home's own store takes on the disk; not there where the store is shared.")
	orphans := r.Gauge("verbatim_orphaned_passkeys", "Passkeys that are of no use at the page's origin.")
	d.meterSinks(r)
	r.Ask(func(ctx context.Context, set metrics.Set) error {
		set(clients, float64(d.attached.count()))
		ending := 0.0
		if d.draining.Load() {
			ending = 1
		}
		set(draining, ending)
		if n := d.storeBytes(); n > 0 {
			set(bytes, float64(n))
		}
		lost, err := d.orphans(ctx)
		set(orphans, float64(len(lost)))
		return err
	})
}

func (d *Daemon) metricsServer() *http.Server {
	m := d.cfg.Metrics
	at, err := netip.ParseAddrPort(m.Listen)
	door := metrics.Door{Token: m.Token, Loopback: err == nil && at.Addr().IsLoopback()}
	return &http.Server{Handler: m.Registry.Handler(door), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug)}
}
