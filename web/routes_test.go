package web_test

import (
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/web"
)

func TestNewRefusesToStartWithoutItsParts(t *testing.T) {
	t.Parallel()
	accounts, err := authtest.Accounts(&authtest.Book{}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	whole := web.Config{Gate: &fakeGate{}, People: accounts, Tools: tools, Origin: origin}
	if _, err := web.New(whole); err != nil {
		t.Fatalf("whole configuration: %v", err)
	}
	for what, change := range map[string]func(*web.Config){
		"no gate":              func(c *web.Config) { c.Gate = nil },
		"no people":            func(c *web.Config) { c.People = nil },
		"no tools":             func(c *web.Config) { c.Tools = nil },
		"no origin":            func(c *web.Config) { c.Origin = "" },
		"origin with a path":   func(c *web.Config) { c.Origin = "https://a.example/x" },
		"origin with a slash":  func(c *web.Config) { c.Origin = "https://a.example/" },
		"origin with a user":   func(c *web.Config) { c.Origin = "https://u@a.example" },
		"plain http elsewhere": func(c *web.Config) { c.Origin = "http://a.example" },
		"plain http in a lan":  func(c *web.Config) { c.Origin = "http://192.168.0.7:8420" },
		"no scheme":            func(c *web.Config) { c.Origin = "a.example" },
		"another scheme":       func(c *web.Config) { c.Origin = "ftp://a.example" },
	} {
		c := whole
		change(&c)
		if _, err := web.New(c); !errors.Is(err, web.ErrConfig) {
			t.Errorf("%s: New = %v; want ErrConfig", what, err)
		}
	}
}

// concrete fills the place holders of a route.
func concrete(r web.Route) string {
	return strings.NewReplacer("/people/{id}", "/people/person_alice", "{$}", "", "{id}", "act_1", "{seq}", "1", "{name}", "style.css").Replace(r.Path)
}

func TestEveryRouteAnswersWithTheSafetyHeaders(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.records = []audit.Record{{Seq: 1, Tenant: tenant, Event: "suspended", At: start, Action: "act_1"}}
	for _, route := range web.Routes() {
		for _, login := range []bool{true, false} {
			r := b.request(route.Method, concrete(route), url.Values{})
			if !login {
				r.Header.Del("Cookie")
			}
			w := b.send(r)
			if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") {
				t.Errorf("%s %s: policy %q", route.Method, route.Path, csp)
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
				"Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY"} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s %s: %s = %q; want %q", route.Method, route.Path, name, got, want)
				}
			}
			if cache := w.Header().Get("Cache-Control"); cache != "no-store" && !strings.HasPrefix(route.Path, "/static/") {
				t.Errorf("%s %s: Cache-Control %q", route.Method, route.Path, cache)
			}
			if w.Code >= 500 {
				t.Errorf("%s %s: status %d", route.Method, route.Path, w.Code)
			}
		}
	}
}

func TestReadingRoutesAnswerAfterTheLogin(t *testing.T) {
	t.Parallel()
	b := newBench(t, ordinary("act_1", "ls"))
	b.gate.records = []audit.Record{{Seq: 1, Tenant: tenant, Event: "suspended", At: start, Action: "act_1"}}
	g := shownGrant()
	g.ID, g.Source = "act_1", "act_1" // the paths here have one id
	b.gate.grants = []action.StandingGrant{g}
	for _, route := range web.Routes() {
		if route.Method != http.MethodGet || strings.HasPrefix(route.Path, "/login") {
			continue
		}
		if w := b.get(concrete(route)); w.Code != http.StatusOK {
			t.Errorf("GET %s = %d; want 200", route.Path, w.Code)
		}
		r := b.request(http.MethodHead, concrete(route), nil)
		if w := b.send(r); w.Code != http.StatusOK {
			t.Errorf("HEAD %s = %d; want 200", route.Path, w.Code)
		}
	}
}

func TestEveryRouteButTheOpenOnesNeedsALogin(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.cookie = ""
	paths := []web.Route{{Method: http.MethodGet, Path: "/nowhere"}, {Method: http.MethodPost, Path: "/nowhere"},
		{Method: http.MethodGet, Path: "/actions/unknown"}, {Method: http.MethodPost, Path: "/actions/unknown/approve"}}
	for _, route := range append(paths, web.Routes()...) {
		w := b.send(b.request(route.Method, concrete(route), url.Values{}))
		switch {
		case route.Open:
			if w.Code == http.StatusSeeOther {
				t.Errorf("%s %s asks for a login", route.Method, route.Path)
			}
		case route.Method == http.MethodGet:
			if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/login") {
				t.Errorf("GET %s = %d to %q; want the login", route.Path, w.Code, w.Header().Get("Location"))
			}
		default:
			if w.Code != http.StatusForbidden {
				t.Errorf("POST %s = %d; want 403, like every other", route.Path, w.Code)
			}
		}
	}
}

func TestOtherMethodsAreRefusedOnEveryRoute(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	for _, route := range web.Routes() {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
			if slices.ContainsFunc(web.Routes(), func(r web.Route) bool { return r.Path == route.Path && r.Method == method }) {
				continue
			}
			w := b.send(b.request(method, concrete(route), url.Values{}))
			if w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s %s = %d; want a refusal", method, route.Path, w.Code)
			}
		}
	}
	if n := b.gate.counted(); n != 0 {
		t.Errorf("%d votes were counted", n)
	}
}

func TestWithoutAnAccountEveryPageSaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	b := emptyBench(t, payment("act_1"))
	for _, route := range web.Routes() {
		if route.Path == "/healthz" || strings.HasPrefix(route.Path, "/static/") {
			continue
		}
		w := b.send(b.request(route.Method, concrete(route), url.Values{}))
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "verbatim setup") {
			t.Errorf("%s %s = %d without the hint", route.Method, route.Path, w.Code)
		}
	}
}

func TestWhatBelongsToOthersLooksLikeWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	foreign := payment("act_9")
	foreign.Tenant = "other"
	b := newBench(t, foreign)
	b.gate.records = []audit.Record{{Seq: 7, Tenant: "other", Event: "suspended", Action: "act_9", At: start}}
	want := b.get("/nowhere")
	for _, path := range []string{"/actions/act_9", "/actions/unknown", "/records/7", "/records/8", "/records/x", "/records/07", "/records/-1",
		"/records/9223372036854775807"} {
		w := b.get(path)
		if w.Code != http.StatusNotFound || w.Body.String() != want.Body.String() {
			t.Errorf("GET %s = %d; want the same page as for nothing", path, w.Code)
		}
	}
	for _, path := range []string{"/", "/actions", "/records"} {
		if page := b.get(path).Body.String(); strings.Contains(page, "act_9") || strings.Contains(page, "VENDOR-001") {
			t.Errorf("GET %s shows another tenant's action", path)
		}
	}
}

func TestLoginLeadsToOwnPagesOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cookie = ""
	for next, want := range map[string]string{
		"/actions/act_1": "/actions/act_1", "/actions?state=denied": "/actions?state=denied", "/records": "/records", "": "/", "/": "/",
		"https://evil.example/actions": "/", "//evil.example/actions": "/", `/\evil.example/actions`: "/", "/actionsX": "/",
		"javascript:alert(1)": "/", "/logout": "/", "/actions/\r\nSet-Cookie: a=b": "/", "/actions/#x": "/", "/static/style.css": "/",
	} {
		page := b.get("/login?" + url.Values{"next": {next}}.Encode()).Body.String()
		if got := html.UnescapeString(field(t, page, "next")); got != want {
			t.Errorf("the form for next %q leads to %q; want %q", next, got, want)
		}
	}
	for next, want := range map[string]string{"/records": "/records", "//evil.example/actions": "/"} {
		w := b.post("/login", url.Values{"name": {"Alice"}, "password": {password}, "next": {next}})
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != want {
			t.Errorf("login with next %q = %d to %q; want %q", next, w.Code, got, want)
		}
	}
}

func TestLoginSetsAStrictCookieAndLogoutEndsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cookie = ""
	w := b.post("/login", url.Values{"name": {"alice"}, "password": {password}, "next": {"/"}})
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("login = %d with %d cookies", w.Code, len(cookies))
	}
	c := cookies[0]
	if c.Name != "verbatim" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie = %v", c)
	}
	b.cookie = c.Value
	inbox := b.get("/").Body.String()
	if w := b.post("/logout", url.Values{"token": {"made up"}}); w.Code != http.StatusBadRequest {
		t.Errorf("logout with a made-up token = %d; want 400", w.Code)
	}
	if w := b.post("/logout", url.Values{"token": {field(t, inbox, "token")}}); w.Code != http.StatusSeeOther {
		t.Errorf("logout = %d; want 303", w.Code)
	}
	if w := b.get("/"); w.Code != http.StatusSeeOther {
		t.Errorf("inbox after logout = %d; want 303", w.Code)
	}
}

func TestCookieOverTLSIsBoundToTheHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	site, err := web.New(web.Config{Gate: b.gate, People: b.accounts, Tools: tools, Origin: "https://approve.example.com", Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"name": {"Alice"}, "password": {password}, "next": {"/"}}
	r := httptest.NewRequest(http.MethodPost, "https://approve.example.com/login", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://approve.example.com")
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Host-verbatim" || !cookies[0].Secure || cookies[0].Path != "/" || cookies[0].Domain != "" {
		t.Errorf("login = %d, cookies %v", w.Code, cookies)
	}
	if w.Header().Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestWrongLoginsAreAlikeAndThrottled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cookie = ""
	try := func(name string) *httptest.ResponseRecorder {
		return b.post("/login", url.Values{"name": {name}, "password": {"wrong password"}, "next": {"/"}})
	}
	known, unknown := try("Alice"), try("Nobody")
	if known.Code != http.StatusForbidden || unknown.Code != http.StatusForbidden {
		t.Errorf("wrong logins = %d and %d; want 403", known.Code, unknown.Code)
	}
	if strings.ReplaceAll(known.Body.String(), "Alice", "Nobody") != unknown.Body.String() {
		t.Error("the answer tells whether a name exists")
	}
	try("Alice")
	try("Alice")
	w := try("Alice")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("fourth guess = %d, Retry-After %q; want 429 and 1", w.Code, w.Header().Get("Retry-After"))
	}
}

func TestFailingEngineShowsNoDetails(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.fail = errors.New("secret detail of the database")
	for _, path := range []string{"/", "/actions", "/actions/act_1", "/records", "/records/1"} {
		if w := b.get(path); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret detail") {
			t.Errorf("GET %s = %d: %s", path, w.Code, w.Body)
		}
	}
}

func TestWhoMistypesAPasswordIsNotShownAsSignedIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cookie = ""
	page := b.post("/login", url.Values{"name": {"Alice"}, "password": {"not this one"}, "next": {"/"}}).Body.String()
	if strings.Contains(page, "/logout") || !strings.Contains(page, `value="Alice"`) {
		t.Error("the page after a wrong password looks like one after a sign-in")
	}
}
