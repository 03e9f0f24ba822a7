package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// grantView is one standing grant in words.
type grantView struct {
	ID       string
	Grant    action.StandingGrant
	State    word
	Source   []display.Piece // what it was made from
	Members  []memberView
	Targets  []targetView
	Total    string
	Spent    string
	Ends     moment
	Since    moment
	Who      []string
	Usable   bool
	Erased   bool
	Digest   string
	By       string // who signed, by name
	Unsigned bool   // more people must sign
}

// memberView says in words what a member may be.
type memberView struct {
	Name    []display.Piece
	Rule    string
	Cell    display.Cell
	Open    bool // whatever it is
	Spelled string
}

// grantPage is the page of one standing grant, drawn up or kept.
type grantPage struct {
	base
	grantView
	Draft     bool
	Statement string
	Votes     []voteView
	Sign      *confirmView
	Revoke    *confirmView
	InPlaceOf string
	Error     string
}

type grantsView struct {
	base
	Grants []grantView
	More   string
}

// grantsSize is how many grants stand on one page.
const grantsSize = 30

func (s *site) grants(w http.ResponseWriter, r *http.Request, v visit) {
	found, err := s.gate.Grants(r.Context(), action.StandingFilter{Tenant: v.account.Tenant, Limit: grantsSize, Before: r.URL.Query().Get("before")})
	if err != nil {
		s.broken(w, v)
		return
	}
	page := grantsView{base: s.base(v, "Standing grants", "grants")}
	for _, g := range found {
		view, _, err := s.grantInFull(r.Context(), v, g)
		if err != nil {
			s.broken(w, v)
			return
		}
		page.Grants = append(page.Grants, view)
	}
	if len(found) == grantsSize {
		page.More = "/grants?" + url.Values{"before": {found[len(found)-1].ID}}.Encode()
	}
	s.render(w, http.StatusOK, "grants", page)
}

func (s *site) grant(w http.ResponseWriter, r *http.Request, v visit) {
	if page, ok := s.findGrant(w, r, v); ok {
		s.render(w, http.StatusOK, "grant", page)
	}
}

func (s *site) findGrant(w http.ResponseWriter, r *http.Request, v visit) (grantPage, bool) {
	g, votes, err := s.gate.StandingGrant(r.Context(), v.account.Tenant, r.PathValue("id"))
	if errors.Is(err, action.ErrNotFound) || err == nil && g.Tenant != v.account.Tenant {
		s.notFound(w, v)
		return grantPage{}, false
	}
	view, voters, errView := s.grantInFull(r.Context(), v, g)
	c, errOwn := s.confirming(r.Context(), v)
	if errors.Join(err, errView, errOwn) != nil {
		s.broken(w, v)
		return grantPage{}, false
	}
	page := grantPage{base: s.base(v, "Standing grant", "grants"), grantView: view, Votes: voters}
	page.offer(s, c, votes)
	return page, true
}

// offer decides which forms the page has. The engine decides again.
func (p *grantPage) offer(s *site, c confirming, votes []action.Vote) {
	if !p.Usable {
		return
	}
	row := approval.Ballot(p.Grant)
	if approval.MayRevokeStanding(p.Grant, c.v.person()) == nil {
		revoke := s.confirm(c, "revoke-password", "Your password", grantChallenge(toRevokeGrant, p.Grant), toRevokeGrant, p.ID)
		p.Revoke = &revoke
	}
	if p.Unsigned && !votedAlready(votes, c.v.account.ID) && approval.Eligible(*row.Terms, approval.ProposerOf(row), c.v.person()) == nil {
		p.Sign, p.InPlaceOf = s.signing(c, p.Grant, toSignGrant), c.v.inPlaceOf(row)
	}
}

