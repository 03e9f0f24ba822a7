package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seed-de4804fb/verbatim/auth"
)

type loginView struct {
	base
	Next  string
	Typed string // the name, after a mistake
	Error string
	Done  string
	// Passkey is nil where browsers make none for this page.
	Passkey  *signInView
	Provider string // identity provider; "" if there is none
	// Outside says that a link from elsewhere led here: browsers leave the
	// cookie of a login out then.
	Outside bool
}

func (s *site) loginPage(w http.ResponseWriter, r *http.Request, v visit) {
	next := safeNext(r.URL.Query().Get("next"))
	if v.account.ID != "" {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return
	}
	if s.noAccounts(w, r) {
		return
	}
	s.render(w, http.StatusOK, "login", s.loginView(r, next))
}

func (s *site) loginView(r *http.Request, next string) loginView {
	return loginView{base: s.base(visit{}, "Sign in", ""), Next: next, Passkey: s.signInWith(), Provider: s.providerName(),
		Outside: r.Method == http.MethodGet && next != "/" && r.Header.Get("Sec-Fetch-Site") == "cross-site"}
}

func (s *site) logIn(w http.ResponseWriter, r *http.Request, v visit) {
	if s.noAccounts(w, r) {
		return
	}
	fields, err := readForm(r, "name", "password", "next")
	if err != nil {
		s.badForm(w, v)
		return
	}
	page := s.loginView(r, safeNext(fields["next"]))
	page.Typed = typed(fields["name"])
	token, _, err := s.people.Login(r.Context(), fields["name"], fields["password"])
	if status, text := refusal(w, err); status != 0 {
		page.Error = text
		s.render(w, status, "login", page)
		return
	}
	s.welcome(w, r, v, token, page.Next, err)
}

// refusal returns what to tell a person whose password was not accepted, or
// 0 for every other error.
func refusal(w http.ResponseWriter, err error) (status int, text string) {
	var throttled *auth.ThrottledError
	switch {
	case errors.As(err, &throttled):
		seconds := strconv.Itoa(int(throttled.Wait.Seconds()))
		w.Header().Set("Retry-After", seconds)
		return http.StatusTooManyRequests, "Too many failed attempts. Wait " + seconds + " s, then try again."
	case errors.Is(err, auth.ErrCredentials):
		return http.StatusForbidden, "The name or the password is wrong."
	default:
		return 0, ""
	}
}

func (s *site) logOut(w http.ResponseWriter, r *http.Request, v visit) {
	fields, err := readForm(r, "token")
	if err != nil || !s.ownForm(v, fields["token"], "logout") {
		s.badForm(w, v)
		return
	}
	if s.people.Logout(r.Context(), v.cookie) != nil {
		s.broken(w, v)
		return
	}
	http.SetCookie(w, s.cookie(""))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// noAccounts tells whoever asks before the first account exists how to make
// one.
func (s *site) noAccounts(w http.ResponseWriter, r *http.Request) bool {
	n, err := s.people.Count(r.Context())
	switch {
	case err != nil:
		s.broken(w, visit{})
	case n == 0 && s.provider == nil:
		s.render(w, http.StatusServiceUnavailable, "setup", s.base(visit{}, "Set up first", ""))
	default:
		return false
	}
	return true
}

// providerName is how people know the identity provider, or "".
func (s *site) providerName() string {
	if s.provider == nil {
		return ""
	}
	at, err := url.Parse(s.provider.Issuer())
	if err != nil {
		return s.provider.Issuer()
	}
	return at.Host
}
