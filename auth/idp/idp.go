package idp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/internal/origin"
)

// The limits of a flow.
const (
	FlowLife  = 10 * time.Minute
	maxFlows  = 10_000
	timeout   = 10 * time.Second // of one question to the provider
	clockSkew = time.Minute
	maxClaim  = 256 // bytes of a text
	maxGroups = 1000
)

// The ways in which it fails. What wraps them never holds a token.
var (
	ErrConfig      = errors.New("the identity provider is not configured right")
	ErrUnavailable = errors.New("the identity provider cannot be asked")
	ErrRefused     = errors.New("the identity provider's answer proves nobody")
)

// algorithms are what an ID token may be signed with: never a shared secret,
// never none (RFC 8725 §3.1, §3.2).
var algorithms = []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.EdDSA}

// Config says where people sign in. Secret is "" for a public client. HTTP and
// Now may be nil.
type Config struct {
	Issuer      string
	Client      string
	Secret      string
	Redirect    string // address of the page that takes answers
	Scopes      []string
	GroupsClaim string            // claim that lists groups; default "groups"
	Groups      map[string]string // the provider's group to ours; no other is taken
	HTTP        *http.Client
	Now         func() time.Time
}

// Provider is one identity provider. It is safe for use by several goroutines.
type Provider struct {
	cfg Config
	now func() time.Time

	mu    sync.Mutex
	found *oidc.Provider
	keys  *keySet         // of found
	flows map[string]flow // by state
}

// flow is one browser on its way to the provider and back.
type flow struct {
	browser  string // what the browser's cookie holds
	nonce    string
	verifier string
	fresh    bool
	at       time.Time
}

// New returns a provider, or ErrConfig. It asks the provider nothing yet.
func New(c Config) (*Provider, error) {
	at, err := url.Parse(c.Issuer)
	if err != nil || at.Host == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil ||
		at.Scheme != "https" && (at.Scheme != "http" || !origin.Loopback(at.Host)) {
		return nil, fmt.Errorf("%w: issuer must be https://..., or http on this machine", ErrConfig)
	}
	if c.Client == "" || c.Redirect == "" || len(c.Groups) == 0 {
		return nil, fmt.Errorf("%w: client, redirect and groups are required", ErrConfig)
	}
	if c.GroupsClaim == "" {
		c.GroupsClaim = "groups"
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: timeout}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Provider{cfg: c, now: c.Now, flows: map[string]flow{}}, nil
}

// Issuer names the provider.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// discovered asks the provider about itself once (OpenID Connect Discovery
// §4). Its keys are fetched with a context that outlives the request.
func (p *Provider) discovered(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	found := p.found
	p.mu.Unlock()
	if found != nil {
		return found, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.cfg.HTTP), p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var about struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&about); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.keys = found, &keySet{client: p.cfg.HTTP, address: about.Keys, now: p.now}
	return found, nil
}

func (p *Provider) client(at oauth2.Endpoint) *oauth2.Config {
	return &oauth2.Config{ClientID: p.cfg.Client, ClientSecret: p.cfg.Secret, Endpoint: at, RedirectURL: p.cfg.Redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, p.cfg.Scopes...)}
}

// Begin returns where to send a browser and what its cookie must hold when it
// comes back. fresh asks the provider to make the person sign in again.
func (p *Provider) Begin(ctx context.Context, fresh bool) (address, browser string, err error) {
	found, err := p.discovered(ctx)
	if err != nil {
		return "", "", err
	}
	f := flow{browser: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier(), fresh: fresh, at: p.now()}
	state := rand.Text()
	options := []oauth2.AuthCodeOption{oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier)}
	if fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	if !p.remember(state, f) {
		return "", "", fmt.Errorf("%w: too many people are signing in", ErrUnavailable)
	}
	return p.client(found.Endpoint()).AuthCodeURL(state, options...), f.browser, nil
}

// remember keeps a flow, and forgets those that are over.
func (p *Provider) remember(state string, f flow) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for old, other := range p.flows {
		if f.at.Sub(other.at) > FlowLife {
			delete(p.flows, old)
		}
	}
	if len(p.flows) >= maxFlows {
		return false
	}
	p.flows[state] = f
	return true
}

