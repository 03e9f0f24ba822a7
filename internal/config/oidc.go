package config

import (
	"net/url"

	"go.yaml.in/yaml/v3"
)

// OIDC is an identity provider at which people sign in to the page.
type OIDC struct {
	Issuer string // exact, as the provider calls itself
	Client string // our id there
	Secret Secret // zero for a public client
	Scopes []string
	// GroupsClaim lists a person's groups; Groups says which of ours each means.
	GroupsClaim string
	Groups      map[string]string
}

func (r *reader) oidc(n *yaml.Node, at string) *OIDC {
	o := &OIDC{Scopes: []string{"profile"}, GroupsClaim: "groups"}
	r.object(n, at, map[string]field{
		"issuer":      words(&o.Issuer),
		"client":      words(&o.Client),
		"secret":      func(r *reader, n *yaml.Node, at string) { r.secret(n, at, &o.Secret) },
		"scopes":      func(r *reader, n *yaml.Node, at string) { o.Scopes = r.list(n, at) },
		"groupsClaim": words(&o.GroupsClaim),
		"groups":      func(r *reader, n *yaml.Node, at string) { o.Groups = r.variables(n, at) },
	})
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		r.fault(n, join(at, "issuer"), "is needed, as the provider calls itself, such as https://id.example.com")
	}
	if o.Client == "" {
		r.fault(n, join(at, "client"), "is needed: the id of this client at the provider")
	}
	if len(o.Groups) == 0 {
		r.fault(n, join(at, "groups"), "is needed: which of the provider's groups mean which of ours; nobody else may sign in")
	}
	return o
}

func (r *reader) secret(n *yaml.Node, at string, into *Secret) {
	r.object(n, at, r.secretFields(into))
	if err := into.check(); err != nil {
		r.fault(n, at, "%v", err)
	}
}
