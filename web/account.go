package web

import (
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
)

// Purposes of the forms of the account page, beside those of package auth.
const toChangePassword = "change_password"

type accountView struct {
	base
	Account  auth.Account
	Passkeys []passkeyView
	CanAdd   bool // browsers make passkeys for this page
	Add      addView
	Password confirmView
	Has      bool // a password
	Away     awayView
	Error    string
	Done     string
}

type passkeyView struct {
	Name    string
	ID      string // of the credential, base64url
	KeyID   string
	PEM     string
	Here    bool // valid on this page
	RPID    string
	Added   moment
	Used    moment
	Confirm confirmView
}

// addView is what the script needs to make a passkey.
type addView struct {
	confirmView
	NewChallenge string
	User         string
	Exclude      string
}

func (s *site) account(w http.ResponseWriter, r *http.Request, v visit) {
	s.showAccount(w, r, v, http.StatusOK, "", doneWords[r.URL.Query().Get("done")])
}

// doneWords say what has just been done.
var doneWords = map[string]string{
	"passkey_added":   "The passkey is yours. Your votes are signed with it from now on; your password makes none any more.",
	"passkey_removed": "The passkey was removed. Votes made with it that have not been used are void.",
	"password":        "Your password was changed.",

	"delegated":        "They decide in your place for that time. You may go on deciding yourself; the two of you count once.",
	"delegation_ended": "The delegation is over. Votes given by it count no more, unless their action has begun.",
}

func (s *site) showAccount(w http.ResponseWriter, r *http.Request, v visit, status int, problem, done string) {
	c, err := s.confirming(r.Context(), v)
	if err != nil {
		s.broken(w, v)
		return
	}
	page := accountView{base: s.base(v, "Your account", "account"), Account: v.account, CanAdd: s.passkeys.Origin() != "",
		Has: v.account.PasswordHash != "", Error: problem, Done: done}
	for _, p := range c.passkeys {
		page.Passkeys = append(page.Passkeys, s.passkeyView(c, p))
	}
	page.Add = s.addView(c)
	page.Password = s.confirm(c, "password-confirm", "Your password now", func(nonce string) []byte {
		return auth.Challenge(toChangePassword, v.account.ID, nonce)
	}, toChangePassword)
	if page.Away, err = s.away(r, c); err != nil {
		s.broken(w, v)
		return
	}
	s.render(w, status, "account", page)
}

func (s *site) passkeyView(c confirming, p auth.Credential) passkeyView {
	view := passkeyView{Name: p.Name, ID: encode(p.ID), Here: p.RPID == s.passkeys.RPID(), RPID: p.RPID, Added: s.when(p.CreatedAt), Used: s.when(p.UsedAt)}
	if public, err := p.Passkey(); err == nil {
		view.KeyID, view.PEM = public.KeyID(), string(public.PEM())
	}
	view.Confirm = s.confirm(c, "remove-"+view.ID, "", func(nonce string) []byte {
		return auth.Challenge(auth.ToRemovePasskey, view.ID, nonce)
	}, auth.ToRemovePasskey, view.ID)
	return view
}

// addView asks for a new passkey. Its challenge is a nonce of its own, which
// an existing passkey signs where there is one.
func (s *site) addView(c confirming) addView {
	nonce := auth.NewNonce()
	view := addView{confirmView: confirmView{Ident: "add-password", Label: "Your password", Passkey: c.needsPasskey(), Nonce: nonce, RPID: s.passkeys.RPID()},
		User: encode([]byte(c.v.account.ID)), NewChallenge: encode(challengeBytes(nonce)), Exclude: s.allow(c)}
	if view.Passkey {
		view.Allow, view.Challenge = s.allow(c), encode(auth.Challenge(auth.ToAddPasskey, c.v.account.ID, nonce))
		view.Elsewhere = view.Allow == ""
	}
	s.byLogin(&view.confirmView, c)
	view.Token = s.formToken(c.v, auth.ToAddPasskey, nonce)
	return view
}

