package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// Purposes of the forms that make, sign and revoke standing grants.
const (
	toDraft       = "draft_grant"
	toGrant       = "grant"
	toSignGrant   = "sign_grant"
	toRevokeGrant = "revoke_grant"
)

// allowView is the page on which a person says which calls are like one.
type allowView struct {
	base
	ID       string
	Headline []display.Piece
	Agent    string
	Members  []choiceView
	Targets  []targetView
	Any      bool // target
	Sum      string
	Total    string
	Uses     string
	Hours    string
	Digest   string
	Token    string
	Error    string
}

// choiceView is one member with the rules that a person can choose.
type choiceView struct {
	N       int
	Pointer string
	Name    []display.Piece
	Cell    display.Cell
	Spelled string
	Whole   bool // an integer, so that there is a bound to choose
	Rule    string
	Bound   string
}

// mayAllow says why no standing grant can be made of a proposal, or "".
func mayAllow(p proposalView) string {
	switch {
	case p.Row.HighImpact:
		return "calls of high impact take an approval of their own each time."
	case p.Row.Kind != action.KindCall:
		return "control is handed over by an approval of its own each time."
	case p.Decide == nil || !p.CanApprove:
		return p.WhyNot
	}
	return ""
}

func (s *site) allowPage(w http.ResponseWriter, r *http.Request, v visit) {
	if p, ok := s.allowing(w, r, v); ok {
		s.showChoices(w, r, v, p, http.StatusOK, nil, "")
	}
}

// allowing finds the proposal and answers the request itself where nobody may
// make a grant of it.
func (s *site) allowing(w http.ResponseWriter, r *http.Request, v visit) (proposalView, bool) {
	p, ok := s.findProposal(w, r, v, true)
	if !ok {
		return p, false
	}
	if why := mayAllow(p); why != "" {
		s.back(w, p, p.refusalStatus(), "Calls like this cannot be allowed by you: "+why)
		return p, false
	}
	return p, true
}

// showChoices is the form; chosen is what was sent, nil at first: then
// everything is as narrow as it can be.
func (s *site) showChoices(w http.ResponseWriter, _ *http.Request, v visit, p proposalView, status int, chosen map[string]string, problem string) {
	read := s.read(p.Row)
	view := allowView{base: s.base(v, "Allow calls like this", "grants"), ID: p.ID, Headline: p.Headline, Agent: p.Row.Agent, Targets: p.Targets,
		Digest: p.Digest, Token: s.formToken(v, toDraft, p.ID, p.Digest), Uses: "5", Hours: "1", Error: problem}
	leaves, _ := approval.Leaves(p.Row.Payload.Args)
	for i, l := range leaves {
		c := choiceView{N: i, Pointer: l.Pointer, Rule: action.RuleEqual}
		c.Name, c.Cell = display.Member(l.Pointer, l.Value, read.masks)
		n, whole := l.Value.Int64()
		c.Whole = whole && n >= 0 && l.Value.Kind() == canon.Number && !read.masks.Masks(l.Pointer)
		if c.Whole {
			c.Bound = strconv.FormatInt(n, 10)
		}
		c.Spelled = s.spelledRules(read, action.Scope{Members: equalTo(leaves)})[l.Pointer]
		if chosen != nil {
			c.Rule, c.Bound = chosen["rule-"+strconv.Itoa(i)], chosen["bound-"+strconv.Itoa(i)]
		}
		view.Members = append(view.Members, c)
	}
	if chosen != nil {
		view.Any, view.Sum, view.Total, view.Uses, view.Hours = chosen["targets"] == action.RuleAny, chosen["sum"], chosen["total"], chosen["uses"], chosen["hours"]
	}
	s.render(w, status, "allow", view)
}

func equalTo(leaves []approval.Leaf) []action.MemberRule {
	out := make([]action.MemberRule, len(leaves))
	for i, l := range leaves {
		out[i] = action.MemberRule{Pointer: l.Pointer, Rule: action.RuleEqual, Value: string(l.Value.Canonical())}
	}
	return out
}

// review draws the grant up and shows what would be signed. It keeps nothing.
func (s *site) review(w http.ResponseWriter, r *http.Request, v visit) {
	p, ok := s.allowing(w, r, v)
	if !ok {
		return
	}
	leaves, _ := approval.Leaves(p.Row.Payload.Args)
	names := []string{"token", "targets", "sum", "total", "uses", "hours"}
	for i := range leaves {
		names = append(names, "rule-"+strconv.Itoa(i), "bound-"+strconv.Itoa(i))
	}
	fields, err := readForm(r, names...)
	if err != nil || !s.ownForm(v, fields["token"], toDraft, p.ID, p.Digest) {
		s.badForm(w, v)
		return
	}
	scope, uses, life, problem := choices(fields, leaves, p.Row)
	if problem != "" {
		s.showChoices(w, r, v, p, http.StatusUnprocessableEntity, fields, problem)
		return
	}
	g, err := s.gate.DraftGrant(r.Context(), v.account.Tenant, p.ID, scope, uses, life)
	if errors.Is(err, action.ErrStanding) {
		s.showChoices(w, r, v, p, http.StatusUnprocessableEntity, fields, "That cannot be allowed: "+strings.TrimPrefix(err.Error(), action.ErrStanding.Error()+": ")+".")
		return
	}
	if err != nil {
		s.broken(w, v)
		return
	}
	s.showDraft(w, r, v, p, g)
}

