package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Purposes of the forms that manage people.
const (
	toInvite   = "invite"
	toWithdraw = "withdraw_invitation"
	toGroups   = "change_groups"
	toShutOut  = "disable_account"
	toLetIn    = "enable_account"
)

type peopleView struct {
	base
	People  []personView
	Manages bool
	Open    []invitationView
	Invite  confirmView
	Code    string // of an invitation just made; it is shown once
	Until   moment
	Join    string // address where the code is typed
	Error   string
	Done    string
}

type personView struct {
	ID     string
	Name   string
	Groups []string
	Active bool
	You    bool
	By     string // identity provider; "" for an account of this server
	Since  moment
}

type invitationView struct {
	Token   string
	By      string
	Groups  []string
	Until   moment
	Confirm confirmView
}

// managedDone says what has just been done.
var managedDone = map[string]string{
	"withdrawn": "The invitation is withdrawn.",
	"groups":    "The groups were changed. They count from now on, also for votes that were given.",
	"disabled":  "The account is shut out. Its sign-ins are ended and its votes count no more.",
	"enabled":   "The account is let in again.",
}

func personOf(s *site, v visit, a auth.Account) personView {
	return personView{ID: a.ID, Name: a.Name, Groups: a.Groups, Active: a.Active, You: a.ID == v.account.ID, By: a.Issuer, Since: s.when(a.CreatedAt)}
}

func (s *site) persons(w http.ResponseWriter, r *http.Request, v visit) {
	s.showPeople(w, r, v, http.StatusOK, peopleView{Done: managedDone[r.URL.Query().Get("done")]})
}

// showPeople fills in who there is and, for whoever may manage them, what is
// open.
func (s *site) showPeople(w http.ResponseWriter, r *http.Request, v visit, status int, page peopleView) {
	all, err := s.people.List(r.Context(), v.account.Tenant)
	may, errMay := s.people.MayManage(r.Context(), v.account)
	c, errOwn := s.confirming(r.Context(), v)
	open, errOpen := s.people.Invitations(r.Context(), v.account.Tenant)
	if errors.Join(err, errMay, errOwn, errOpen) != nil {
		s.broken(w, v)
		return
	}
	page.base, page.Manages, page.Join = s.base(v, "People", "people"), may, s.origin.String()+"/join"
	names := map[string]string{}
	for _, a := range all {
		names[a.ID] = a.Name
		page.People = append(page.People, personOf(s, v, a))
	}
	if may {
		page.Invite = s.confirm(c, "invite-password", "Your password", func(nonce string) []byte {
			return auth.Challenge(toInvite, v.account.ID, nonce)
		}, toInvite)
		for _, i := range open {
			page.Open = append(page.Open, s.invitationView(c, i, names[i.By]))
		}
	}
	s.render(w, status, "people", page)
}

func (s *site) invitationView(c confirming, i auth.Invitation, by string) invitationView {
	token := i.Token.String()
	return invitationView{Token: token, By: by, Groups: i.Groups, Until: s.when(i.ExpiresAt),
		Confirm: s.confirm(c, "withdraw-"+token[:16], "Your password", func(nonce string) []byte {
			return auth.Challenge(toWithdraw, token, nonce)
		}, toWithdraw, token)}
}

// invite makes an invitation and shows its code, once.
func (s *site) invite(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "groups", "hours")
	hours, errHours := strconv.Atoi(strings.TrimSpace(c.fields["hours"]))
	if err != nil || errHours != nil || !s.own(c, toInvite) {
		s.badForm(w, v)
		return
	}
	var page peopleView
	var i auth.Invitation
	if err = s.prove(r.Context(), c, toInvite, v.account.ID); err == nil {
		page.Code, i, err = s.people.Invite(r.Context(), v.account, groupNames(c.fields["groups"]), time.Duration(hours)*time.Hour)
	}
	if err != nil {
		s.notManaged(w, r, v, err)
		return
	}
	page.Until = s.when(i.ExpiresAt)
	s.showPeople(w, r, v, http.StatusOK, page)
}