func (s *site) signGrant(w http.ResponseWriter, r *http.Request, v visit) {
	page, c, ok := s.grantForm(w, r, v, toSignGrant)
	if !ok {
		return
	}
	vote, ok := s.signed(w, r, v, c, page.Grant, func(status int, text string) { s.grantBack(w, page, status, text) })
	if !ok {
		return
	}
	if _, err := s.gate.SignGrant(r.Context(), v.account.Tenant, vote); err != nil {
		s.grantRefused(w, v, err)
		return
	}
	http.Redirect(w, r, grantPath(page.ID), http.StatusSeeOther)
}

func (s *site) revokeGrant(w http.ResponseWriter, r *http.Request, v visit) {
	page, c, ok := s.grantForm(w, r, v, toRevokeGrant)
	if !ok {
		return
	}
	err := s.prove(r.Context(), c, toRevokeGrant, page.ID)
	if status, text := unproved(w, err); status != 0 {
		s.grantBack(w, page, status, text)
		return
	}
	if err == nil {
		_, err = s.gate.RevokeGrant(r.Context(), v.account.Tenant, page.ID, v.account.ID)
	}
	if err != nil {
		s.grantRefused(w, v, err)
		return
	}
	http.Redirect(w, r, grantPath(page.ID), http.StatusSeeOther)
}

// grantForm reads a form about a grant and checks that the page had it.
func (s *site) grantForm(w http.ResponseWriter, r *http.Request, v visit, purpose string) (grantPage, confirmed, bool) {
	about, names := []string{purpose, r.PathValue("id")}, []string{}
	if purpose == toSignGrant {
		names = append(names, "reason")
	}
	c, err := s.readConfirmed(r, v, names...)
	page, ok := s.findGrant(w, r, v)
	if !ok {
		return page, c, false
	}
	has := page.Revoke != nil
	if purpose == toSignGrant {
		has, about = page.Sign != nil, append(about, page.Digest)
	}
	switch {
	case err != nil || !s.own(c, about...):
		s.badForm(w, v)
	case !has:
		s.grantBack(w, page, http.StatusConflict, "That is not possible any more. Nothing was changed.")
	default:
		return page, c, true
	}
	return page, c, false
}

func (s *site) grantBack(w http.ResponseWriter, page grantPage, status int, text string) {
	page.Error = text
	s.render(w, status, "grant", page)
}

// grantInFull reads a grant with its source and its signatures.
func (s *site) grantInFull(ctx context.Context, v visit, g action.StandingGrant) (grantView, []voteView, error) {
	if g.ID == "" {
		return grantView{}, nil, nil
	}
	source, err := s.gate.Action(ctx, v.account.Tenant, g.Source)
	if err != nil {
		return grantView{}, nil, err
	}
	_, votes, err := s.gate.StandingGrant(ctx, v.account.Tenant, g.ID)
	if err != nil {
		return grantView{}, nil, err
	}
	voters, err := s.votes(ctx, v, source, votes, 0)
	if err != nil {
		return grantView{}, nil, err
	}
	view := s.grantView(g, s.read(source))
	var names []string
	for _, voter := range voters {
		names = append(names, voter.Name)
	}
	view.By = strings.Join(names, " and ")
	signed, err := s.enough(ctx, g, votes)
	if err == nil && !signed && view.Usable {
		view.Unsigned, view.State = true, word{"waits for signatures", "wait"}
	}
	return view, voters, err
}

// enough reports whether the signatures suffice with the accounts as they are
// now. Only the engine's own count decides.
func (s *site) enough(ctx context.Context, g action.StandingGrant, votes []action.Vote) (bool, error) {
	people := map[string]action.Person{}
	for _, vote := range votes {
		a, err := s.people.ByID(ctx, vote.Voter)
		if errors.Is(err, auth.ErrNoAccount) {
			continue
		}
		if err != nil {
			return false, err
		}
		others, err := s.people.StandsFor(ctx, a)
		if err != nil {
			return false, err
		}
		people[a.ID] = visit{account: a, standsFor: others}.person()
	}
	row := approval.Ballot(g)
	return approval.Tally(*row.Terms, approval.ProposerOf(row), votes, people) == approval.Enough, nil
}

