package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
)

// confirmView is the part of a form with which a person proves, for this one
// form, who they are: a password, or a passkey that signs what the form is
// about.
type confirmView struct {
	Ident     string // of the field on the page
	Label     string
	Passkey   bool
	RPID      string
	Challenge string // base64url; "" where Vote is
	Vote      string // that the passkey signs, without the reason that is still to be written
	Allow     string // credential ids in base64url, with spaces
	Nonce     string
	Token     string
	Elsewhere bool // there is a passkey, but not for this page
	// ByLogin: the person's sign-in at the identity provider stands for them, if
	// it is Fresh.
	ByLogin bool
	Fresh   bool
	Proved  moment
}

// confirming is who confirms: the account with its passkeys.
type confirming struct {
	v        visit
	passkeys []auth.Credential
}

func (s *site) confirming(ctx context.Context, v visit) (confirming, error) {
	found, err := s.people.Passkeys(ctx, v.account.ID)
	return confirming{v, found}, err
}

func (c confirming) needsPasskey() bool { return len(c.passkeys) > 0 }

// allow lists the passkeys that work on this page.
func (s *site) allow(c confirming) string {
	var ids []string
	for _, p := range c.passkeys {
		if p.RPID == s.passkeys.RPID() {
			ids = append(ids, encode(p.ID))
		}
	}
	return strings.Join(ids, " ")
}

// confirm makes the part of a form. challenge gets the nonce, and is nil where
// a vote is what is signed; about is what the form's token binds beside it.
func (s *site) confirm(c confirming, ident, label string, challenge func(nonce string) []byte, about ...string) confirmView {
	view := confirmView{Ident: ident, Label: label, Passkey: c.needsPasskey()}
	if view.Passkey {
		view.Nonce, view.RPID, view.Allow = auth.NewNonce(), s.passkeys.RPID(), s.allow(c)
		if view.Elsewhere = view.Allow == ""; challenge != nil {
			view.Challenge = encode(challenge(view.Nonce))
		}
		about = append(about, view.Nonce)
	}
	s.byLogin(&view, c)
	view.Token = s.formToken(c.v, about...)
	return view
}

// confirmVote is confirm of a form that votes: a passkey signs the vote itself,
// with the reason that the page's script adds (approval.VotePayload).
func (s *site) confirmVote(c confirming, ident, label string, vote action.Vote, about ...string) confirmView {
	view := s.confirm(c, ident, label, nil, about...)
	if view.Passkey {
		vote.Voter, vote.Nonce = c.v.account.ID, view.Nonce
		view.Vote = string(approval.VotePayload(vote))
	}
	return view
}

// byLogin fills in what a form says to somebody whose sign-in stands for them.
func (s *site) byLogin(view *confirmView, c confirming) {
	view.ByLogin = c.byLogin()
	if view.ByLogin {
		view.Fresh, view.Proved = s.people.FreshFrom(c.v.login, c.v.account, auth.FreshLogin) == nil, s.when(c.v.login.Proved())
	}
}

// byPasskey are the fields that the page's script fills in.
var byPasskey = []string{"nonce", "credential", "client", "data", "signature"}

// confirmed is a form that came with a proof.
type confirmed struct {
	confirming
	fields map[string]string
	by     auth.Assertion
}

// readConfirmed reads exactly the named fields, the token and those of the
// proof that the account needs. It fails with errForm.
func (s *site) readConfirmed(r *http.Request, v visit, names ...string) (confirmed, error) {
	c, err := s.confirming(r.Context(), v)
	if err != nil {
		return confirmed{}, err
	}
	names = append(slices.Clone(names), "token")
	if c.byLogin() {
		fields, err := readForm(r, names...)
		return confirmed{confirming: c, fields: fields}, err
	}
	if !c.needsPasskey() {
		fields, err := readForm(r, append(names, "password")...)
		return confirmed{confirming: c, fields: fields}, err
	}
	fields, err := readForm(r, append(names, byPasskey...)...)
	if err != nil {
		return confirmed{}, err
	}
	by, err := readAssertion(fields)
	return confirmed{confirming: c, fields: fields, by: by}, err
}

func readAssertion(fields map[string]string) (by auth.Assertion, err error) {
	for name, into := range map[string]*[]byte{"credential": &by.CredentialID, "client": &by.ClientData,
		"data": &by.AuthenticatorData, "signature": &by.Signature} {
		if *into, err = decode(fields[name]); err != nil {
			return by, errForm
		}
	}
	return by, nil
}

// own reports whether the token of the form is one that this login was given
// for exactly this.
func (s *site) own(c confirmed, about ...string) bool {
	if c.needsPasskey() {
		about = append(about, c.fields["nonce"])
	}
	return s.ownForm(c.v, c.fields["token"], about...)
}

// prove checks the proof of a form that is no vote.
func (s *site) prove(ctx context.Context, c confirmed, purpose, subject string) error {
	if c.needsPasskey() {
		err := s.people.Assert(ctx, s.passkeys, c.v.account, auth.Challenge(purpose, subject, c.fields["nonce"]), c.by)
		if err == nil && !s.once.take(c.fields["nonce"], s.now(), c.v.login.ExpiresAt) {
			err = keys.ErrAssertion
		}
		return err
	}
	if c.byLogin() {
		return s.people.FreshFrom(c.v.login, c.v.account, auth.FreshLogin)
	}
	account, err := s.people.Check(ctx, c.v.account.Name, c.fields["password"])
	if err == nil && account.ID != c.v.account.ID {
		err = auth.ErrCredentials
	}
	return err
}

// unproved returns what to tell a person whose proof was not accepted, or 0
// for every other error.
func unproved(w http.ResponseWriter, err error) (status int, text string) {
	switch {
	case errors.Is(err, auth.ErrCloned):
		return http.StatusForbidden, "This passkey may have been copied: its counter went back. Remove it, and make a new one. Nothing was changed."
	case errors.Is(err, auth.ErrNoCredential), errors.Is(err, keys.ErrAssertion):
		return http.StatusForbidden, "The passkey did not confirm this. Nothing was changed."
	case errors.Is(err, auth.ErrOldLogin):
		return http.StatusForbidden, "Your sign-in is too old for this. Sign in again at your identity provider, and decide within five minutes. Nothing was changed."
	case errors.Is(err, auth.ErrPasskeyNeeded):
		return http.StatusForbidden, "You have a passkey: use it. Nothing was changed."
	}
	status, text = refusal(w, err)
	if status == http.StatusForbidden {
		text = "The password is wrong. Nothing was changed."
	}
	return status, text
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(text string) ([]byte, error) { return base64.RawURLEncoding.Strict().DecodeString(text) }
