package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
)

const toJoin = "join"

// joinView asks for the code of an invitation; joiningView lets its owner make
// their account.
type joinView struct {
	base
	Error string
}

type joiningView struct {
	base
	Code   string
	By     string
	Tenant string
	Groups []string
	Until  moment
	ID     string // of the account to come
	Nonce  string
	Issued string
	Token  string
	Typed  string // the name, after a mistake
	Label  string
	Error  string
	CanAdd bool // browsers make passkeys for this page
	RPID   string
	New    string // challenge of the new passkey
	User   string
}

func (s *site) joinPage(w http.ResponseWriter, r *http.Request, _ visit) {
	if s.noAccounts(w, r) {
		return
	}
	s.render(w, http.StatusOK, "join", joinView{base: s.base(visit{}, "Join", "")})
}

// join shows what a code invites to. The code travels in a form, never in an
// address.
func (s *site) join(w http.ResponseWriter, r *http.Request, v visit) {
	if s.noAccounts(w, r) {
		return
	}
	fields, err := readForm(r, "code")
	if err != nil {
		s.badForm(w, v)
		return
	}
	s.showJoining(w, r, http.StatusOK, joiningView{Code: fields["code"]})
}

// showJoining makes the form of an invitation, or says that there is none.
func (s *site) showJoining(w http.ResponseWriter, r *http.Request, status int, page joiningView) {
	i, err := s.people.Invited(r.Context(), page.Code)
	if errors.Is(err, auth.ErrNoInvitation) {
		s.render(w, http.StatusForbidden, "join", joinView{base: s.base(visit{}, "Join", ""),
			Error: "There is no such invitation. It may be over, withdrawn or used already: ask for another one."})
		return
	}
	by, errBy := s.people.ByID(r.Context(), i.By)
	if err != nil || errBy != nil {
		s.broken(w, visit{})
		return
	}
	page.base, page.By, page.Tenant, page.Groups, page.Until = s.base(visit{}, "Join", ""), by.Name, i.Tenant, i.Groups, s.when(i.ExpiresAt)
	page.ID, page.Nonce, page.Issued = auth.NewAccountID(), auth.NewNonce(), strconv.FormatInt(s.now().Unix(), 10)
	page.Token = s.formToken(visit{}, toJoin, page.Code, page.ID, page.Nonce, page.Issued)
	page.CanAdd, page.RPID = s.passkeys.Origin() != "", s.passkeys.RPID()
	page.New, page.User = encode(challengeBytes(page.Nonce)), encode([]byte(page.ID))
	s.render(w, status, "joining", page)
}

var joinFields = []string{"token", "code", "id", "nonce", "issued", "name", "password", "again"}

// joinWithPasskey makes the account with a passkey, and a password if one was
// typed.
func (s *site) joinWithPasskey(w http.ResponseWriter, r *http.Request, v visit) {
	if s.noAccounts(w, r) {
		return
	}
	fields, err := readForm(r, append([]string{"label", "new_credential", "new_client", "new_attestation"}, joinFields...)...)
	if err != nil {
		s.badForm(w, v)
		return
	}
	var made passkey.Created
	for name, into := range map[string]*[]byte{"new_credential": &made.ID, "new_client": &made.ClientData, "new_attestation": &made.Attestation} {
		if *into, err = decode(fields[name]); err != nil || len(*into) == 0 {
			s.badForm(w, v)
			return
		}
	}
	s.makeAccount(w, r, v, fields, made)
}

// joinWithPassword makes the account with a password alone.
func (s *site) joinWithPassword(w http.ResponseWriter, r *http.Request, v visit) {
	if s.noAccounts(w, r) {
		return
	}
	fields, err := readForm(r, joinFields...)
	if err != nil {
		s.badForm(w, v)
		return
	}
	s.makeAccount(w, r, v, fields, passkey.Created{})
}

func (s *site) makeAccount(w http.ResponseWriter, r *http.Request, v visit, fields map[string]string, made passkey.Created) {
	if !s.ownForm(visit{}, fields["token"], toJoin, fields["code"], fields["id"], fields["nonce"], fields["issued"]) {
		s.badForm(w, v)
		return
	}
	page := joiningView{Code: fields["code"], Typed: typed(fields["name"]), Label: typed(fields["label"])}
	if fields["password"] != fields["again"] {
		page.Error = "The two passwords differ. Nothing was made."
		s.showJoining(w, r, http.StatusUnprocessableEntity, page)
		return
	}
	_, err := s.people.Join(r.Context(), s.passkeys, auth.Joining{Code: fields["code"], ID: fields["id"], Name: fields["name"],
		Password: fields["password"], Nonce: fields["nonce"], Label: fields["label"], Created: made})
	if text := joinRefusal(err); text != "" {
		page.Error = text
		s.showJoining(w, r, http.StatusUnprocessableEntity, page)
		return
	}
	if err != nil && !errors.Is(err, auth.ErrNoInvitation) {
		s.broken(w, v)
		return
	}
	if err != nil {
		s.showJoining(w, r, http.StatusForbidden, page) // says that there is none
		return
	}
	login := s.loginView(r, "/")
	login.Done = "Your account is made. Sign in with it."
	login.Typed = typed(fields["name"])
	s.render(w, http.StatusOK, "login", login)
}

// joinRefusal is what to tell whoever makes an account, or "".
func joinRefusal(err error) string {
	for _, plain := range []error{auth.ErrName, auth.ErrNameTaken, auth.ErrPassword, auth.ErrNothingProves} {
		if errors.Is(err, plain) {
			return sentence(err) + " Nothing was made."
		}
	}
	for _, refused := range accountRefusals {
		if errors.Is(err, refused.err) {
			return refused.text + " Nothing was made."
		}
	}
	return ""
}
