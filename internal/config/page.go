package config

import (
	"net/netip"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/internal/origin"
)

// listen: without a certificate, the page is for this machine only. A proxy
// stands on the same machine, or passwords would travel in the clear.
func (r *reader) listen(n *yaml.Node, at string, c *Config) {
	v, ok := r.text(n, at)
	if !ok {
		return
	}
	addr, err := netip.ParseAddrPort(v)
	if err != nil {
		r.fault(n, at, "must be a loopback address with a port, such as %s", DefaultListen)
		return
	}
	c.Listen = v
	r.last = append(r.last, func() {
		if !addr.Addr().IsLoopback() && c.TLS == nil {
			r.fault(n, at, "must be a loopback address, or needs tls: passwords never travel in the clear")
		}
	})
}

func (r *reader) origin(n *yaml.Node, at string, into *string) {
	v, ok := r.text(n, at)
	if !ok {
		return
	}
	if _, err := origin.Parse(v); err != nil {
		r.fault(n, at, "%v", strings.TrimPrefix(err.Error(), "origin "))
		return
	}
	*into = v
}

func (r *reader) certificate(n *yaml.Node, at string, c *Config) *Certificate {
	t := &Certificate{}
	r.object(n, at, map[string]field{"cert": words(&t.Cert), "key": words(&t.Key)})
	if t.Cert == "" || t.Key == "" {
		r.fault(n, at, "needs cert and key")
	}
	r.last = append(r.last, func() {
		if !strings.HasPrefix(c.Origin, "https://") {
			r.fault(n, at, "needs an origin that begins with https://")
		}
	})
	return t
}