// take returns a flow once.
func (p *Provider) take(state, browser string) (flow, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, found := p.flows[state]
	if !found || f.browser != browser || browser == "" {
		return flow{}, false
	}
	delete(p.flows, state)
	return f, p.now().Sub(f.at) <= FlowLife
}

// Finish reads the answer that a browser brought: the query of the address,
// and what its cookie holds. It fails with ErrRefused or ErrUnavailable.
func (p *Provider) Finish(ctx context.Context, query url.Values, browser string) (auth.Identity, error) {
	one := func(name string) string {
		if len(query[name]) != 1 {
			return ""
		}
		return query[name][0]
	}
	f, ok := p.take(one("state"), browser)
	switch {
	case !ok:
		return auth.Identity{}, refuse("nobody asked for it, or too long ago")
	case len(query["error"]) > 0:
		return auth.Identity{}, refuse("the provider said no")
	case len(query["iss"]) > 0 && one("iss") != p.cfg.Issuer: // RFC 9207 §2.4
		return auth.Identity{}, refuse("it is of another provider")
	case one("code") == "":
		return auth.Identity{}, refuse("it has no code")
	}
	return p.exchange(ctx, f, one("code"))
}

func refuse(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }

// exchange trades the code for an ID token and checks it.
func (p *Provider) exchange(ctx context.Context, f flow, code string) (auth.Identity, error) {
	found, err := p.discovered(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.cfg.HTTP), timeout)
	defer cancel()
	token, err := p.client(found.Endpoint()).Exchange(ctx, code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return auth.Identity{}, refuse("the code was not taken")
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return auth.Identity{}, refuse("there is no ID token")
	}
	p.mu.Lock()
	keys := p.keys
	p.mu.Unlock()
	verifier := oidc.NewVerifier(p.cfg.Issuer, keys, &oidc.Config{ClientID: p.cfg.Client, SupportedSigningAlgs: algorithms, Now: p.now})
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return auth.Identity{}, refuse("the ID token does not hold")
	}
	if id.Nonce != f.nonce {
		return auth.Identity{}, refuse("the ID token is for another sign-in")
	}
	if id.AccessTokenHash != "" && id.VerifyAccessToken(token.AccessToken) != nil {
		return auth.Identity{}, refuse("the two tokens do not belong together")
	}
	return p.identity(id, f)
}

// identity reads the claims of a token that holds.
func (p *Provider) identity(id *oidc.IDToken, f flow) (auth.Identity, error) {
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return auth.Identity{}, refuse("the claims cannot be read")
	}
	azp, has := claims["azp"]
	if len(id.Audience) > 1 && !has || has && azp != p.cfg.Client { // OpenID Connect Core §3.1.3.7
		return auth.Identity{}, refuse("the ID token is for another client")
	}
	if id.Subject == "" || len(id.Subject) > maxClaim || id.IssuedAt.After(p.now().Add(clockSkew)) {
		return auth.Identity{}, refuse("the ID token names nobody, or comes from the future")
	}
	who := auth.Identity{Issuer: id.Issuer, Subject: id.Subject, Groups: p.groups(claims[p.cfg.GroupsClaim])}
	for _, name := range []string{"name", "preferred_username", "email"} {
		if text, ok := claims[name].(string); ok && text != "" && len(text) <= maxClaim {
			who.Names = append(who.Names, text)
		}
	}
	if seconds, ok := claims["auth_time"].(float64); ok {
		who.ProvedAt = time.Unix(int64(seconds), 0).UTC()
	}
	if who.ProvedAt.After(p.now().Add(clockSkew)) || f.fresh && who.ProvedAt.Before(f.at.Add(-clockSkew)) {
		return auth.Identity{}, refuse("it does not say that the person has just signed in")
	}
	return who, nil
}

// groups are those of ours that the provider's mean.
func (p *Provider) groups(claim any) []string {
	list, ok := claim.([]any)
	if text, one := claim.(string); one {
		list, ok = []any{text}, true
	}
	if !ok || len(list) > maxGroups {
		return nil
	}
	var out []string
	for _, g := range list {
		if name, ok := g.(string); ok && p.cfg.Groups[name] != "" {
			out = append(out, p.cfg.Groups[name])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
