package idp_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/idp"
	"github.com/seed-de4804fb/verbatim/internal/idptest"
)

func TestMain(m *testing.M) { idptest.Main(m) }

const redirect = "http://localhost:8420/login/oidc/callback"

func provider(t *testing.T, s *idptest.Server, change func(*idp.Config)) *idp.Provider {
	t.Helper()
	c := idp.Config{Issuer: s.Issuer, Client: idptest.Client, Secret: idptest.Secret, Redirect: redirect, Scopes: []string{"profile"},
		Groups: map[string]string{"bookkeeping": "finance", "sre": "operator"}}
	if change != nil {
		change(&c)
	}
	p, err := idp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// through takes somebody through a sign-in.
func through(t *testing.T, s *idptest.Server, p *idp.Provider, fresh bool, subject string) (auth.Identity, error) {
	t.Helper()
	address, browser, err := p.Begin(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	return p.Finish(t.Context(), s.SignIn(address, subject).Query(), browser)
}

func TestProviderSaysWhoSignedIn(t *testing.T) {
	t.Parallel()
	s := idptest.Start(t)
	s.Person("u-1", "Ada Lovelace", "sre", "bookkeeping", "unknown", "sre")
	for _, fresh := range []bool{false, true} {
		who, err := through(t, s, provider(t, s, nil), fresh, "u-1")
		if err != nil {
			t.Fatal(err)
		}
		if who.Issuer != s.Issuer || who.Subject != "u-1" || !slices.Equal(who.Names, []string{"Ada Lovelace", "u-1"}) ||
			!slices.Equal(who.Groups, []string{"finance", "operator"}) || time.Since(who.ProvedAt) > time.Minute {
			t.Errorf("fresh %v: %+v", fresh, who)
		}
	}
}

func TestTokensThatAreWrongProveNobody(t *testing.T) {
	t.Parallel()
	s := idptest.Start(t)
	s.Person("u-1", "Ada", "bookkeeping")
	p := provider(t, s, nil)
	if len(idptest.Ways()) < 20 {
		t.Fatalf("only %d ways", len(idptest.Ways()))
	}
	for _, way := range idptest.Ways() {
		s.Wrong(way)
		if who, err := through(t, s, p, false, "u-1"); !errors.Is(err, idp.ErrRefused) {
			t.Errorf("%s: %+v, %v", way, who, err)
		}
	}
	for _, way := range []string{"no auth_time", "an old auth_time"} {
		s.Wrong(way)
		if _, err := through(t, s, p, true, "u-1"); !errors.Is(err, idp.ErrRefused) {
			t.Errorf("%s where a fresh sign-in was asked for: %v", way, err)
		}
		s.Wrong(way)
		if who, err := through(t, s, p, false, "u-1"); err != nil || time.Since(who.ProvedAt) < 59*time.Minute {
			t.Errorf("%s: %+v, %v", way, who, err)
		}
	}
	if _, err := through(t, s, p, true, "u-1"); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestAnswersAreTakenOnceByTheBrowserThatAsked(t *testing.T) {
	t.Parallel()
	s := idptest.Start(t)
	s.Person("u-1", "Ada", "bookkeeping")
	var moved atomic.Int64
	p := provider(t, s, func(c *idp.Config) { c.Now = func() time.Time { return time.Now().Add(time.Duration(moved.Load())) } })
	begin := func() (url.Values, string) {
		t.Helper()
		address, browser, err := p.Begin(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		return s.SignIn(address, "u-1").Query(), browser
	}
	refused := func(name string, q url.Values, browser string) {
		t.Helper()
		if who, err := p.Finish(t.Context(), q, browser); !errors.Is(err, idp.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	q, browser := begin()
	_, another := begin()
	refused("another browser", q, another)
	refused("no browser", q, "")
	if _, err := p.Finish(t.Context(), q, browser); err != nil {
		t.Fatalf("the browser that asked: %v", err)
	}
	refused("a second time", q, browser)
	for name, change := range map[string]func(url.Values){
		"another state":       func(q url.Values) { q.Set("state", "made up") },
		"no state":            func(q url.Values) { q.Del("state") },
		"two states":          func(q url.Values) { q.Add("state", "another") },
		"no code":             func(q url.Values) { q.Del("code") },
		"a made-up code":      func(q url.Values) { q.Set("code", "made up") },
		"another provider":    func(q url.Values) { q.Set("iss", "https://other.example.com") },
		"an error and a code": func(q url.Values) { q.Set("error", "access_denied") },
	} {
		q, browser := begin()
		change(q)
		refused(name, q, browser)
	}
	q, _ = begin()
	foreign, browser := begin()
	foreign.Set("code", q.Get("code"))
	refused("the code of another sign-in: PKCE", foreign, browser)
	q, browser = begin()
	moved.Store(int64(idp.FlowLife + time.Second))
	refused("too late", q, browser)
}

func TestClientsAndProvidersThatAreWrong(t *testing.T) {
	t.Parallel()
	s := idptest.Start(t)
	s.Person("u-1", "Ada", "bookkeeping")
	p := provider(t, s, func(c *idp.Config) { c.Secret = "another secret" })
	if _, err := through(t, s, p, false, "u-1"); !errors.Is(err, idp.ErrRefused) {
		t.Errorf("a wrong secret: %v", err)
	}
	away := provider(t, s, func(c *idp.Config) { c.Issuer = "http://localhost:1" })
	if _, _, err := away.Begin(t.Context(), false); !errors.Is(err, idp.ErrUnavailable) {
		t.Errorf("a provider that is away: %v", err)
	}
	liar := provider(t, s, func(c *idp.Config) {
		c.Issuer = "http://127.0.0.1" + s.Issuer[len("http://localhost"):]
	})
	if _, _, err := liar.Begin(t.Context(), false); !errors.Is(err, idp.ErrUnavailable) {
		t.Errorf("a provider that calls itself something else: %v", err)
	}
	good := idp.Config{Issuer: "https://id.example.com", Client: "c", Redirect: redirect, Groups: map[string]string{"a": "b"}, HTTP: http.DefaultClient}
	if _, err := idp.New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*idp.Config){
		"no issuer": func(c *idp.Config) { c.Issuer = "" }, "in the clear": func(c *idp.Config) { c.Issuer = "http://id.example.com" },
		"with a query": func(c *idp.Config) { c.Issuer += "?a" }, "with a user": func(c *idp.Config) { c.Issuer = "https://u@id.example.com" },
		"no client": func(c *idp.Config) { c.Client = "" }, "no groups": func(c *idp.Config) { c.Groups = nil }, "no redirect": func(c *idp.Config) { c.Redirect = "" },
	} {
		c := good
		change(&c)
		if _, err := idp.New(c); !errors.Is(err, idp.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
