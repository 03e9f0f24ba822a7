package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/idp"
)

// CallbackPath is where an identity provider sends browsers back to.
const CallbackPath = "/login/oidc/callback"

// Provider signs people in elsewhere; [*idp.Provider] is one.
type Provider interface {
	Issuer() string
	Begin(ctx context.Context, fresh bool) (address, browser string, err error)
	Finish(ctx context.Context, query url.Values, browser string) (auth.Identity, error)
}

var _ Provider = (*idp.Provider)(nil)

// providerCookie binds a sign-in at the provider to the browser that began it.
// It must come along when the provider sends the browser back, so that it is
// lax where all others are strict.
func (s *site) providerCookie(value string) *http.Cookie {
	c := s.cookie(value)
	c.Name, c.SameSite = c.Name+"-idp", http.SameSiteLaxMode
	if value != "" {
		c.MaxAge = int(idp.FlowLife.Seconds())
	}
	return c
}

// toProvider sends a browser to the identity provider. With again, the person
// has to sign in there once more.
func (s *site) toProvider(w http.ResponseWriter, r *http.Request, v visit) {
	if s.provider == nil {
		s.noProvider(w, r, v)
		return
	}
	address, browser, err := s.provider.Begin(r.Context(), r.URL.Query().Get("again") != "")
	if err != nil {
		s.refuse(w, visit{}, http.StatusBadGateway, "The identity provider does not answer", "Nobody can sign in there at the moment. Try again in a while.")
		return
	}
	next := base64.RawURLEncoding.EncodeToString([]byte(safeNext(r.URL.Query().Get("next"))))
	http.SetCookie(w, s.providerCookie(browser+"."+next))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// fromProvider takes a browser back in. The page after it is opened by this
// one: browsers leave strict cookies out of what the provider leads to.
func (s *site) fromProvider(w http.ResponseWriter, r *http.Request, v visit) {
	if s.provider == nil {
		s.noProvider(w, r, v)
		return
	}
	browser, next := "", "/"
	if cookies := r.CookiesNamed(s.providerCookie("").Name); len(cookies) == 1 {
		var rest string
		browser, rest, _ = strings.Cut(cookies[0].Value, ".")
		if text, err := base64.RawURLEncoding.DecodeString(rest); err == nil {
			next = safeNext(string(text))
		}
	}
	http.SetCookie(w, s.providerCookie(""))
	who, err := s.provider.Finish(r.Context(), r.URL.Query(), browser)
	var token string
	if err == nil {
		token, _, err = s.people.LoginFrom(r.Context(), s.tenant, who)
	}
	if err != nil {
		s.providerRefused(w, r, err)
		return
	}
	http.SetCookie(w, s.cookie(token))
	w.Header().Set("Refresh", "0; url="+next)
	s.refuse(w, visit{}, http.StatusOK, "You are signed in", "The page opens by itself. If it does not, follow Verbatim at the top.")
}

func (s *site) noProvider(w http.ResponseWriter, r *http.Request, v visit) {
	if !s.noAccounts(w, r) {
		s.notFound(w, v)
	}
}

func (s *site) providerRefused(w http.ResponseWriter, r *http.Request, err error) {
	page := s.loginView(r, "/")
	for _, refused := range []struct {
		err  error
		text string
	}{
		{idp.ErrRefused, "The sign-in was not completed. Begin again."},
		{auth.ErrStranger, "The identity provider knows you, but puts you in no group that counts here. Ask whoever runs it."},
		{auth.ErrShutOut, "Your account is not active here."},
		{auth.ErrNoName, "Your name at the identity provider cannot be used here, or somebody has it already. Ask whoever runs this."},
	} {
		if errors.Is(err, refused.err) {
			page.Error = refused.text
			s.render(w, http.StatusForbidden, "login", page)
			return
		}
	}
	s.broken(w, visit{})
}

// byLogin reports whether a person's sign-in stands for their word: they have
// neither a passkey nor a password, but an identity provider.
func (c confirming) byLogin() bool {
	return !c.needsPasskey() && c.v.account.PasswordHash == "" && c.v.account.Issuer != ""
}
