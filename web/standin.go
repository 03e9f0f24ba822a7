package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
)

// Purposes of the forms with which people stand in for each other.
const (
	toDelegate      = "delegate"
	toEndDelegation = "end_delegation"
)

// person is who asks as far as votes care, with those whom they stand in for.
func (v visit) person() action.Person {
	p := person(v.account)
	for _, other := range v.standsFor {
		p.For = append(p.For, person(other))
	}
	return p
}

// inPlaceOf names those whom a vote of this person would need, or "".
func (v visit) inPlaceOf(a action.Action) string {
	if a.Terms == nil {
		return ""
	}
	var names []string
	for _, id := range approval.StandsFor(*a.Terms, approval.ProposerOf(a), v.person()) {
		for _, other := range v.standsFor {
			if other.ID == id {
				names = append(names, other.Name)
			}
		}
	}
	return strings.Join(names, " or ")
}

// awayView is the part of the account page about standing in.
type awayView struct {
	Others  []personView
	Confirm confirmView
	Now     []delegationView
}

type delegationView struct {
	ID      string
	From    string
	To      string
	Reason  string
	Starts  moment
	Ends    moment
	Begun   bool
	Confirm confirmView
}

func (s *site) away(r *http.Request, c confirming) (awayView, error) {
	people, err := s.people.List(r.Context(), c.v.account.Tenant)
	all, errAll := s.people.Delegations(r.Context(), c.v.account.Tenant)
	if err := errors.Join(err, errAll); err != nil {
		return awayView{}, err
	}
	var view awayView
	names := map[string]string{}
	for _, a := range people {
		names[a.ID] = a.Name
		if a.Active && a.ID != c.v.account.ID {
			view.Others = append(view.Others, personOf(s, c.v, a))
		}
	}
	for _, d := range all {
		if d.Delegator == c.v.account.ID || d.Delegate == c.v.account.ID {
			view.Now = append(view.Now, delegationView{ID: d.ID, From: names[d.Delegator], To: names[d.Delegate], Reason: d.Reason,
				Starts: s.when(d.StartsAt), Ends: s.when(d.EndsAt), Begun: !s.now().Before(d.StartsAt),
				Confirm: s.confirm(c, "end-"+d.ID, "Your password", func(nonce string) []byte {
					return auth.Challenge(toEndDelegation, d.ID, nonce)
				}, toEndDelegation, d.ID)})
		}
	}
	view.Confirm = s.confirm(c, "delegate-password", "Your password", func(nonce string) []byte {
		return auth.Challenge(toDelegate, c.v.account.ID, nonce)
	}, toDelegate)
	return view, nil
}

func (s *site) delegate(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "to", "starts", "hours", "why")
	starts, errStarts := strconv.Atoi(strings.TrimSpace(c.fields["starts"]))
	hours, errHours := strconv.Atoi(strings.TrimSpace(c.fields["hours"]))
	if errors.Join(err, errStarts, errHours) != nil || starts < 0 || hours < 0 || max(starts, hours) > maxHours || !s.own(c, toDelegate) {
		s.badForm(w, v)
		return
	}
	from := s.now().Add(time.Duration(starts) * time.Hour)
	if err = s.prove(r.Context(), c, toDelegate, v.account.ID); err == nil {
		_, err = s.people.Delegate(r.Context(), v.account, c.fields["to"], from, from.Add(time.Duration(hours)*time.Hour), c.fields["why"])
	}
	s.accountDone(w, r, v, err, "delegated")
}

// maxHours keeps numbers of hours from being too large to count with.
const maxHours = 24 * 365

func (s *site) endDelegation(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "delegation")
	if err != nil || !s.own(c, toEndDelegation, c.fields["delegation"]) {
		s.badForm(w, v)
		return
	}
	if err = s.prove(r.Context(), c, toEndDelegation, c.fields["delegation"]); err == nil {
		err = s.people.EndDelegation(r.Context(), v.account, c.fields["delegation"])
	}
	s.accountDone(w, r, v, err, "delegation_ended")
}
