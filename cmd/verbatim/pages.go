package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed-de4804fb/verbatim/auth/idp"
	"github.com/seed-de4804fb/verbatim/web"
)

// pages makes the approvers' page for its origin.
func (p *parts) pages(ctx context.Context, origin string) (http.Handler, error) {
	c := web.Config{Gate: p.gate, People: p.accounts, Tools: p.binder.find, Origin: origin, Tenant: localTenant}
	if o := p.cfg.OIDC; o != nil {
		secret := ""
		if !o.Secret.IsZero() {
			var err error
			if secret, err = readSecret(ctx, o.Secret); err != nil {
				return nil, fmt.Errorf("oidc: secret: %w", err)
			}
		}
		provider, err := idp.New(idp.Config{Issuer: o.Issuer, Client: o.Client, Secret: secret, Redirect: origin + web.CallbackPath,
			Scopes: o.Scopes, GroupsClaim: o.GroupsClaim, Groups: o.Groups})
		if err != nil {
			return nil, err
		}
		c.Provider = provider
	}
	return web.New(c)
}