// covered names the standing grant that allowed an action, if one did.
func (s *site) covered(ctx context.Context, p *proposalView) error {
	if p.Pending || p.Row.Terms == nil || len(p.Votes) > 0 || p.Row.HighImpact {
		return nil
	}
	g, err := s.gate.CoveredBy(ctx, p.Row.Tenant, p.ID)
	if errors.Is(err, action.ErrNotFound) {
		return nil
	}
	p.Covered = g.ID
	return err
}

// grantView says a grant in words. read is its source, for masks and units.
func (s *site) grantView(g action.StandingGrant, read reading) grantView {
	now := s.now()
	view := grantView{ID: g.ID, Grant: g, Source: read.line(siblingSize), Ends: s.when(g.ExpiresAt), Since: s.when(g.RequestedAt), Digest: g.Digest.String(),
		Who: requirementWords(approval.Ballot(g).Terms), Erased: len(g.Scope.Members)+len(g.Scope.Targets) == 0 && !g.Scope.AnyTarget,
		Usable: g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) && g.Uses < g.MaxUses}
	view.State = word{"in force", "good"}
	switch {
	case !g.RevokedAt.IsZero():
		view.State = word{"revoked", "bad"}
	case g.Uses >= g.MaxUses:
		view.State = word{"used up", "plain"}
	case !view.Usable:
		view.State = word{"over", "plain"}
	}
	spelled := s.spelledRules(read, g.Scope)
	for _, m := range g.Scope.Members {
		view.Members = append(view.Members, memberOf(m, spelled[m.Pointer], read.masks))
	}
	for _, t := range g.Scope.Targets {
		view.Targets = append(view.Targets, targetView{read.target(t), t.Type})
	}
	if g.Scope.Sum != "" {
		view.Total, view.Spent = s.sumText(read, g.Scope, g.Scope.Total), s.sumText(read, g.Scope, g.Spent)
	}
	return view
}

func memberOf(m action.MemberRule, spelled string, masks display.Masks) memberView {
	view := memberView{Open: m.Rule == action.RuleAny, Spelled: spelled, Rule: "exactly"}
	if m.Rule == action.RuleMost {
		view.Rule = "at most"
	}
	v, err := canon.Decode([]byte(m.Value), limits)
	if view.Open || err != nil {
		v = canon.NullValue()
	}
	view.Name, view.Cell = display.Member(m.Pointer, v, masks)
	return view
}

// spelledRules says the values of rules as the reader says them. An amount
// whose currency is left open is not money yet.
func (s *site) spelledRules(read reading, scope action.Scope) map[string]string {
	var rows []display.Row
	fixed := map[string]bool{}
	for _, m := range scope.Members {
		if v, err := canon.Decode([]byte(m.Value), limits); err == nil && m.Rule != action.RuleAny {
			rows = append(rows, display.Row{Pointer: m.Pointer, Value: v})
			fixed[m.Pointer] = m.Rule == action.RuleEqual
		}
	}
	out := s.spelled(read, rows)
	for amount, currency := range read.moneyPairs() {
		if !fixed[currency] {
			delete(out, amount)
		}
	}
	return out
}

// sumText says a number of what a grant adds up.
func (s *site) sumText(read reading, scope action.Scope, n int64) string {
	bound := action.Scope{Members: append([]action.MemberRule(nil), scope.Members...)}
	for i := range bound.Members {
		if bound.Members[i].Pointer == scope.Sum {
			bound.Members[i] = action.MemberRule{Pointer: scope.Sum, Rule: action.RuleMost, Value: string(canon.IntValue(n).Canonical())}
		}
	}
	if text := s.spelledRules(read, bound)[scope.Sum]; text != "" {
		return text
	}
	return s.reads.reader.Integer(n)
}

func grantPath(id string) string { return "/grants/" + url.PathEscape(id) }
