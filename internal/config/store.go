package config

import (
	"go.yaml.in/yaml/v3"
)

// Postgres is a database that several gateways share.
type Postgres struct {
	DSN Secret // where the connection string is
	// RequireSync refuses to start a run while no synchronous standby follows
	// the database. It must be said either way: without a standby, a failover
	// may forget what was acknowledged.
	RequireSync bool
	Connections int // at most; 0 means the store's default
}

// MaxConnections bounds the connections of one gateway.
const MaxConnections = 1000

func (r *reader) store(n *yaml.Node, at string) *Postgres {
	var p *Postgres
	r.object(n, at, map[string]field{
		"postgres": func(r *reader, n *yaml.Node, at string) { p = r.postgres(n, at) },
	})
	if p == nil {
		r.fault(n, join(at, "postgres"), "is needed; without store the home has a store of its own")
	}
	return p
}

func (r *reader) postgres(n *yaml.Node, at string) *Postgres {
	p := &Postgres{}
	said := false
	r.object(n, at, map[string]field{
		"dsn": func(r *reader, n *yaml.Node, at string) {
			r.object(n, at, r.secretFields(&p.DSN))
			if err := p.DSN.check(); err != nil {
				r.fault(n, at, "%v", err)
			}
		},
		"requireSync": func(r *reader, n *yaml.Node, at string) {
			said = true
			if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&p.RequireSync) != nil {
				r.fault(n, at, "must be true or false")
			}
		},
		"connections": func(r *reader, n *yaml.Node, at string) {
			if n.Decode(&p.Connections) != nil || p.Connections < 2 || p.Connections > MaxConnections {
				r.fault(n, at, "must be a number from 2 to %d", MaxConnections)
			}
		},
	})
	if p.DSN.IsZero() {
		r.fault(n, join(at, "dsn"), "is needed")
	}
	if !said {
		r.fault(n, join(at, "requireSync"), "is needed: true refuses to run anything while no synchronous standby follows the database")
	}
	return p
}
