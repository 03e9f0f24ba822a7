package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

func TestTokensOfAnAuthorizationServerStandForTheirSubject(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	static, err := endpoint.NewTokens(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := issuedBy(static, config.OAuth{Issuer: "https://i.example.com", Resource: "http://example.com/mcp", Scopes: []string{"mcp"},
		Roles: "groups", Prefix: "idp:", Servers: []string{"files"}}, func(context.Context) ([]byte, error) {
		return []byte(fmt.Sprintf(`{"keys":[{"kid":"k","kty":"OKP","crv":"Ed25519","x":%q}]}`, b64(public))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	token := func(scope string) string {
		claims, err := json.Marshal(map[string]any{"iss": "https://i.example.com", "aud": "http://example.com/mcp", "sub": "ada", "client_id": "builder",
			"scope": scope, "groups": []string{"clerk"}, "exp": time.Now().Add(time.Hour).Unix()})
		if err != nil {
			t.Fatal(err)
		}
		signed := b64([]byte(`{"alg":"EdDSA","kid":"k","typ":"at+jwt"}`)) + "." + b64(claims)
		return signed + "." + b64(ed25519.Sign(private, []byte(signed)))
	}
	who, err := a.Identify(context.Background(), token("mcp"))
	want := verbatim.Session{Tenant: "local", Principal: "idp:ada", Owner: "https://i.example.com#ada", Agent: "builder", Roles: []string{"clerk"}}
	if diff := cmp.Diff(want, who.Caller.Session); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var refused *endpoint.Refusal
	if _, err := a.Identify(context.Background(), "a static token that nobody has"); !errors.As(err, &refused) || refused.Code != "invalid_token" {
		t.Errorf("an unknown token: %v", err)
	}

	r, s := newArena(t), &payServer{}
	h, err := hub.New(hub.Config{Gate: r.Gate, Binder: allUncataloged{}, Servers: []hub.Server{{Name: "files", Dial: s.dial}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.Background()) })
	e, err := endpoint.New(endpoint.Config{Hub: h, Hosts: []string{"example.com"}, Authority: a,
		Resource: &endpoint.Resource{URL: "http://example.com/mcp", Servers: []string{"https://i.example.com"}, Scopes: []string{"mcp"}}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, bearer string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, strings.NewReader("{}"))
		req.Header.Set("Content-Type", "application/json")
		if bearer != "" {
			req.Header.Set("Authorization", "Bearer "+bearer)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, req)
		return w
	}
	const at = `resource_metadata="http://example.com/.well-known/oauth-protected-resource/mcp"`
	for _, tt := range []struct {
		name, bearer string
		status       int
		challenge    string
	}{
		{"no token", "", 401, "Bearer " + at + `, scope="mcp"`},
		{"a bad token", "a.b.c", 401, `Bearer error="invalid_token", ` + at + `, scope="mcp"`},
		{"a token for something else", token("other"), 403, `Bearer error="insufficient_scope", scope="mcp", ` + at},
	} {
		got := ask(http.MethodPost, "/mcp", tt.bearer)
		if got.Code != tt.status || got.Header().Get("WWW-Authenticate") != tt.challenge {
			t.Errorf("%s: %d %q", tt.name, got.Code, got.Header().Get("WWW-Authenticate"))
		}
	}
	if got := ask(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", ""); got.Code != 200 ||
		!strings.Contains(got.Body.String(), `"authorization_servers":["https://i.example.com"]`) {
		t.Errorf("metadata: %d %s", got.Code, got.Body)
	}
}
