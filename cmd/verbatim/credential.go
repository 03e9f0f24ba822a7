package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-de4804fb/verbatim/auth/oauthclient"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
)

// authenticate sets how the gateway says who it is to a server that has a URL:
// never as one of its clients.
func authenticate(far *remote.Config, declared config.Server) error {
	c := declared.Credential
	switch {
	case c == nil:
		return nil
	case c.OAuth == nil:
		far.Credential = (&credential{from: *c}).header
		return nil
	}
	source, err := tokenSource(c.OAuth, declared.URL, far.Roots)
	if err != nil {
		return fmt.Errorf("credential: %w", err)
	}
	far.Credential = func(ctx context.Context) (name, value string, err error) {
		token, err := source.Token(ctx)
		return "Authorization", bearer + token, err
	}
	far.Refused = func(value string) { source.Forget(strings.TrimPrefix(value, bearer)) }
	return nil
}

const bearer = "Bearer "

func tokenSource(o *config.OAuthClient, url string, roots []byte) (*oauthclient.Source, error) {
	from := func(s config.Secret) func(context.Context) (string, error) {
		if s.IsZero() {
			return nil
		}
		return func(ctx context.Context) (string, error) { return readSecret(ctx, s) }
	}
	resource := o.Resource
	if resource == "" {
		resource = url
	}
	return oauthclient.New(oauthclient.Config{TokenURL: o.Token, ClientID: o.Client, Secret: from(o.Secret), Scopes: o.Scopes, Resource: resource,
		Subject: from(o.Subject), SubjectType: o.SubjectType, Roots: roots})
}
