package daemon

import (
	"errors"
	"net/http"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Account is a person, without secrets.
type Account struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Principal string   `json:"principal"`
	Groups    []string `json:"groups"`
	Active    bool     `json:"active"`
}

// Accounts is a list of people.
type Accounts struct {
	Accounts []Account `json:"accounts"`
}

// NewAccount asks for an account. The first one needs no login; each later
// one needs name and password of an account that exists.
type NewAccount struct {
	Name      string   `json:"name"`
	Password  string   `json:"password"`
	Principal string   `json:"principal,omitempty"`
	Groups    []string `json:"groups,omitempty"`
	By        string   `json:"by,omitempty"`
	ByPass    string   `json:"byPassword,omitempty"`
}

// Ballot is a person's answer with the password that signs it, typed for
// this one answer.
type Ballot struct {
	Approve  bool   `json:"approve"`
	Digest   string `json:"digest"` // approvalDigest of what the person was shown
	Reason   string `json:"reason,omitempty"`
	Name     string `json:"name"`
	Password string `json:"password"`
}

// Settlement is a person's word on what became of an uncertain action.
type Settlement struct {
	Happened bool   `json:"happened"`
	Reason   string `json:"reason"` // why it is believed
	Name     string `json:"name"`
	Password string `json:"password"`
}

// Withdrawal ends an action that has not begun to run.
type Withdrawal struct {
	Reason   string `json:"reason"`
	Name     string `json:"name"`
	Password string `json:"password"`
}

func accountOf(a auth.Account) Account {
	groups := a.Groups
	if groups == nil {
		groups = []string{}
	}
	return Account{ID: a.ID, Name: a.Name, Principal: a.Principal, Groups: groups, Active: a.Active}
}

func (d *Daemon) accounts(r *http.Request) (any, error) {
	people, err := d.cfg.Accounts.List(r.Context(), d.cfg.Tenant)
	if err != nil {
		return nil, err
	}
	out := make([]Account, len(people))
	for i, p := range people {
		out[i] = accountOf(p)
	}
	return Accounts{out}, nil
}

func (d *Daemon) addAccount(r *http.Request) (any, error) {
	var n NewAccount
	if err := decodeBody(r, &n); err != nil {
		return nil, err
	}
	d.creating.Lock()
	defer d.creating.Unlock()
	people, err := d.cfg.Accounts.List(r.Context(), d.cfg.Tenant)
	if err != nil {
		return nil, err
	}
	if len(people) > 0 {
		if n.By == "" {
			return nil, refuse(http.StatusForbidden, "an account exists already; another one needs its name and password")
		}
		if err := d.mayAdd(r, n); err != nil {
			return nil, personRefusal(err)
		}
	}
	a, err := d.cfg.Accounts.Create(r.Context(), n.Name, n.Password, d.cfg.Tenant, n.Principal, n.Groups)
	if err != nil {
		return nil, personRefusal(err)
	}
	return accountOf(a), nil
}

// mayAdd checks who has an account made: as an invitation, it takes somebody
// who manages people.
func (d *Daemon) mayAdd(r *http.Request, n NewAccount) error {
	by, err := d.typedBy(r, n.By, n.ByPass)
	if err != nil {
		return err
	}
	may, err := d.cfg.Accounts.MayManage(r.Context(), by)
	if err == nil && !may {
		err = auth.ErrNotManager
	}
	return err
}

// managing are the refusals of changes of people.
var managing = []struct {
	err    error
	status int
}{
	{auth.ErrNotManager, http.StatusForbidden}, {auth.ErrOwnGroups, http.StatusForbidden}, {auth.ErrLast, http.StatusConflict},
	{auth.ErrNoAccount, http.StatusNotFound}, {auth.ErrNoInvitation, http.StatusNotFound}, {auth.ErrNoDelegation, http.StatusNotFound},
	{auth.ErrDelegation, http.StatusBadRequest}, {auth.ErrInvitationLife, http.StatusBadRequest},
}

// personRefusal words what auth refuses.
func personRefusal(err error) error {
	for _, m := range managing {
		if errors.Is(err, m.err) {
			return refuse(m.status, m.err.Error()+"; nothing was changed")
		}
	}
	var throttled *auth.ThrottledError
	switch {
	case errors.As(err, &throttled):
		return refuse(http.StatusTooManyRequests, throttled.Error())
	case errors.Is(err, auth.ErrCredentials):
		return refuse(http.StatusUnauthorized, auth.ErrCredentials.Error())
	case errors.Is(err, auth.ErrPasskeyNeeded):
		return refuse(http.StatusForbidden, auth.ErrPasskeyNeeded.Error()+"; decide on the page: verbatim open")
	case errors.Is(err, auth.ErrNameTaken):
		return refuse(http.StatusConflict, auth.ErrNameTaken.Error())
	case errors.Is(err, auth.ErrName), errors.Is(err, auth.ErrPassword), errors.Is(err, auth.ErrGroup):
		return refuse(http.StatusUnprocessableEntity, err.Error())
	default:
		return err
	}
}

