package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth/oauth"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// issued accepts the tokens of an authorization server, and leaves the others
// to the list of the configuration.
type issued struct {
	static   *endpoint.Tokens
	cfg      config.OAuth
	verifier *oauth.Verifier
	tools    []hub.Pattern
}

// authority is who says what a bearer token stands for. The keys that an
// earlier one knows of the same authorization server are taken over.
func (p *parts) authority(e *config.Endpoint, earlier endpoint.Authority) (endpoint.Authority, *endpoint.Resource, error) {
	static, err := p.tokens(e.Tokens)
	if err != nil || e.OAuth == nil {
		return static, nil, err
	}
	about := &endpoint.Resource{URL: e.OAuth.Resource, Servers: []string{e.OAuth.Issuer}, Scopes: e.OAuth.Scopes}
	if was, ok := earlier.(*issued); ok && reflect.DeepEqual(was.cfg, *e.OAuth) {
		return &issued{static: static, cfg: was.cfg, verifier: was.verifier, tools: was.tools}, about, nil
	}
	guard, err := netguard.New(netguard.Options{})
	if err != nil {
		return nil, nil, err
	}
	if err := guard.CheckURL(e.OAuth.JWKS); err != nil {
		return nil, nil, fmt.Errorf("oauth: jwks: %w", err)
	}
	a, err := issuedBy(static, *e.OAuth, func(ctx context.Context) ([]byte, error) { return guard.Get(ctx, e.OAuth.JWKS) })
	if err != nil {
		return nil, nil, err
	}
	return a, about, nil
}

func issuedBy(static *endpoint.Tokens, cfg config.OAuth, keys func(context.Context) ([]byte, error)) (*issued, error) {
	v, err := oauth.New(oauth.Config{Issuer: cfg.Issuer, Audience: cfg.Resource, Scopes: cfg.Scopes, RolesClaim: cfg.Roles, Fetch: keys})
	if err != nil {
		return nil, err
	}
	tools, err := patterns(cfg.Tools)
	if err != nil {
		return nil, fmt.Errorf("oauth: tools: %w", err)
	}
	return &issued{static: static, cfg: cfg, verifier: v, tools: tools}, nil
}

// Identify says who stands behind a token. The agent is the client that the
// token was issued to. Whoever the subject is at the issuer owns its session:
// an account of the same person there does not decide on what it proposes.
func (i *issued) Identify(ctx context.Context, token string) (endpoint.Identity, error) {
	if strings.Count(token, ".") != 2 {
		return i.static.Identify(ctx, token)
	}
	c, err := i.verifier.Verify(ctx, token)
	switch {
	case errors.Is(err, oauth.ErrScope):
		return endpoint.Identity{}, &endpoint.Refusal{Code: "insufficient_scope", Scope: strings.Join(i.cfg.Scopes, " "), Cause: err}
	case errors.Is(err, oauth.ErrToken):
		return endpoint.Identity{}, &endpoint.Refusal{Code: "invalid_token", Cause: err}
	case err != nil:
		return endpoint.Identity{}, err
	}
	principal := i.cfg.Prefix + c.Subject
	caller := hub.Caller{Servers: i.cfg.Servers, Tools: i.tools, Session: verbatim.Session{Tenant: localTenant,
		Principal: principal, Owner: action.Identity(i.cfg.Issuer, c.Subject), Agent: c.Client, Roles: c.Roles}}
	if err := caller.Session.Validate(); err != nil {
		return endpoint.Identity{}, &endpoint.Refusal{Code: "invalid_token", Cause: err}
	}
	// A colon-free join would let two pairs have one key.
	return endpoint.Identity{Key: fmt.Sprintf("oauth:%q:%q", c.Subject, c.Client), Caller: caller}, nil
}

var _ endpoint.Authority = (*issued)(nil)
