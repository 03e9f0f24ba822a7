package idp_test

import (
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/idp"
	"github.com/seed-de4804fb/verbatim/internal/idptest"
)

// certified is a client of a provider that we did not write.
func certified(t *testing.T, c *idptest.Certified, change func(*idp.Config)) *idp.Provider {
	t.Helper()
	return provider(t, &idptest.Server{Issuer: c.Issuer}, change)
}

// arrives takes somebody through a sign-in there, and says what they were
// asked.
func arrives(t *testing.T, c *idptest.Certified, p *idp.Provider, fresh bool, subject string) (auth.Identity, []string, error) {
	t.Helper()
	address, browser, err := p.Begin(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	back, asked := c.SignIn(address, subject)
	who, err := p.Finish(t.Context(), back.Query(), browser)
	return who, asked, err
}

func TestACertifiedProviderSaysWhoSignedIn(t *testing.T) {
	t.Parallel()
	c := idptest.StartCertified(t, redirect, map[string]idptest.Person{"u-1": {Name: "Ada Lovelace", Groups: []string{"sre", "bookkeeping", "unknown"}}})
	p := certified(t, c, nil)
	var first auth.Identity
	for _, step := range []struct {
		name  string
		fresh bool
		asks  bool // to sign in
	}{{"the first time", false, true}, {"still signed in there", false, false}, {"where a fresh sign-in is asked for", true, true}} {
		who, asked, err := arrives(t, c, p, step.fresh, "u-1")
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if slices.Contains(asked, "login") != step.asks {
			t.Errorf("%s: the provider asks for %q", step.name, asked)
		}
		if who.Issuer != c.Issuer || who.Subject != "u-1" || !slices.Equal(who.Names, []string{"Ada Lovelace", "u-1"}) || !slices.Equal(who.Groups, []string{"finance", "operator"}) {
			t.Errorf("%s: %+v", step.name, who)
		}
		if time.Since(who.ProvedAt) > time.Minute || !step.asks && !who.ProvedAt.Equal(first.ProvedAt) {
			t.Errorf("%s: proved at %s, at first at %s", step.name, who.ProvedAt, first.ProvedAt)
		}
		if first.Subject == "" {
			first = who
			time.Sleep(1100 * time.Millisecond) // the provider counts whole seconds
		}
	}
}

// TestACertifiedProviderIsBelievedOnlyForWhatItSaid changes what the browser
// brings back, and who asks.
func TestACertifiedProviderIsBelievedOnlyForWhatItSaid(t *testing.T) {
	t.Parallel()
	c := idptest.StartCertified(t, redirect, map[string]idptest.Person{"u-1": {Name: "Ada", Groups: []string{"sre"}}, "u-2": {Name: "Eve", Groups: []string{"kitchen"}}})
	p := certified(t, c, nil)
	answer := func() (url.Values, string) {
		t.Helper()
		address, browser, err := p.Begin(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		back, _ := c.SignIn(address, "u-1")
		return back.Query(), browser
	}
	other, _ := answer()
	for name, change := range map[string]func(url.Values){
		"a code of another sign-in": func(q url.Values) { q.Set("code", other.Get("code")) },
		"no code":                   func(q url.Values) { q.Del("code") },
		"an invented code":          func(q url.Values) { q.Set("code", "x") },
		"another issuer":            func(q url.Values) { q.Set("iss", "https://other.example.com") },
		"another state":             func(q url.Values) { q.Set("state", other.Get("state")) },
	} {
		q, browser := answer()
		change(q)
		if who, err := p.Finish(t.Context(), q, browser); !errors.Is(err, idp.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	q, browser := answer()
	if who, err := p.Finish(t.Context(), q, browser); err != nil || who.Subject != "u-1" {
		t.Errorf("a good answer: %+v, %v", who, err)
	}
	if who, err := p.Finish(t.Context(), q, browser); !errors.Is(err, idp.ErrRefused) {
		t.Errorf("the same answer again: %+v, %v", who, err)
	}
	wrong := certified(t, c, func(c *idp.Config) { c.Secret = "another secret" })
	if who, _, err := arrives(t, c, wrong, false, "u-1"); !errors.Is(err, idp.ErrRefused) {
		t.Errorf("with another client secret: %+v, %v", who, err)
	}
	c.AnotherBrowser()
	if who, _, err := arrives(t, c, p, false, "u-2"); err != nil || who.Subject != "u-2" || len(who.Groups) != 0 {
		t.Errorf("somebody of no group: %+v, %v", who, err)
	}
}