// vote checks the password for this one answer, signs it and hands it in.
func (d *Daemon) vote(r *http.Request) (any, error) {
	var b Ballot
	if err := decodeBody(r, &b); err != nil {
		return nil, err
	}
	digest, err := canon.ParseDigest(b.Digest)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "digest must be that of the action as it was shown")
	}
	a, err := d.find(r)
	if err != nil {
		return nil, err
	}
	if a.Terms == nil || a.Terms.Digest != digest {
		return nil, refuse(http.StatusConflict, "the action is not what was shown; nothing was changed")
	}
	if why := d.whyNot(a); b.Approve && why != "" {
		return nil, refuse(http.StatusConflict, why)
	}
	reason, readable := approval.Reason(b.Reason)
	if !readable || !b.Approve && reason == "" {
		return nil, refuse(http.StatusBadRequest, "a rejection needs a reason, and a reason has at most 500 plain characters; nothing was changed")
	}
	signed, err := d.cfg.Accounts.SignVote(r.Context(), b.Name, b.Password,
		action.Vote{ActionID: a.ID, Approve: b.Approve, Reason: reason, Digest: digest})
	if err != nil {
		return nil, personRefusal(err)
	}
	moved, err := d.cfg.Gate.Vote(r.Context(), signed)
	if err != nil {
		return nil, voteRefusal(err)
	}
	return d.detail(r.Context(), moved)
}

// settle takes a person's word, after their own password, on what became of
// an uncertain action.
func (d *Daemon) settle(r *http.Request) (any, error) {
	var s Settlement
	if err := decodeBody(r, &s); err != nil {
		return nil, err
	}
	who, err := d.accountable(r, s.Name, s.Password, s.Reason)
	if err != nil {
		return nil, err
	}
	state := action.ReconciledFailed
	if s.Happened {
		state = action.ReconciledSucceeded
	}
	moved, err := d.cfg.Gate.Reconcile(r.Context(), d.cfg.Tenant,
		action.Reconciliation{ID: r.PathValue("id"), State: state, By: who.ID, Evidence: s.Reason})
	if err != nil {
		return nil, voteRefusal(err)
	}
	return d.detail(r.Context(), moved)
}

// revoke withdraws an action for a person, after their own password.
func (d *Daemon) revoke(r *http.Request) (any, error) {
	var w Withdrawal
	if err := decodeBody(r, &w); err != nil {
		return nil, err
	}
	who, err := d.accountable(r, w.Name, w.Password, w.Reason)
	if err != nil {
		return nil, err
	}
	moved, err := d.cfg.Gate.Revoke(r.Context(), d.cfg.Tenant, r.PathValue("id"), who.ID, w.Reason)
	if err != nil {
		return nil, voteRefusal(err)
	}
	return d.detail(r.Context(), moved)
}

// accountable checks who takes a decision that needs a reason.
func (d *Daemon) accountable(r *http.Request, name, password, reason string) (auth.Account, error) {
	if strings.TrimSpace(reason) == "" {
		return auth.Account{}, refuse(http.StatusUnprocessableEntity, "say why")
	}
	a, err := d.cfg.Accounts.Check(r.Context(), name, password)
	if err == nil && a.Tenant != d.cfg.Tenant {
		err = auth.ErrCredentials
	}
	if err != nil {
		return auth.Account{}, personRefusal(err)
	}
	return a, nil
}

var voteRefusals = []struct {
	err    error
	status int
}{
	{action.ErrNotFound, http.StatusNotFound},
	{action.ErrIneligible, http.StatusForbidden},
	{action.ErrLate, http.StatusConflict},
	{action.ErrDigest, http.StatusConflict},
	{action.ErrVoted, http.StatusConflict},
	{action.ErrState, http.StatusConflict},
	{action.ErrStepUp, http.StatusForbidden},
	{action.ErrPasskey, http.StatusForbidden},
	{action.ErrStopped, http.StatusConflict},
}

func voteRefusal(err error) error {
	for _, r := range voteRefusals {
		if errors.Is(err, r.err) {
			return refuse(r.status, r.err.Error()+"; nothing was changed")
		}
	}
	return err
}
