package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth/idp"
	"github.com/seed-de4804fb/verbatim/internal/idptest"
	"github.com/seed-de4804fb/verbatim/web"
)

func TestMain(m *testing.M) { idptest.Main(m) }

// signingInAt is a bench whose people sign in at a provider, by the time of
// the machine: the provider's tokens have it.
func signingInAt(t *testing.T, s *idptest.Server, at string, actions ...action.Action) *bench {
	t.Helper()
	for i := range actions {
		actions[i].Deadline = time.Now().Add(time.Hour)
	}
	b := emptyBench(t, actions...)
	b.clock.Move(time.Since(start))
	b.at = at
	p, err := idp.New(idp.Config{Issuer: s.Issuer, Client: idptest.Client, Secret: idptest.Secret, Redirect: at + web.CallbackPath, Scopes: []string{"profile"}, Groups: map[string]string{"books": "finance"}})
	if err != nil {
		t.Fatal(err)
	}
	if b.site, err = web.New(web.Config{Gate: b.gate, People: b.accounts, Tools: tools, Origin: at, Now: b.clock.Now, Provider: p, Tenant: tenant}); err != nil {
		t.Fatal(err)
	}
	return b
}

// arrive takes somebody through the provider and returns the answer of the
// callback.
func (b *bench) arrive(t *testing.T, s *idptest.Server, path, subject string) *httptest.ResponseRecorder {
	t.Helper()
	out := b.get(path)
	if out.Code != http.StatusSeeOther {
		t.Fatalf("going out = %d: %s", out.Code, out.Body.String())
	}
	back := s.SignIn(out.Header().Get("Location"), subject)
	r := b.request(http.MethodGet, back.RequestURI(), nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	for _, c := range out.Result().Cookies() {
		if c.SameSite != http.SameSiteLaxMode || !c.HttpOnly {
			t.Errorf("the cookie on the way is %v", c)
		}
		r.AddCookie(c)
	}
	w := b.send(r)
	for _, c := range w.Result().Cookies() {
		if c.Name == "verbatim" && c.Value != "" {
			b.cookie = c.Value
		}
	}
	return w
}

func TestPersonOfAProviderSignsInAndDecidesWhileThatIsFresh(t *testing.T) {
	t.Parallel()
	s := idptest.Start(t)
	s.Person("u-1", "Ada", "books")
	s.Person("u-2", "Eve", "kitchen")
	b := signingInAt(t, s, "http://localhost:8420", payment("act_1"), payment("act_2"))
	if w := b.arrive(t, s, "/login/oidc", "u-2"); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "no group that counts") {
		t.Errorf("somebody of no group = %d", w.Code)
	}
	w := b.arrive(t, s, "/login/oidc?next="+url.QueryEscape("/actions/act_1"), "u-1")
	if w.Code != http.StatusOK || w.Header().Get("Refresh") != "0; url=/actions/act_1" {
		t.Fatalf("coming back = %d, %q", w.Code, w.Header().Get("Refresh"))
	}
	page := b.get("/actions/act_1").Body.String()
	if w := b.post("/actions/act_1/approve", formOf(t, page, "/actions/act_1/approve")); w.Code != http.StatusSeeOther {
		t.Fatalf("approving = %d: %s", w.Code, w.Body.String())
	}
	if v := b.gate.votes[0]; v.Method != action.MethodOIDC || v.LoginAt.IsZero() {
		t.Errorf("%+v", v)
	}
	b.clock.Move(6 * time.Minute)
	stale := formOf(t, b.get("/actions/act_2").Body.String(), "/actions/act_2/approve")
	if w := b.post("/actions/act_2/approve", stale); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "fresh sign-in") {
		t.Errorf("an old sign-in on a high-impact action = %d", w.Code)
	}
	if w := b.post("/account/password", url.Values{"token": {"x"}, "new": {"a long new password"}, "again": {"a long new password"}}); w.Code != http.StatusBadRequest {
		t.Errorf("a password for an account of a provider = %d", w.Code)
	}
	who := b.gate.votes[0].Voter
	s.Person("u-1", "Ada", "kitchen")
	if w := b.arrive(t, s, "/login/oidc?again=1", "u-1"); w.Code != http.StatusOK {
		t.Fatalf("again = %d", w.Code)
	}
	if a, err := b.accounts.ByID(t.Context(), who); err != nil || len(a.Groups) != 0 {
		t.Errorf("the groups are still %v, %v", a.Groups, err)
	}
	if err := b.accounts.Disable(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	if w := b.arrive(t, s, "/login/oidc", "u-1"); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "not active") {
		t.Errorf("who is shut out = %d", w.Code)
	}
}

func TestCallbackOfAnotherBrowserSignsNobodyIn(t *testing.T) {
	t.Parallel()
	s := idptest.Start(t)
	s.Person("u-1", "Ada", "books")
	b := signingInAt(t, s, "http://localhost:8420")
	out := b.get("/login/oidc")
	back := s.SignIn(out.Header().Get("Location"), "u-1")
	if w := b.get(back.RequestURI()); w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 1 {
		t.Errorf("without the cookie = %d, %v", w.Code, w.Result().Cookies())
	}
	other := newBench(t)
	for _, path := range []string{"/login/oidc", web.CallbackPath + "?code=a&state=b"} {
		if w := other.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s without a provider = %d", path, w.Code)
		}
	}
}

// TestPersonOfAProviderApprovesInARealBrowser signs in at the provider, lets
// that become old, signs in once more and approves.
func TestPersonOfAProviderApprovesInARealBrowser(t *testing.T) {
	s := idptest.Start(t)
	s.Person("ada", "Ada", "books")
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	b := signingInAt(t, s, "http://localhost:"+port, payment("act_1"))
	server.Config.Handler = b.site
	server.Start()
	t.Cleanup(server.Close)
	ctx := browser(t)
	do(t, ctx, chromedp.Navigate(b.at+"/actions/act_1"), chromedp.Click(chromedp.CSS("#provider")))
	loaded(t, ctx, "#ada")
	do(t, ctx, chromedp.Click(chromedp.CSS("#ada")))
	loaded(t, ctx, "button.yes")
	b.clock.Move(6 * time.Minute)
	do(t, ctx, chromedp.Click(chromedp.CSS("button.yes")))
	loaded(t, ctx, ".error")
	if text := pageText(t, ctx); !strings.Contains(text, "fresh sign-in") || b.gate.counted() != 0 {
		t.Fatalf("after six minutes the page says %q, %d votes", text, b.gate.counted())
	}
	b.clock.Move(-6 * time.Minute) // the provider has a clock of its own
	do(t, ctx, chromedp.Click(chromedp.CSS("p.bylogin a")))
	loaded(t, ctx, "#ada")
	do(t, ctx, chromedp.Click(chromedp.CSS("#ada")))
	loaded(t, ctx, "form.who")
	do(t, ctx, chromedp.Navigate(b.at+"/actions/act_1"), chromedp.Click(chromedp.CSS("button.yes")))
	loaded(t, ctx, ".votes")
	if a, err := b.gate.Action(ctx, tenant, "act_1"); err != nil || a.State != action.Approved {
		t.Errorf("state %s, %v", a.State, err)
	}
}
