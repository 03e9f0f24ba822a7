package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
)

// signInLife is how long a page that asks for a passkey is good.
const signInLife = 10 * time.Minute

// signInView is what the script needs to sign somebody in with a passkey.
type signInView struct {
	confirmView
	Issued string // when the page was made, Unix seconds
}

// signInWith asks for any passkey of this page. Nobody is known yet, so that
// the token binds nonce and time alone.
func (s *site) signInWith() *signInView {
	if s.passkeys.Origin() == "" {
		return nil
	}
	nonce := auth.NewNonce()
	v := &signInView{Issued: strconv.FormatInt(s.now().Unix(), 10)}
	v.confirmView = confirmView{Passkey: true, Nonce: nonce, RPID: s.passkeys.RPID(), Challenge: encode(auth.Challenge(auth.ToSignIn, "", nonce)),
		Token: s.formToken(visit{}, auth.ToSignIn, nonce, v.Issued)}
	return v
}

// logInWithPasskey starts a login for whoever the passkey belongs to.
func (s *site) logInWithPasskey(w http.ResponseWriter, r *http.Request, v visit) {
	if s.noAccounts(w, r) {
		return
	}
	fields, err := readForm(r, append([]string{"token", "issued", "next"}, byPasskey...)...)
	if err != nil || !s.ownForm(visit{}, fields["token"], auth.ToSignIn, fields["nonce"], fields["issued"]) || !s.recent(fields["issued"]) {
		s.badForm(w, v)
		return
	}
	by, err := readAssertion(fields)
	if err != nil {
		s.badForm(w, v)
		return
	}
	token, _, err := s.people.LoginWith(r.Context(), s.passkeys, fields["nonce"], by)
	if err == nil && !s.once.take(fields["nonce"], s.now(), s.now().Add(signInLife)) {
		err = errors.Join(keys.ErrAssertion, s.people.Logout(r.Context(), token))
	}
	page := s.loginView(r, safeNext(fields["next"]))
	if status, text := unproved(w, err); status != 0 {
		page.Error = text
		s.render(w, status, "login", page)
		return
	}
	s.welcome(w, r, v, token, page.Next, err)
}

// recent reports whether a page that was made then is still good.
func (s *site) recent(issued string) bool {
	at, err := strconv.ParseInt(issued, 10, 64)
	age := s.now().Sub(time.Unix(at, 0))
	return err == nil && age >= -time.Minute && age < signInLife
}

// welcome hands out the cookie of a new login and ends the one of before.
func (s *site) welcome(w http.ResponseWriter, r *http.Request, v visit, token, next string, err error) {
	if err != nil || v.cookie != "" && s.people.Logout(r.Context(), v.cookie) != nil {
		s.broken(w, v)
		return
	}
	http.SetCookie(w, s.cookie(token))
	http.Redirect(w, r, next, http.StatusSeeOther)
}
