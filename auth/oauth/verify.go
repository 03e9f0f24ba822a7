package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// What a token fails with.
var (
	ErrToken = errors.New("the token is not accepted")
	ErrScope = errors.New("the token lacks a scope")
)

// Config is one authorization server, as one resource sees it.
type Config struct {
	Issuer   string // exact, as in the claim iss
	Audience string // of this resource, as in the claim aud (RFC 8707)
	Scopes   []string
	// Fetch gets the JWK set (RFC 7517 §5).
	Fetch func(ctx context.Context) ([]byte, error)
	// RolesClaim names the claim that lists roles; "" takes none.
	RolesClaim string
	Now        func() time.Time // nil means time.Now
}

// Claims are what a token says, once it was checked.
type Claims struct {
	Subject string
	Client  string // client_id (RFC 9068 §2.2)
	Roles   []string
	Expires time.Time
}

// The limits of a token.
const (
	MaxToken = 16 << 10
	// Leeway is how far clocks may differ. It is given to the times at which a
	// token begins, not to the one at which it ends.
	Leeway = 60 * time.Second
)

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	cfg  Config
	keys *keySet
}

// New checks the configuration. Keys are fetched when the first token comes.
func New(cfg Config) (*Verifier, error) {
	if cfg.Issuer == "" || cfg.Audience == "" || cfg.Fetch == nil {
		return nil, errors.New("oauth: needs issuer, audience and a source of keys")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Verifier{cfg: cfg, keys: &keySet{fetch: cfg.Fetch, now: cfg.Now}}, nil
}

// Refresh asks the server for its keys now, however recently they were asked
// for: a key that it has withdrawn is believed no longer. If the keys cannot be
// had, the known ones stay as they were and the error says why.
func (v *Verifier) Refresh(ctx context.Context) error { return v.keys.refresh(ctx) }

func broken(rule string) error { return fmt.Errorf("%w: %s", ErrToken, rule) }

// Verify checks one token.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	signed, err := v.signed(ctx, token)
	if err != nil {
		return Claims{}, err
	}
	payload, err := section(signed)
	if err != nil {
		return Claims{}, broken("claims")
	}
	return v.claims(payload)
}

// signed returns the middle part of a token whose signature holds.
func (v *Verifier) signed(ctx context.Context, token string) (string, error) {
	parts := strings.Split(token, ".")
	if len(token) > MaxToken || len(parts) != 3 {
		return "", broken("form")
	}
	header, err := section(parts[0])
	if err != nil {
		return "", broken("header")
	}
	k, err := v.key(ctx, header)
	if err != nil {
		return "", err
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	alg, _ := header.Get("alg")
	if err != nil || !k.Verify(alg.Text(), []byte(parts[0]+"."+parts[1]), signature) {
		return "", broken("signature")
	}
	return parts[1], nil
}

// section decodes one part: canonical Base64, and strict JSON, so that no two
// readers see two tokens.
func section(text string) (canon.Value, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return canon.Value{}, err
	}
	value, err := canon.Decode(raw, canon.Options{})
	if err == nil && value.Kind() != canon.Object {
		err = errors.New("no object")
	}
	return value, err
}

// key finds the key that a header names. Whatever else a header brings to
// find one by is refused.
func (v *Verifier) key(ctx context.Context, header canon.Value) (*Key, error) {
	for _, name := range []string{"crit", "jwk", "jku", "x5u", "x5c", "zip", "enc"} {
		if _, found := header.Get(name); found {
			return nil, broken("header " + name)
		}
	}
	kind, found := header.Get("typ")
	if text := strings.ToLower(kind.Text()); found && text != "at+jwt" && text != "application/at+jwt" && text != "jwt" {
		return nil, broken("typ")
	}
	alg, _ := header.Get("alg")
	id, _ := header.Get("kid")
	if alg.Kind() != canon.String || id.Kind() != canon.String || id.Text() == "" {
		return nil, broken("alg or kid")
	}
	k, err := v.keys.find(ctx, id.Text())
	if err != nil {
		return nil, err
	}
	if k == nil || !k.Takes(alg.Text()) {
		return nil, broken("key")
	}
	return k, nil
}

func (v *Verifier) claims(p canon.Value) (Claims, error) {
	if iss, _ := p.Get("iss"); iss.Kind() != canon.String || iss.Text() != v.cfg.Issuer {
		return Claims{}, broken("iss")
	}
	aud, _ := p.Get("aud")
	if !slices.Contains(texts(aud), v.cfg.Audience) {
		return Claims{}, broken("aud")
	}
	now := v.cfg.Now()
	exp, ok := instant(p, "exp")
	if !ok || !now.Before(exp) {
		return Claims{}, broken("exp")
	}
	for _, name := range []string{"nbf", "iat"} {
		if _, found := p.Get(name); !found {
			continue
		}
		if at, ok := instant(p, name); !ok || now.Add(Leeway).Before(at) {
			return Claims{}, broken(name)
		}
	}
	sub, _ := p.Get("sub")
	client, _ := p.Get("client_id")
	if !name(sub) || !name(client) {
		return Claims{}, broken("sub or client_id")
	}
	scope, _ := p.Get("scope")
	have := strings.Split(scope.Text(), " ")
	for _, s := range v.cfg.Scopes {
		if !slices.Contains(have, s) {
			return Claims{}, ErrScope
		}
	}
	c := Claims{Subject: sub.Text(), Client: client.Text(), Expires: exp}
	if v.cfg.RolesClaim != "" {
		roles, _ := p.Get(v.cfg.RolesClaim)
		c.Roles = texts(roles)
	}
	return c, nil
}

// texts reads a string or a list of strings; anything else is none.
func texts(v canon.Value) []string {
	if v.Kind() == canon.String {
		return []string{v.Text()}
	}
	if v.Kind() != canon.Array {
		return nil
	}
	var out []string
	for _, e := range v.Elements() {
		if e.Kind() != canon.String {
			return nil
		}
		out = append(out, e.Text())
	}
	return out
}

// instant reads a NumericDate (RFC 7519 §2), in whole or broken seconds.
func instant(p canon.Value, name string) (time.Time, bool) {
	v, _ := p.Get(name)
	if v.Kind() != canon.Number || v.Float64() < 0 || v.Float64() > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(int64(v.Float64()), 0), true
}

// name: visible ASCII, so that nothing in a log or on a page can pass for
// another.
func name(v canon.Value) bool {
	text := v.Text()
	return v.Kind() == canon.String && text != "" && len(text) <= 256 &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
