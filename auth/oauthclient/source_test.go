package oauthclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/auth/oauthclient"
)

const canary = "canary-secret+/%é"

// server is an authorization server.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	forms  []url.Values
	basic  []string
	answer func(w http.ResponseWriter, n int)
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{answer: func(w http.ResponseWriter, n int) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"bearer","expires_in":600,"unknown":1}`, n)
	}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		s.forms, s.basic = append(s.forms, r.PostForm), append(s.basic, r.Header.Get("Authorization"))
		s.answer(w, len(s.forms))
	}))
	t.Cleanup(s.Close)
	return s
}

func secret(context.Context) (string, error) { return canary, nil }

func TestTokensAreKeptUntilShortlyBeforeTheyEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	now := time.Unix(1_800_000_000, 0)
	source, err := oauthclient.New(oauthclient.Config{TokenURL: s.URL, ClientID: "gate way", Secret: secret, Scopes: []string{"a", "b"},
		Resource: "https://crm.example.com/mcp", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	get := func(want string) {
		t.Helper()
		if got, err := source.Token(context.Background()); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	get("token-1")
	now = now.Add(569 * time.Second)
	get("token-1")
	now = now.Add(2 * time.Second)
	get("token-2")
	source.Forget("token-1") // somebody else's news are old
	get("token-2")
	source.Forget("token-2")
	get("token-3")
	want := url.Values{"grant_type": {"client_credentials"}, "scope": {"a b"}, "resource": {"https://crm.example.com/mcp"}}
	if diff := cmp.Diff(want, s.forms[0]); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	r := http.Request{Header: http.Header{"Authorization": {s.basic[0]}}}
	user, password, _ := r.BasicAuth()
	user, _ = url.QueryUnescape(user)
	password, _ = url.QueryUnescape(password)
	if user != "gate way" || password != canary {
		t.Errorf("the client says it is %q with %q", user, password)
	}
}

func TestOwnTokenIsExchanged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	source, err := oauthclient.New(oauthclient.Config{TokenURL: s.URL, ClientID: "gateway", Subject: func(context.Context) (string, error) { return "workload", nil }})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := source.Token(context.Background()); err != nil || got != "token-1" {
		t.Errorf("%q, %v", got, err)
	}
	want := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {"workload"}, "client_id": {"gateway"},
		"subject_token_type": {oauthclient.TypeJWT}, "requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}}
	if diff := cmp.Diff(want, s.forms[0]); diff != "" || s.basic[0] != "" {
		t.Errorf("%q, form (-want +got):\n%s", s.basic[0], diff)
	}
}

func TestAnswersThatAreNoBearerTokenAreRefused(t *testing.T) {
	t.Parallel()
	typed := func(status int, kind, body string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	const ok = `{"access_token":"x","token_type":"Bearer","expires_in":60}`
	for _, tt := range []struct {
		name, says string
		answer     func(http.ResponseWriter, int)
	}{
		{"a code", "status 401: invalid_client", typed(401, "application/json", `{"error":"invalid_client","error_description":"`+canary+`"}`)},
		{"a code of its own", "status 400", typed(400, "application/json", `{"error":"`+canary+`"}`)},
		{"markup", "no bearer token", typed(200, "text/html", ok)},
		{"another type of token", "no bearer token", typed(200, "application/json", strings.Replace(ok, "Bearer", "DPoP", 1))},
		{"no type", "no bearer token", typed(200, "application/json", `{"access_token":"x"}`)},
		{"no token", "no bearer token", typed(200, "application/json", `{"token_type":"Bearer"}`)},
		{"a token with a line end", "no bearer token", typed(200, "application/json", strings.Replace(ok, `"x"`, `"x\r\nX-Admin: 1"`, 1))},
		{"two tokens", "no bearer token", typed(200, "application/json", strings.Replace(ok, `{`, `{"access_token":"y",`, 1))},
		{"ended", "no bearer token", typed(200, "application/json", strings.Replace(ok, "60", "0", 1))},
		{"an end that is text", "no bearer token", typed(200, "application/json", strings.Replace(ok, "60", `"60"`, 1))},
		{"very long", "no bearer token", typed(200, "application/json", strings.Replace(ok, `"x"`, `"`+strings.Repeat("x", 1<<17)+`"`, 1))},
		{"a redirect", "status 307", func(w http.ResponseWriter, _ int) { w.Header().Set("Location", "/elsewhere"); w.WriteHeader(307) }},
	} {
		s := newServer(t)
		s.answer = tt.answer
		source, err := oauthclient.New(oauthclient.Config{TokenURL: s.URL, ClientID: "gateway", Secret: secret})
		if err != nil {
			t.Fatal(err)
		}
		got, err := source.Token(context.Background())
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "canary") || len(s.forms) != 1 {
			t.Errorf("%s: %q, %v, asked %d times", tt.name, got, err, len(s.forms))
		}
	}
}

func TestWhatCannotWorkIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]oauthclient.Config{
		"in the clear":      {TokenURL: "http://login.example.com/token", ClientID: "a", Secret: secret},
		"a user in it":      {TokenURL: "https://a:b@login.example.com/token", ClientID: "a", Secret: secret},
		"no address":        {ClientID: "a", Secret: secret},
		"no client":         {TokenURL: "https://login.example.com/token", Secret: secret},
		"no secret":         {TokenURL: "https://login.example.com/token", ClientID: "a"},
		"certificates that": {TokenURL: "https://login.example.com/token", ClientID: "a", Secret: secret, Roots: []byte("x")},
	} {
		if _, err := oauthclient.New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	source, err := oauthclient.New(oauthclient.Config{TokenURL: "http://127.0.0.1:1/" + "path", ClientID: "a", Secret: func(context.Context) (string, error) {
		return "", errors.New("no file")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Token(context.Background()); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Errorf("a secret that is not there: %v", err)
	}
}
