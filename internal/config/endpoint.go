package config

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DefaultEndpoint is where the endpoint listens if the file does not say.
const DefaultEndpoint = "127.0.0.1:7434"

// The limits of a tool's name; the first is the default.
const (
	MinNameLimit = 64
	MaxNameLimit = 128
)

func (r *reader) endpoint(n *yaml.Node, at string) *Endpoint {
	e := &Endpoint{Listen: DefaultEndpoint, NameLimit: MinNameLimit}
	r.object(n, at, map[string]field{
		"listen":    words(&e.Listen),
		"cert":      words(&e.Cert),
		"key":       words(&e.Key),
		"hosts":     func(r *reader, n *yaml.Node, at string) { e.Hosts = r.list(n, at) },
		"origins":   func(r *reader, n *yaml.Node, at string) { e.Origins = r.list(n, at) },
		"servers":   func(r *reader, n *yaml.Node, at string) { e.Servers = r.list(n, at) },
		"limits":    func(r *reader, n *yaml.Node, at string) { r.limits(n, at, &e.Limits) },
		"nameLimit": func(r *reader, n *yaml.Node, at string) { e.NameLimit = r.number(n, at, MinNameLimit, MaxNameLimit) },
		"oauth":     func(r *reader, n *yaml.Node, at string) { e.OAuth = r.oauth(n, at) },
		"tokens": func(r *reader, n *yaml.Node, at string) {
			r.objects(n, at, func(n *yaml.Node, at string) { e.Tokens = append(e.Tokens, r.token(n, at)) })
		},
	})
	if (e.Cert == "") != (e.Key == "") {
		r.fault(n, at, "cert and key come together")
	}
	host, port, err := net.SplitHostPort(e.Listen)
	addr, errAddr := netip.ParseAddr(host)
	_, errPort := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || errAddr != nil || errPort != nil:
		r.fault(n, join(at, "listen"), "must be an address with a port, such as %s", DefaultEndpoint)
	case !addr.IsLoopback() && e.Cert == "":
		r.fault(n, join(at, "listen"), "must be a loopback address, or needs cert and key: tokens never travel in the clear")
	}
	if len(e.Tokens) == 0 && e.OAuth == nil {
		r.fault(n, join(at, "tokens"), "is needed, or oauth: nobody could call")
	}
	names := map[string]bool{}
	for _, t := range e.Tokens {
		if names[t.Name] {
			r.fault(n, join(at, "tokens"), "two tokens have one name")
		}
		names[t.Name] = true
	}
	return e
}

// Limits bound what callers of the endpoint can take; a field that is 0 has
// its default.
type Limits struct {
	Requests int // under way for one caller
	Total    int // under way for all
	Rate     int // requests per second of one caller
	Sessions int // of one caller
	Message  int // bytes
}

// The highest limits; the lowest is 1, and of a message 64 KiB.
const (
	MaxRequests = 4096
	MaxTotal    = 65_536
	MaxRate     = 1_000_000
	MaxSessions = 4096
	MinMessage  = 64 << 10
	MaxMessage  = 10 << 20
)

func (r *reader) limits(n *yaml.Node, at string, l *Limits) {
	within := func(into *int, low, high int) field {
		return func(r *reader, n *yaml.Node, at string) { *into = r.number(n, at, low, high) }
	}
	r.object(n, at, map[string]field{
		"requests": within(&l.Requests, 1, MaxRequests),
		"total":    within(&l.Total, 1, MaxTotal),
		"rate":     within(&l.Rate, 1, MaxRate),
		"sessions": within(&l.Sessions, 1, MaxSessions),
		"message":  within(&l.Message, MinMessage, MaxMessage),
	})
}

func (r *reader) number(n *yaml.Node, at string, low, high int) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < low || v > high {
		r.fault(n, at, "must be a number from %d to %d", low, high)
		return low
	}
	return v
}