// groupNames are the names that somebody typed, with commas or spaces.
func groupNames(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

func (s *site) withdraw(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "invitation")
	token, errToken := canon.ParseDigest(c.fields["invitation"])
	if err != nil || errToken != nil || !s.own(c, toWithdraw, c.fields["invitation"]) {
		s.badForm(w, v)
		return
	}
	if err = s.prove(r.Context(), c, toWithdraw, token.String()); err == nil {
		err = s.people.Withdraw(r.Context(), v.account, token)
	}
	s.managed(w, r, v, err, "withdrawn")
}

type oneView struct {
	base
	Person  personView
	Manages bool
	Joined  string // the groups, to be changed
	Groups  confirmView
	Active  confirmView
	Path    string // of the form that lets in or out
}

func (s *site) onePerson(w http.ResponseWriter, r *http.Request, v visit) {
	a, err := s.people.ByID(r.Context(), r.PathValue("id"))
	if errors.Is(err, auth.ErrNoAccount) || err == nil && a.Tenant != v.account.Tenant {
		s.notFound(w, v)
		return
	}
	may, errMay := s.people.MayManage(r.Context(), v.account)
	c, errOwn := s.confirming(r.Context(), v)
	if errors.Join(err, errMay, errOwn) != nil {
		s.broken(w, v)
		return
	}
	page := oneView{base: s.base(v, a.Name, "people"), Person: personOf(s, v, a), Manages: may, Joined: strings.Join(a.Groups, ", "), Path: "disable"}
	purpose := toShutOut
	if !a.Active {
		purpose, page.Path = toLetIn, "enable"
	}
	if may {
		page.Groups = s.confirm(c, "groups-password", "Your password", func(nonce string) []byte { return auth.Challenge(toGroups, a.ID, nonce) }, toGroups, a.ID)
		page.Active = s.confirm(c, "active-password", "Your password", func(nonce string) []byte { return auth.Challenge(purpose, a.ID, nonce) }, purpose, a.ID)
	}
	s.render(w, http.StatusOK, "person", page)
}

func (s *site) changeGroups(w http.ResponseWriter, r *http.Request, v visit) {
	id := r.PathValue("id")
	c, err := s.readConfirmed(r, v, "groups")
	if err != nil || !s.own(c, toGroups, id) {
		s.badForm(w, v)
		return
	}
	if err = s.prove(r.Context(), c, toGroups, id); err == nil {
		err = s.people.SetGroups(r.Context(), v.account, id, groupNames(c.fields["groups"]))
	}
	s.managed(w, r, v, err, "groups")
}

func (s *site) shutOut(w http.ResponseWriter, r *http.Request, v visit) {
	s.setActive(w, r, v, toShutOut, false, "disabled")
}

func (s *site) letIn(w http.ResponseWriter, r *http.Request, v visit) {
	s.setActive(w, r, v, toLetIn, true, "enabled")
}

func (s *site) setActive(w http.ResponseWriter, r *http.Request, v visit, purpose string, active bool, done string) {
	id := r.PathValue("id")
	c, err := s.readConfirmed(r, v)
	if err != nil || !s.own(c, purpose, id) {
		s.badForm(w, v)
		return
	}
	if err = s.prove(r.Context(), c, purpose, id); err == nil {
		err = s.people.SetActive(r.Context(), v.account, id, active)
	}
	s.managed(w, r, v, err, done)
}

// managed leads back to the people, with what went wrong if something did.
func (s *site) managed(w http.ResponseWriter, r *http.Request, v visit, err error, done string) {
	if err != nil {
		s.notManaged(w, r, v, err)
		return
	}
	http.Redirect(w, r, "/people?"+url.Values{"done": {done}}.Encode(), http.StatusSeeOther)
}

func (s *site) notManaged(w http.ResponseWriter, r *http.Request, v visit, err error) {
	status, text := unproved(w, err)
	for _, plain := range []error{auth.ErrNotManager, auth.ErrLast, auth.ErrOwnGroups, auth.ErrGroup, auth.ErrInvitationLife, auth.ErrNoInvitation, auth.ErrNoAccount} {
		if errors.Is(err, plain) {
			status, text = http.StatusUnprocessableEntity, sentence(plain)+" Nothing was changed."
		}
	}
	if status == 0 {
		s.broken(w, v)
		return
	}
	s.showPeople(w, r, v, status, peopleView{Error: text})
}

// sentence words an error for a page.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
