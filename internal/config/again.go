package config

import (
	"reflect"
)

// NeedsRestart names the fields in which next differs from c and which a
// running daemon cannot take over. The others are the servers, the catalog and
// policy files, and of the endpoint its servers, tokens and oauth.
func (c Config) NeedsRestart(next Config) (fields []string) {
	type pair struct {
		name      string
		was, will any
	}
	pairs := []pair{{"agent", c.Agent, next.Agent}, {"listen", c.Listen, next.Listen}, {"origin", c.Origin, next.Origin}, {"tls", c.TLS, next.TLS},
		{"wait", c.Wait, next.Wait}, {"idle", c.Idle, next.Idle}, {"keepKeys", c.KeepKeys, next.KeepKeys}, {"retention", c.Retention, next.Retention}, {"oidc", c.OIDC, next.OIDC},
		{"store", c.Postgres, next.Postgres}, {"candidate", c.Candidate, next.Candidate}, {"sinks", c.Sinks, next.Sinks}, {"metrics", c.Metrics, next.Metrics},
		{"telemetry", c.OTLP, next.OTLP}, {"witnesses", c.Witnesses, next.Witnesses},
		{"endpoint", c.Endpoint != nil, next.Endpoint != nil}}
	if a, b := c.Endpoint, next.Endpoint; a != nil && b != nil {
		pairs = append(pairs, []pair{{"endpoint.listen", a.Listen, b.Listen}, {"endpoint.cert", a.Cert, b.Cert}, {"endpoint.key", a.Key, b.Key},
			{"endpoint.hosts", a.Hosts, b.Hosts}, {"endpoint.origins", a.Origins, b.Origins}, {"endpoint.nameLimit", a.NameLimit, b.NameLimit}, {"endpoint.limits", a.Limits, b.Limits}}...)
	}
	for _, p := range pairs {
		if !reflect.DeepEqual(p.was, p.will) {
			fields = append(fields, p.name)
		}
	}
	return fields
}

// Watched are the files whose content a running daemon has taken over with the
// configuration: its own, and those of tokens and of certificates that vouch
// for servers. What is read each time that it is used is not among them.
func (c Config) Watched() []string {
	out := []string{c.File}
	for _, s := range c.Servers {
		if s.CA != nil {
			out = append(out, *s.CA)
		}
	}
	if c.Endpoint != nil {
		for _, t := range c.Endpoint.Tokens {
			if t.Secret.File != "" {
				out = append(out, t.Secret.File)
			}
		}
	}
	return out
}
