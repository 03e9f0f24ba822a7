package web

import (
	"net/http"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
)

// Purposes of the forms that settle what is uncertain.
const (
	toSayItDid  = "reconcile_succeeded"
	toSayItDidn = "reconcile_failed"
)

// reconciling are the two forms that settle an uncertain action.
type reconciling struct{ Did, Didnt confirmView }

// settling offers to settle what is uncertain to those who may.
func (s *site) settling(p *proposalView, c confirming) {
	if p.Row.State != action.Uncertain {
		return
	}
	if !maySettle(p.Row, c.v.person()) {
		p.WhyNot = "it has high impact, so somebody who may approve it, or an operator who is not its owner, settles it."
		return
	}
	about := func(purpose string) (func(string) []byte, []string) {
		return func(nonce string) []byte { return auth.Challenge(purpose, p.ID, nonce) }, []string{purpose, p.ID, p.Hash}
	}
	did, didWords := about(toSayItDid)
	didnt, didntWords := about(toSayItDidn)
	p.Reconcile = &reconciling{
		Did:   s.confirm(c, "did-password", "Your password", did, didWords...),
		Didnt: s.confirm(c, "didnt-password", "Your password", didnt, didntWords...),
	}
	p.WhyNot = ""
}

// maySettle says who gets the forms; the engine decides again.
func maySettle(a action.Action, who action.Person) bool {
	if !a.HighImpact || a.Terms != nil && approval.Eligible(*a.Terms, approval.ProposerOf(a), who) == nil {
		return true
	}
	return !owns(a, who) && who.In(action.GroupOperator)
}

// verdicts are what a person can say about an uncertain action.
var verdicts = map[string]struct {
	purpose string
	state   action.State
}{
	"happened": {toSayItDid, action.ReconciledSucceeded},
	"did_not":  {toSayItDidn, action.ReconciledFailed},
}

func (s *site) reconcile(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "verdict", "hash", "evidence")
	said, known := verdicts[c.fields["verdict"]]
	id := r.PathValue("id")
	if err != nil || !known || !s.own(c, said.purpose, id, c.fields["hash"]) {
		s.badForm(w, v)
		return
	}
	page, ok := s.findProposal(w, r, v, false)
	if !ok {
		return
	}
	evidence, ok := cleanReason(c.fields["evidence"])
	switch {
	case page.Hash != c.fields["hash"]:
		s.badForm(w, v)
		return
	case page.Reconcile == nil:
		s.back(w, page, http.StatusConflict, "That is not possible: "+page.WhyNot)
		return
	case !ok:
		s.back(w, page, http.StatusUnprocessableEntity, "Say how you know, in at most 500 plain characters. Nothing was changed.")
		return
	}
	err = s.prove(r.Context(), c, said.purpose, id)
	if status, text := unproved(w, err); status != 0 {
		s.back(w, page, status, text)
		return
	}
	if err != nil {
		s.broken(w, v)
		return
	}
	if _, err := s.gate.Reconcile(r.Context(), v.account.Tenant, action.Reconciliation{ID: id, State: said.state, By: v.account.ID, Evidence: evidence}); err != nil {
		s.gateRefused(w, r, v, err)
		return
	}
	http.Redirect(w, r, actionPath(id), http.StatusSeeOther)
}