func (s *site) addPasskey(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.confirming(r.Context(), v)
	if err != nil {
		s.broken(w, v)
		return
	}
	names := []string{"token", "name", "nonce", "new_credential", "new_client", "new_attestation"}
	if c.needsPasskey() {
		names = append(names, byPasskey[1:]...)
	} else if !c.byLogin() {
		names = append(names, "password")
	}
	fields, err := readForm(r, names...)
	if err != nil || !s.ownForm(v, fields["token"], auth.ToAddPasskey, fields["nonce"]) {
		s.badForm(w, v)
		return
	}
	n := auth.NewPasskey{Account: v.account, Name: fields["name"], Nonce: fields["nonce"], Password: fields["password"], Login: v.login}
	for name, into := range map[string]*[]byte{"new_credential": &n.Created.ID, "new_client": &n.Created.ClientData, "new_attestation": &n.Created.Attestation} {
		if *into, err = decode(fields[name]); err != nil {
			s.badForm(w, v)
			return
		}
	}
	if c.needsPasskey() {
		if n.By, err = readAssertion(fields); err != nil {
			s.badForm(w, v)
			return
		}
	}
	_, err = s.people.AddPasskey(r.Context(), s.passkeys, n)
	s.accountDone(w, r, v, err, "passkey_added")
}

func (s *site) removePasskey(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "id")
	if err != nil || !c.needsPasskey() || !s.own(c, auth.ToRemovePasskey, c.fields["id"]) {
		s.badForm(w, v)
		return
	}
	id, err := decode(c.fields["id"])
	if err != nil {
		s.badForm(w, v)
		return
	}
	err = s.people.RemovePasskey(r.Context(), s.passkeys, v.account, id, c.fields["nonce"], c.by)
	s.accountDone(w, r, v, err, "passkey_removed")
}

// changePassword replaces a password, after the proof that the account needs,
// and keeps the person signed in with a new login.
func (s *site) changePassword(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "new", "again")
	if err != nil || v.account.PasswordHash == "" || !s.own(c, toChangePassword) {
		s.badForm(w, v)
		return
	}
	if c.fields["new"] != c.fields["again"] {
		s.showAccount(w, r, v, http.StatusUnprocessableEntity, "The two new passwords differ. Nothing was changed.", "")
		return
	}
	if err = s.prove(r.Context(), c, toChangePassword, v.account.ID); err == nil {
		err = s.people.SetPassword(r.Context(), v.account.ID, c.fields["new"])
	}
	if err == nil {
		var token string
		if token, _, err = s.people.Login(r.Context(), v.account.Name, c.fields["new"]); err == nil {
			http.SetCookie(w, s.cookie(token))
		}
	}
	s.accountDone(w, r, v, err, "password")
}

var accountRefusals = []struct {
	err  error
	text string
}{
	{passkey.ErrRegistration, "The browser's answer is no new passkey for this page."},
	{auth.ErrCredentialTaken, "That passkey is registered already."},
	{auth.ErrPasskeyName, "Name the passkey with 1 to 64 plain characters."},
	{auth.ErrTooMany, "You have too many passkeys. Remove one first."},
	{auth.ErrDelegation, "Choose another active account, a time within 90 days, and say why."},
	{auth.ErrNoDelegation, "There is no such delegation, or it is over."},
}

// accountDone leads back to the account page, with what went wrong if
// something did.
func (s *site) accountDone(w http.ResponseWriter, r *http.Request, v visit, err error, done string) {
	if err == nil {
		http.Redirect(w, r, "/account?"+url.Values{"done": {done}}.Encode(), http.StatusSeeOther)
		return
	}
	status, text := unproved(w, err)
	for _, refused := range accountRefusals {
		if errors.Is(err, refused.err) {
			status, text = http.StatusUnprocessableEntity, refused.text+" Nothing was changed."
		}
	}
	if errors.Is(err, auth.ErrPassword) {
		status, text = http.StatusUnprocessableEntity, err.Error()+". Nothing was changed."
	}
	if status == 0 {
		s.broken(w, v)
		return
	}
	s.showAccount(w, r, v, status, text, "")
}

// challengeBytes are the bytes of a nonce of ours.
func challengeBytes(nonce string) []byte {
	raw, err := hex.DecodeString(nonce)
	if err != nil {
		return nil
	}
	return raw
}
