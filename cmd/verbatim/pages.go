package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth/idp"
	"github.com/seed-de4804fb/verbatim/web"
)

// verify checks the evidence of one action as audit verify does on a file of
// audit bundle, with the home's own keys.
func (p *parts) verify(ctx context.Context, tenant, id string) (audit.Evidence, error) {
	text, err := p.gate.Evidence(ctx, tenant, id, false)
	if err != nil {
		return audit.Evidence{}, err
	}
	b, err := audit.ParseBundle(text)
	if err != nil {
		return audit.Evidence{}, err
	}
	origin, err := p.store.Origin(ctx)
	if err != nil {
		return audit.Evidence{}, err
	}
	own, err := publicLogKeys(p.ring, origin)
	if err != nil {
		return audit.Evidence{}, err
	}
	trust, err := audit.NewTrust(own...)
	if err != nil {
		return audit.Evidence{}, err
	}
	return audit.VerifyBundle(b, trust)
}

// pages makes the approvers' page for its origin.
func (p *parts) pages(ctx context.Context, origin string) (http.Handler, error) {
	c := web.Config{Gate: p.gate, People: p.accounts, Tools: p.binder.find, Origin: origin, Tenant: localTenant, Verify: p.verify, Diff: p.diff}
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
