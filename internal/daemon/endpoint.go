package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/eager"
)

// Endpoint is a second address, for MCP clients over HTTP.
type Endpoint struct {
	Listen string
	TLS    *tls.Config // nil: in the clear, on this machine
	// Make is told the addresses of the page and of the endpoint.
	Make func(page, at string) (Clients, error)
}

// Clients serves MCP clients.
type Clients struct {
	Handler http.Handler
	// End takes no more calls, waits for runs that have begun as long as ctx
	// lasts, and lets go of the servers.
	End func(ctx context.Context)
}

// openEndpoint listens for MCP clients, if there is an endpoint. A port that
// is taken is an error: clients know the address by heart.
func (d *Daemon) openEndpoint() (net.Listener, error) {
	e := d.cfg.Endpoint
	if e == nil {
		return nil, nil
	}
	l, err := net.Listen("tcp", e.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for MCP clients: %w", err)
	}
	if d.clients, err = e.Make(d.state.Page, l.Addr().String()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	d.state.Endpoint = "http://" + l.Addr().String()
	l = eager.Listen(l)
	if e.TLS != nil {
		d.state.Endpoint = "https://" + l.Addr().String()
		l = tls.NewListener(l, e.TLS)
	}
	return l, nil
}

// endpointServer serves MCP clients. Streams are long, so what bounds a write
// is the handler's.
func (d *Daemon) endpointServer() *http.Server {
	return &http.Server{Handler: d.clients.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}
