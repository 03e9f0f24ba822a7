package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (r *reader) servers(n *yaml.Node, at string) map[string]Server {
	out := map[string]Server{}
	r.each(n, at, func(key, value *yaml.Node, here string) {
		if !ServerName.MatchString(key.Value) {
			r.fault(key, here, "a name has 1 to 40 of a-z, 0-9 and -")
			return
		}
		out[key.Value] = r.server(value, here)
	})
	return out
}

func (r *reader) server(n *yaml.Node, at string) Server {
	s := Server{Start: DefaultStart}
	var ca, openapi string
	r.object(n, at, map[string]field{
		"command":    words(&s.Command),
		"dir":        words(&s.Dir),
		"args":       func(r *reader, n *yaml.Node, at string) { s.Args = r.list(n, at) },
		"env":        func(r *reader, n *yaml.Node, at string) { s.Env = r.variables(n, at) },
		"inherit":    func(r *reader, n *yaml.Node, at string) { s.Inherit = r.list(n, at) },
		"url":        func(r *reader, n *yaml.Node, at string) { s.URL = r.address(n, at) },
		"credential": func(r *reader, n *yaml.Node, at string) { s.Credential = r.credential(n, at) },
		"ca":         words(&ca),
		"audience":   words(&s.Audience),
		"openapi":    words(&openapi),
		"keyHeader":  words(&s.KeyHeader),
		"networks":   func(r *reader, n *yaml.Node, at string) { s.Networks = r.list(n, at) },
		"start":      duration(&s.Start, MinStart, MaxStart),
		"resources":  func(r *reader, n *yaml.Node, at string) { s.Resources = r.list(n, at) },
		"prompts":    func(r *reader, n *yaml.Node, at string) { s.Prompts = r.list(n, at) },
		"perSession": truth(&s.PerSession),
	})
	if ca != "" {
		s.CA = &ca
	}
	if len(s.Audience) > maxAudience {
		r.fault(n, join(at, "audience"), "is at most %d bytes", maxAudience)
	}
	if openapi != "" {
		s.OpenAPI = &openapi
	}
	switch {
	case s.OpenAPI == nil && (s.KeyHeader != "" || s.Networks != nil):
		r.fault(n, at, "keyHeader and networks are for a service with openapi")
	case s.OpenAPI != nil && (s.URL == "" || s.Resources != nil || s.Prompts != nil || s.Audience != "" || s.PerSession):
		r.fault(n, at, "a service with openapi has a url, and neither resources, prompts, audience nor perSession")
	case s.Command == "" && s.URL == "":
		r.fault(n, join(at, "command"), "is needed, or url")
	case s.URL == "" && (s.Credential != nil || s.CA != nil):
		r.fault(n, at, "credential and ca are for a url")
	case s.URL != "" && (s.Command != "" || s.Args != nil || s.Env != nil || s.Inherit != nil || s.Dir != ""):
		r.fault(n, at, "has a url, or command, args, env, inherit and dir; not both")
	}
	return s
}

// maxAudience is the longest name of an executor, in bytes.
const maxAudience = 255

// address: https, or http to this machine. What a URL may be is said again
// where it is used.
func (r *reader) address(n *yaml.Node, at string) string {
	v, ok := r.text(n, at)
	if !ok {
		return ""
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		r.fault(n, at, "must be https://HOST/..., or http:// to this machine, without a user and fragment")
		return ""
	}
	return v
}

var headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)

func (r *reader) credential(n *yaml.Node, at string) *Credential {
	c := &Credential{Header: "Authorization"}
	prefixed := false
	fields := r.secretFields(&c.Secret)
	fields["oauth"] = func(r *reader, n *yaml.Node, at string) { c.OAuth = r.oauthClient(n, at) }
	fields["header"] = words(&c.Header)
	fields["prefix"] = func(r *reader, n *yaml.Node, at string) {
		prefixed = true
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			r.fault(n, at, "must be text; quote it")
			return
		}
		c.Prefix = n.Value
	}
	r.object(n, at, fields)
	if !prefixed && strings.EqualFold(c.Header, "Authorization") {
		c.Prefix = "Bearer "
	}
	if !headerName.MatchString(c.Header) || strings.HasPrefix(strings.ToLower(c.Header), "mcp-") {
		r.fault(n, join(at, "header"), "must be the name of a header, and none of MCP's own")
	}
	switch {
	case c.OAuth != nil && (!c.Secret.IsZero() || c.Header != "Authorization" || prefixed):
		r.fault(n, at, "oauth stands alone: its tokens are sent as Authorization: Bearer")
	case c.OAuth == nil:
		if err := c.Secret.check(); err != nil {
			r.fault(n, at, "%v, or oauth", err)
		}
	}
	return c
}

func (r *reader) oauthClient(n *yaml.Node, at string) *OAuthClient {
	o := &OAuthClient{}
	secret := func(into *Secret) field {
		return func(r *reader, n *yaml.Node, at string) {
			r.object(n, at, r.secretFields(into))
			if err := into.check(); err != nil {
				r.fault(n, at, "%v", err)
			}
		}
	}
	r.object(n, at, map[string]field{
		"token":       func(r *reader, n *yaml.Node, at string) { o.Token = r.address(n, at) },
		"client":      words(&o.Client),
		"secret":      secret(&o.Secret),
		"scopes":      func(r *reader, n *yaml.Node, at string) { o.Scopes = r.list(n, at) },
		"resource":    words(&o.Resource),
		"subject":     secret(&o.Subject),
		"subjectType": words(&o.SubjectType),
	})
	for _, x := range []struct{ name, value string }{{"token", o.Token}, {"client", o.Client}} {
		if x.value == "" {
			r.fault(n, join(at, x.name), "is needed")
		}
	}
	if o.Secret.IsZero() && o.Subject.IsZero() {
		r.fault(n, at, "needs the secret of the client, or a subject to exchange")
	}
	return o
}

func (r *reader) secretFields(s *Secret) map[string]field {
	return map[string]field{
		"env":     words(&s.Env),
		"file":    words(&s.File),
		"command": func(r *reader, n *yaml.Node, at string) { s.Command = r.list(n, at) },
	}
}

var errSecret = errors.New("needs exactly one of env, file and command")

func (s Secret) check() error {
	n := 0
	for _, set := range []bool{s.Env != "", s.File != "", len(s.Command) > 0} {
		if set {
			n++
		}
	}
	if n != 1 {
		return errSecret
	}
	return nil
}

// IsZero reports whether no place is named.
func (s Secret) IsZero() bool { return s.Env == "" && s.File == "" && len(s.Command) == 0 }

func (r *reader) objects(n *yaml.Node, at string, read func(n *yaml.Node, at string)) {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, at, "must be a list")
		return
	}
	for i, x := range n.Content {
		read(x, fmt.Sprintf("%s[%d]", at, i))
	}
}
