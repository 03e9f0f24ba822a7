package daemon

import (
	"errors"
	"net/http"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Managing is one change of people, with the name and password of whoever
// makes it. Which fields count depends on the change.
type Managing struct {
	Name     string   `json:"name"`
	Password string   `json:"password"`
	Person   string   `json:"person,omitempty"` // name of the account it is about
	Groups   []string `json:"groups,omitempty"`
	Starts   int      `json:"starts,omitempty"` // hours from now
	Hours    int      `json:"hours,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	ID       string   `json:"id,omitempty"` // of an invitation or a delegation
}

// Invitation is one that is open, without its code.
type Invitation struct {
	ID      string   `json:"id"`
	By      string   `json:"by"`
	Groups  []string `json:"groups"`
	Expires string   `json:"expires"` // RFC 3339
}

// Delegation says who votes in whose place.
type Delegation struct {
	ID     string `json:"id"`
	For    string `json:"for"`
	By     string `json:"by"`
	Starts string `json:"starts"` // RFC 3339
	Ends   string `json:"ends"`   // RFC 3339
	Reason string `json:"reason"`
}

// People are the accounts of the home and what is open between them. Code is
// that of an invitation just made: it is told once.
type People struct {
	Accounts    []Account    `json:"accounts"`
	Invitations []Invitation `json:"invitations"`
	Delegations []Delegation `json:"delegations"`
	Code        string       `json:"code,omitempty"`
	Join        string       `json:"join,omitempty"` // where it is typed
}

func (d *Daemon) people(r *http.Request) (any, error) { return d.everybody(r, "") }

func (d *Daemon) everybody(r *http.Request, code string) (People, error) {
	ctx, out := r.Context(), People{Accounts: []Account{}, Invitations: []Invitation{}, Delegations: []Delegation{}, Code: code}
	all, err := d.cfg.Accounts.List(ctx, d.cfg.Tenant)
	open, errOpen := d.cfg.Accounts.Invitations(ctx, d.cfg.Tenant)
	standing, errStanding := d.cfg.Accounts.Delegations(ctx, d.cfg.Tenant)
	if err := errors.Join(err, errOpen, errStanding); err != nil {
		return out, err
	}
	if code != "" {
		out.Join = d.state.Page + "/join"
	}
	for _, a := range all {
		out.Accounts = append(out.Accounts, accountOf(a))
	}
	for _, i := range open {
		out.Invitations = append(out.Invitations, Invitation{i.Token.String(), d.nameOf(r, i.By), append([]string{}, i.Groups...), stamp(i.ExpiresAt)})
	}
	for _, x := range standing {
		out.Delegations = append(out.Delegations, Delegation{x.ID, d.nameOf(r, x.Delegator), d.nameOf(r, x.Delegate), stamp(x.StartsAt), stamp(x.EndsAt), x.Reason})
	}
	return out, nil
}

// manage makes one change for a person, after their own password. Who has a
// passkey makes it on the page.
func (d *Daemon) manage(r *http.Request) (any, error) {
	var m Managing
	if err := decodeBody(r, &m); err != nil {
		return nil, err
	}
	change, known := d.changes()[r.PathValue("do")]
	if !known {
		return nil, refuse(http.StatusNotFound, "there is no such change of people")
	}
	by, err := d.typedBy(r, m.Name, m.Password)
	if err != nil {
		return nil, personRefusal(err)
	}
	code, err := change(r, by, m)
	if err != nil {
		return nil, personRefusal(err)
	}
	return d.everybody(r, code)
}

// typedBy is the account whose own password was typed, unless it has a passkey
// that says more.
func (d *Daemon) typedBy(r *http.Request, name, password string) (auth.Account, error) {
	by, err := d.cfg.Accounts.Check(r.Context(), name, password)
	if err == nil && by.Tenant != d.cfg.Tenant {
		err = auth.ErrCredentials
	}
	if err != nil {
		return auth.Account{}, err
	}
	have, err := d.cfg.Accounts.Passkeys(r.Context(), by.ID)
	if err == nil && len(have) > 0 {
		err = auth.ErrPasskeyNeeded
	}
	return by, err
}

// changes are what may be changed about people.
func (d *Daemon) changes() map[string]func(r *http.Request, by auth.Account, m Managing) (code string, err error) {
	about := func(change func(r *http.Request, by auth.Account, m Managing, id string) error) func(*http.Request, auth.Account, Managing) (string, error) {
		return func(r *http.Request, by auth.Account, m Managing) (string, error) {
			id, err := d.called(r, m.Person)
			if err == nil {
				err = change(r, by, m, id)
			}
			return "", err
		}
	}
	people := d.cfg.Accounts
	return map[string]func(r *http.Request, by auth.Account, m Managing) (string, error){
		"invite": func(r *http.Request, by auth.Account, m Managing) (string, error) {
			code, _, err := people.Invite(r.Context(), by, m.Groups, time.Duration(m.Hours)*time.Hour)
			return code, err
		},
		"withdraw": func(r *http.Request, by auth.Account, m Managing) (string, error) {
			token, err := canon.ParseDigest(m.ID)
			if err != nil {
				return "", auth.ErrNoInvitation
			}
			return "", people.Withdraw(r.Context(), by, token)
		},
		"groups": about(func(r *http.Request, by auth.Account, m Managing, id string) error {
			return people.SetGroups(r.Context(), by, id, m.Groups)
		}),
		"disable": about(func(r *http.Request, by auth.Account, _ Managing, id string) error {
			return people.SetActive(r.Context(), by, id, false)
		}),
		"enable": about(func(r *http.Request, by auth.Account, _ Managing, id string) error {
			return people.SetActive(r.Context(), by, id, true)
		}),
		"delegate": about(func(r *http.Request, by auth.Account, m Managing, id string) error {
			if m.Starts < 0 || m.Hours < 0 || max(m.Starts, m.Hours) > maxHours {
				return auth.ErrDelegation
			}
			from := time.Now().Add(time.Duration(m.Starts) * time.Hour)
			_, err := people.Delegate(r.Context(), by, id, from, from.Add(time.Duration(m.Hours)*time.Hour), m.Reason)
			return err
		}),
		"undelegate": func(r *http.Request, by auth.Account, m Managing) (string, error) {
			return "", people.EndDelegation(r.Context(), by, m.ID)
		},
	}
}

// maxHours keeps numbers of hours from being too large to count with.
const maxHours = 24 * 365

// called finds an account by name, as people type it.
func (d *Daemon) called(r *http.Request, name string) (string, error) {
	all, err := d.cfg.Accounts.List(r.Context(), d.cfg.Tenant)
	for _, a := range all {
		if key := auth.FoldName(name); key != "" && a.Key == key {
			return a.ID, err
		}
	}
	if err == nil {
		err = auth.ErrNoAccount
	}
	return "", err
}
