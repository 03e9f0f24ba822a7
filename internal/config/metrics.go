package config

import (
	"net/netip"

	"go.yaml.in/yaml/v3"
)

// DefaultMetrics is where metrics are served if the file asks for them and
// does not say where.
const DefaultMetrics = "127.0.0.1:7435"

// Metrics is where Prometheus reads.
type Metrics struct {
	Listen    string // loopback, unless Token, Cert and Key are set
	Token     Secret // that whoever reads must bear; zero on loopback only
	Cert, Key string // files
}

func (r *reader) metrics(n *yaml.Node, at string) *Metrics {
	m := &Metrics{Listen: DefaultMetrics}
	r.object(n, at, map[string]field{
		"listen": words(&m.Listen),
		"cert":   words(&m.Cert),
		"key":    words(&m.Key),
		"token": func(r *reader, n *yaml.Node, at string) {
			r.object(n, at, r.secretFields(&m.Token))
			if err := m.Token.check(); err != nil {
				r.fault(n, at, "%v", err)
			}
		},
	})
	if (m.Cert == "") != (m.Key == "") {
		r.fault(n, at, "cert and key come together")
	}
	addr, err := netip.ParseAddrPort(m.Listen)
	switch {
	case err != nil:
		r.fault(n, join(at, "listen"), "must be an address with a port, such as %s", DefaultMetrics)
	case !addr.Addr().IsLoopback() && (m.Cert == "" || m.Token.IsZero()):
		r.fault(n, join(at, "listen"), "must be a loopback address, or needs cert, key and token: metrics name tools, limits and servers")
	}
	return m
}