func (r *reader) oauth(n *yaml.Node, at string) *OAuth {
	o := &OAuth{Prefix: DefaultPrefix}
	r.object(n, at, map[string]field{
		"issuer":   words(&o.Issuer),
		"resource": func(r *reader, n *yaml.Node, at string) { o.Resource = r.address(n, at) },
		"jwks":     func(r *reader, n *yaml.Node, at string) { o.JWKS = r.address(n, at) },
		"scopes":   func(r *reader, n *yaml.Node, at string) { o.Scopes = r.list(n, at) },
		"roles":    words(&o.Roles),
		"prefix":   words(&o.Prefix),
		"servers":  func(r *reader, n *yaml.Node, at string) { o.Servers = r.list(n, at) },
		"tools":    func(r *reader, n *yaml.Node, at string) { o.Tools = r.list(n, at) },
	})
	for _, x := range []struct{ name, value string }{{"issuer", o.Issuer}, {"resource", o.Resource}, {"jwks", o.JWKS}} {
		if x.value == "" {
			r.fault(n, join(at, x.name), "is needed")
		}
	}
	if len(o.Scopes) == 0 || len(o.Servers) == 0 {
		r.fault(n, at, "scopes and servers are needed: what a token must say, and what exists for it")
	}
	if strings.HasPrefix(o.Prefix, "local:") || !strings.HasSuffix(o.Prefix, ":") {
		r.fault(n, join(at, "prefix"), "must end with a colon, and not be local:")
	}
	return o
}

// DefaultPrefix begins the principals of an authorization server.
const DefaultPrefix = "oauth:"

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (r *reader) token(n *yaml.Node, at string) Token {
	var t Token
	fields := r.secretFields(&t.Secret)
	fields["name"] = words(&t.Name)
	fields["sha256"] = words(&t.SHA256)
	fields["principal"] = words(&t.Principal)
	fields["owner"] = words(&t.Owner)
	fields["agent"] = words(&t.Agent)
	fields["roles"] = func(r *reader, n *yaml.Node, at string) { t.Roles = r.list(n, at) }
	fields["servers"] = func(r *reader, n *yaml.Node, at string) { t.Servers = r.list(n, at) }
	fields["tools"] = func(r *reader, n *yaml.Node, at string) { t.Tools = r.list(n, at) }
	r.object(n, at, fields)
	for _, x := range []struct{ name, value string }{{"name", t.Name}, {"principal", t.Principal}, {"agent", t.Agent}} {
		if x.value == "" {
			r.fault(n, join(at, x.name), "is needed")
		}
	}
	if len(t.Servers) == 0 {
		r.fault(n, join(at, "servers"), "is needed: a token names the servers that exist for it")
	}
	switch {
	case t.SHA256 != "" && (!t.Secret.IsZero() || !digest.MatchString(t.SHA256)):
		r.fault(n, join(at, "sha256"), "must be 64 hex digits, and stands alone")
	case t.SHA256 == "":
		if err := t.Secret.check(); err != nil {
			r.fault(n, at, "needs sha256, or %v", err)
		}
	}
	if t.Owner == "" {
		t.Owner = t.Principal
	}
	return t
}

// behind checks that every server that the endpoint names is declared.
func (r *reader) behind(n *yaml.Node, at string, c *Config) {
	e := c.Endpoint
	if len(c.Servers) == 0 {
		r.fault(n, at, "there are no servers behind it")
	}
	for _, name := range e.Servers {
		if _, ok := c.Servers[name]; !ok {
			r.fault(n, join(at, "servers"), "names a server that is not declared")
		}
	}
	tokens := e.Tokens
	if e.OAuth != nil {
		tokens = append(slices.Clone(tokens), Token{Name: "oauth", Servers: e.OAuth.Servers})
	}
	for _, t := range tokens {
		for _, name := range t.Servers {
			_, declared := c.Servers[name]
			if !declared || len(e.Servers) > 0 && !slices.Contains(e.Servers, name) {
				r.fault(n, join(at, "tokens"), "token %s names a server that is not behind the endpoint", strconv.Quote(t.Name))
			}
		}
	}
}
