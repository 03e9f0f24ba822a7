package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/web"
)

// pageEntries are the routes of the page.
var pageEntries = []string{"GET /healthz", "GET /static/{name}", "GET /login", "POST /login", "POST /login/passkey", "GET /login/oidc", "GET /login/oidc/callback", "GET /join", "POST /join", "POST /join/passkey", "POST /join/password",
	"GET /people", "GET /people/{id}", "POST /people/invite", "POST /people/withdraw", "POST /people/{id}/groups", "POST /people/{id}/disable", "POST /people/{id}/enable", "POST /logout", "GET /{$}",
	"GET /account", "POST /account/passkeys/add", "POST /account/passkeys/remove", "POST /account/password", "POST /account/delegate", "POST /account/delegations/end", "GET /actions", "GET /actions/{id}", "GET /actions/{id}/timeline", "POST /actions/{id}/verify", "POST /actions/{id}/approve", "POST /actions/{id}/reject",
	"POST /actions/{id}/revoke", "POST /actions/{id}/reconcile", "GET /actions/{id}/allow", "POST /actions/{id}/allow/review", "POST /actions/{id}/allow", "GET /grants", "GET /grants/{id}", "POST /grants/{id}/sign", "POST /grants/{id}/revoke", "GET /batch", "POST /batch", "GET /operate", "GET /overview", "GET /policy", "POST /operate/stop", "POST /operate/lift", "GET /reading", "POST /reading", "GET /records", "GET /records/{seq}"}

func TestNoPageRouteRunsAnything(t *testing.T) {
	t.Parallel()
	var found []string
	for _, r := range web.Routes() {
		found = append(found, r.Method+" "+r.Path)
	}
	sameEntries(t, found, append([]string(nil), pageEntries...))

	r := newArena(t)
	signer, err := keys.NewSigner(keys.Votes, bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	people, err := auth.New(auth.Config{Book: r.Store, Votes: signer})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := people.Create(t.Context(), "carla", "correct horse battery", "acme", "carla", []string{"admin"}); err != nil {
		t.Fatal(err)
	}
	pages, err := web.New(web.Config{Gate: r.Gate, People: people, Origin: "http://127.0.0.1:1",
		Tools: func(string) (*catalog.Tool, bool) { return nil, false }})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := people.Login(t.Context(), "carla", "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	a := r.pending()
	for _, route := range web.Routes() {
		for _, method := range []string{route.Method, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			for _, cookie := range []string{"", token} {
				tryRoute(pages, method, route.Path, cookie, a)
			}
		}
	}
	if got := r.seen(); len(got) != 0 {
		t.Errorf("the page ran %v", got)
	}
	after, err := r.Gate.Action(t.Context(), "acme", a.ID)
	if err != nil || after.State == action.Approved || after.State.InFlight() && after.State != action.PendingApproval {
		t.Errorf("a request without form token and password left the action %s, %v", after.State, err)
	}
}

// tryRoute sends what a page of somebody else could make a browser send.
func tryRoute(pages http.Handler, method, path, token string, a action.Action) {
	path = strings.NewReplacer("{id}", a.ID, "{seq}", "1", "{name}", "style.css", "{$}", "").Replace(path)
	form := url.Values{"approvalDigest": {a.Terms.Digest.String()}, "digest": {a.Terms.Digest.String()},
		"password": {"correct horse battery"}, "reason": {"x"}, "shown": {"on"}}
	q := httptest.NewRequest(method, "http://127.0.0.1:1"+path, strings.NewReader(form.Encode()))
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		for _, name := range []string{"verbatim_login", "__Host-verbatim_login", "verbatim", "__Host-verbatim"} {
			q.AddCookie(&http.Cookie{Name: name, Value: token})
		}
	}
	pages.ServeHTTP(httptest.NewRecorder(), q)
}
