package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
)

// purposes of form tokens.
const (
	toApprove = "approve"
	toReject  = "reject"
	toRevoke  = "revoke"
)

// ballot is one form on its way to a vote or a revocation.
type ballot struct {
	confirmed
	page   proposalView
	digest canon.Digest
}

func (s *site) approve(w http.ResponseWriter, r *http.Request, v visit) {
	b, ok := s.ballot(w, r, v, toApprove, "digest", "shown", "reason")
	if !ok {
		return
	}
	if !b.page.CanApprove || b.fields["shown"] != b.page.Shown {
		s.back(w, b.page, http.StatusConflict, "This proposal cannot be approved as it was shown. Nothing was changed.")
		return
	}
	comment, ok := approval.Reason(b.fields["reason"])
	if !ok {
		s.back(w, b.page, http.StatusUnprocessableEntity, badComment)
		return
	}
	s.cast(w, r, v, b, action.Vote{ActionID: b.page.ID, Approve: true, Reason: comment, Digest: b.digest})
}

// badComment refuses what was written beside a yes; there need not be anything.
const badComment = "A comment has at most 500 plain characters. Nothing was changed."

func (s *site) reject(w http.ResponseWriter, r *http.Request, v visit) {
	b, ok := s.ballot(w, r, v, toReject, "digest", "shown", "reason")
	if !ok {
		return
	}
	reason, ok := cleanReason(b.fields["reason"])
	if !ok {
		s.back(w, b.page, http.StatusUnprocessableEntity, "Say why you reject it, in at most 500 plain characters. Nothing was changed.")
		return
	}
	s.cast(w, r, v, b, action.Vote{ActionID: b.page.ID, Reason: reason, Digest: b.digest})
}

// ballot reads a form, finds its action and checks that the form is about
// exactly what the person was shown.
func (s *site) ballot(w http.ResponseWriter, r *http.Request, v visit, purpose string, names ...string) (ballot, bool) {
	c, err := s.readConfirmed(r, v, names...)
	if err != nil {
		s.badForm(w, v)
		return ballot{}, false
	}
	id := r.PathValue("id")
	digest, err := canon.ParseDigest(c.fields["digest"])
	if err != nil || !s.own(c, purpose, id, c.fields["digest"], c.fields["shown"]) {
		s.badForm(w, v)
		return ballot{}, false
	}
	page, ok := s.findProposal(w, r, v, c.fields["shown"] == shownAll)
	if !ok {
		return ballot{}, false
	}
	page.Wrote = map[string]string{purpose: typed(c.fields["reason"])}
	b := ballot{confirmed: c, page: page, digest: digest}
	switch {
	case page.digest != digest:
		s.back(w, page, http.StatusConflict, "This is not what you were shown when you decided. Nothing was changed. Read it again.")
	case purpose == toRevoke && page.Revoke == nil, purpose != toRevoke && page.Decide == nil:
		s.back(w, page, page.refusalStatus(), "That is not possible: "+page.WhyNot)
	default:
		return b, true
	}
	return ballot{}, false
}

// cast checks the password, or the passkey's signature, of this one vote and
// hands the vote in.
func (s *site) cast(w http.ResponseWriter, r *http.Request, v visit, b ballot, vote action.Vote) {
	signed, err := s.sign(r.Context(), v, b, vote)
	if status, text := unproved(w, err); status != 0 {
		s.back(w, b.page, status, text)
		return
	}
	if err != nil || signed.Voter != v.account.ID {
		s.broken(w, v)
		return
	}
	if _, err := s.gate.Vote(r.Context(), signed); err != nil {
		s.gateRefused(w, r, v, err)
		return
	}
	http.Redirect(w, r, actionPath(b.page.ID), http.StatusSeeOther)
}

func (s *site) sign(ctx context.Context, v visit, b ballot, vote action.Vote) (action.Vote, error) {
	if b.needsPasskey() {
		vote.Nonce = b.fields["nonce"]
		return s.people.SignVoteWith(ctx, s.passkeys, v.account, vote, b.by)
	}
	if b.byLogin() {
		return s.people.SignVoteAfter(ctx, v.login, v.account, vote)
	}
	return s.people.SignVote(ctx, v.account.Name, b.fields["password"], vote)
}

func (s *site) revoke(w http.ResponseWriter, r *http.Request, v visit) {
	b, ok := s.ballot(w, r, v, toRevoke, "digest", "shown", "reason")
	if !ok {
		return
	}
	reason, ok := cleanReason(b.fields["reason"])
	if !ok {
		s.back(w, b.page, http.StatusUnprocessableEntity, "Say why you withdraw it, in at most 500 plain characters. Nothing was changed.")
		return
	}
	err := s.prove(r.Context(), b.confirmed, toRevoke, b.page.ID)
	if status, text := unproved(w, err); status != 0 {
		s.back(w, b.page, status, text)
		return
	}
	if err != nil {
		s.broken(w, v)
		return
	}
	if _, err := s.gate.Revoke(r.Context(), v.account.Tenant, b.page.ID, v.account.ID, reason); err != nil {
		s.gateRefused(w, r, v, err)
		return
	}
	http.Redirect(w, r, actionPath(b.page.ID), http.StatusSeeOther)
}

// cleanReason is approval.Reason of what must not be empty.
func cleanReason(text string) (string, bool) {
	text, ok := approval.Reason(text)
	return text, ok && text != ""
}

// back shows the proposal again, as it is now, with what went wrong.
func (s *site) back(w http.ResponseWriter, page proposalView, status int, text string) {
	page.Error = text
	s.render(w, status, "proposal", page)
}

// gateRefusals says what each refusal of the engine means to a person.
var gateRefusals = []struct {
	err    error
	status int
	text   string
}{
	{action.ErrLate, http.StatusConflict, "The deadline has passed. Your decision was not counted."},
	{action.ErrDigest, http.StatusConflict, "The proposal is not what you were shown. Your decision was not counted."},
	{action.ErrVoted, http.StatusConflict, "You have decided on this already."},
	{action.ErrState, http.StatusConflict, "The action has moved on. Your decision was not counted."},
	{action.ErrIneligible, http.StatusForbidden, "You may not decide on this action. Your decision was not counted."},
	{action.ErrPasskey, http.StatusForbidden, "You have a passkey: decide with it. Your decision was not counted."},
	{action.ErrStepUp, http.StatusForbidden, "This action takes a fresh sign-in. Sign in again, then decide within five minutes. Your decision was not counted."},
	{action.ErrStopped, http.StatusConflict, "An operator has stopped this kind of action. Your decision was not counted."},
}

func (s *site) gateRefused(w http.ResponseWriter, r *http.Request, v visit, err error) {
	if errors.Is(err, action.ErrNotFound) {
		s.notFound(w, v)
		return
	}
	for _, refused := range gateRefusals {
		if !errors.Is(err, refused.err) {
			continue
		}
		if page, ok := s.findProposal(w, r, v, false); ok {
			s.back(w, page, refused.status, refused.text)
		}
		return
	}
	s.broken(w, v)
}

func actionPath(id string) string { return "/actions/" + url.PathEscape(id) }