// choices reads what was chosen, or says what is wrong with it.
func choices(fields map[string]string, leaves []approval.Leaf, a action.Action) (scope action.Scope, uses int, life time.Duration, problem string) {
	scope.Targets = a.Targets
	if fields["targets"] == action.RuleAny {
		scope.AnyTarget, scope.Targets = true, nil
	}
	for i, l := range leaves {
		rule := action.MemberRule{Pointer: l.Pointer, Rule: fields["rule-"+strconv.Itoa(i)]}
		switch rule.Rule {
		case action.RuleEqual:
			rule.Value = string(l.Value.Canonical())
		case action.RuleMost:
			rule.Value = strings.TrimSpace(fields["bound-"+strconv.Itoa(i)])
			if n, err := strconv.ParseInt(rule.Value, 10, 54); err != nil || n < 0 {
				return scope, 0, 0, "Say up to which whole number a member may go."
			}
		case action.RuleAny:
		default:
			return scope, 0, 0, "Choose for every member what it may be."
		}
		scope.Members = append(scope.Members, rule)
	}
	var err error
	if scope.Sum = fields["sum"]; scope.Sum != "" {
		if scope.Total, err = strconv.ParseInt(strings.TrimSpace(fields["total"]), 10, 54); err != nil || scope.Total < 0 {
			return scope, 0, 0, "Say what all calls together may come to, as a whole number."
		}
	}
	hours, errHours := strconv.Atoi(strings.TrimSpace(fields["hours"]))
	uses, errUses := strconv.Atoi(strings.TrimSpace(fields["uses"]))
	if errHours != nil || errUses != nil || hours < 1 || hours > 24 || uses < 1 || uses > approval.MaxStandingUses {
		return scope, 0, 0, fmt.Sprintf("Say how many calls, 1 to %d, and for how many hours, 1 to 24.", approval.MaxStandingUses)
	}
	return scope, uses, time.Duration(hours) * time.Hour, ""
}

// showDraft is the page with exactly what is signed.
func (s *site) showDraft(w http.ResponseWriter, r *http.Request, v visit, p proposalView, g action.StandingGrant) {
	c, err := s.confirming(r.Context(), v)
	if err != nil {
		s.broken(w, v)
		return
	}
	page := grantPage{base: s.base(v, "Allow calls like this", "grants"), grantView: s.grantView(g, s.read(p.Row)), Draft: true,
		Statement: encode(approval.StandingStatement(g)), InPlaceOf: v.inPlaceOf(approval.Ballot(g))}
	page.Sign = s.signing(c, g, toGrant)
	s.render(w, http.StatusOK, "grant", page)
}

// signing is the proof of a form that signs a grant.
func (s *site) signing(c confirming, g action.StandingGrant, purpose string) *confirmView {
	view := s.confirmVote(c, "grant-password", "Your password, to sign this", action.Vote{ActionID: g.ID, Approve: true, Digest: g.Digest},
		purpose, g.ID, g.Digest.String())
	return &view
}

// keepGrant keeps a grant that was drawn up, with the person's signature.
func (s *site) keepGrant(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.readConfirmed(r, v, "statement", "reason")
	text, errText := decode(c.fields["statement"])
	g, errGrant := approval.ParseStanding(text)
	if errors.Join(err, errText, errGrant) != nil || g.Source != r.PathValue("id") || g.Tenant != v.account.Tenant ||
		!s.own(c, toGrant, g.ID, g.Digest.String()) {
		s.badForm(w, v)
		return
	}
	p, ok := s.allowing(w, r, v)
	if !ok {
		return
	}
	vote, ok := s.signed(w, r, v, c, g, func(status int, text string) { s.back(w, p, status, text) })
	if !ok {
		return
	}
	if _, err := s.gate.Grant(r.Context(), g, vote); err != nil {
		s.grantRefused(w, v, err)
		return
	}
	http.Redirect(w, r, grantPath(g.ID), http.StatusSeeOther)
}

// signed makes the person's signature, or answers the request.
func (s *site) signed(w http.ResponseWriter, r *http.Request, v visit, c confirmed, g action.StandingGrant, refuse func(int, string)) (action.Vote, bool) {
	comment, ok := approval.Reason(c.fields["reason"])
	if !ok {
		refuse(http.StatusUnprocessableEntity, badComment)
		return action.Vote{}, false
	}
	vote, err := s.sign(r.Context(), v, ballot{confirmed: c}, action.Vote{ActionID: g.ID, Approve: true, Reason: comment, Digest: g.Digest})
	if status, text := unproved(w, err); status != 0 {
		refuse(status, text)
		return vote, false
	}
	if err != nil || vote.Voter != v.account.ID {
		s.broken(w, v)
		return vote, false
	}
	return vote, true
}

// grantRefused says what a refusal of the engine means.
func (s *site) grantRefused(w http.ResponseWriter, v visit, err error) {
	if errors.Is(err, action.ErrNotFound) {
		s.notFound(w, v)
		return
	}
	texts := map[error]string{
		action.ErrStanding: "Such a grant cannot be made.", action.ErrState: "It has ended already, or what it was made from was refused.",
		action.ErrStale: "The policy for this tool has changed. Wait for the next call, and allow calls like that.",
		action.ErrLate:  "This was drawn up too long ago. Draw it up again.", action.ErrVoted: "You have signed it already.",
		action.ErrIneligible: "You may not do this.", action.ErrPasskey: "You have a passkey: sign with it.",
		action.ErrStepUp: "This takes a fresh sign-in. Sign in again, then sign within five minutes.",
	}
	for refusal, text := range texts {
		if errors.Is(err, refusal) {
			s.refuse(w, v, http.StatusConflict, "Not done", text+" Nothing was changed.")
			return
		}
	}
	s.broken(w, v)
}

func grantChallenge(purpose string, g action.StandingGrant) func(string) []byte {
	return func(nonce string) []byte { return auth.Challenge(purpose, g.ID, nonce) }
}
