package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// What a form says was shown: everything, or a page with folded values.
const (
	shownAll    = "all"
	shownFolded = "folded"
)

// maxRows is how many members are shown until everything is asked for.
const maxRows = 200

// proposalView is the page of one action.
type proposalView struct {
	base
	ID       string
	Row      action.Action
	Headline []display.Piece
	State    word
	Impact   word
	Pending  bool
	Ended    bool
	Until    moment
	Hash     string
	Digest   string
	digest   canon.Digest

	Targets   []targetView
	Warnings  []warning
	Rows      []rowView
	RowsLeft  int
	Preview   []rowView // members that are compared before the run
	Beside    []rowView // the rest of the preview
	Compared  bool      // only some of its members are
	Proposed  moment
	Latest    moment // the hard end of both clocks
	Earlier   *earlierView
	Room      []roomView
	Agents    *wordsView
	Words     headings
	Sent      bool   // the tool may have been told, and nobody knows how it ended
	Next      string // what happens now, where it is not plain
	Folded    string // what is folded, "" if nothing
	Shown     string
	Who       []string // must agree
	Votes     []voteView
	Evidence  []evidenceView
	Result    *resultView
	Siblings  []siblingView
	ToolTitle string

	Decide     *forms
	Revoke     *forms
	Reconcile  *reconciling // settles what is uncertain
	CanApprove bool
	WhyNot     string            // there is no form, or none to approve with
	mayNot     bool              // because of who asks, not of the state
	Single     bool              // the one person of a single-operator set-up
	InPlaceOf  string            // whom the person would decide for; "" for themselves
	Covered    string            // the standing grant that allowed it; "" where votes did
	Allow      bool              // the person may allow calls like this
	Wrote      map[string]string // by form: what was written in one that did not go through
	Error      string
}

func (p proposalView) refusalStatus() int {
	if p.mayNot {
		return http.StatusForbidden
	}
	return http.StatusConflict
}

// forms are the proofs that the forms of the page ask for.
type forms struct{ Approve, Reject, Revoke confirmView }

type rowView struct {
	display.Row
	Notes   []string // changes in words
	Spelled string   // the value as the reader says it
	From    []sourceView
	Fold    bool
}

// sourceView is a requested member that a value was looked up from.
type sourceView struct {
	Name []display.Piece
	Cell display.Cell
}

type voteView struct {
	Name    string
	Approve bool
	Reason  string
	Method  string
	At      moment
	Single  bool
	For     string // in whose place
	// Unsigned: the reason is no part of what was signed.
	Unsigned bool
	Tie      string // to the person whose agent asks; "" if none is known
}

type targetView struct {
	ID   []display.Piece
	Type string
}

type evidenceView struct{ Pointer, Resolver, Version, Digest string }

type siblingView struct {
	ID       string
	Headline []display.Piece
}

func (s *site) proposal(w http.ResponseWriter, r *http.Request, v visit) {
	page, ok := s.findProposal(w, r, v, r.URL.Query().Get("show") == shownAll)
	if ok {
		s.render(w, http.StatusOK, "proposal", page)
	}
}

// findProposal reads an action of the person's own tenant and answers the
// request itself if there is none.
func (s *site) findProposal(w http.ResponseWriter, r *http.Request, v visit, all bool) (proposalView, bool) {
	a, err := s.gate.Action(r.Context(), v.account.Tenant, r.PathValue("id"))
	if errors.Is(err, action.ErrNotFound) || err == nil && a.Tenant != v.account.Tenant {
		s.notFound(w, v)
		return proposalView{}, false
	}
	if err != nil {
		s.broken(w, v)
		return proposalView{}, false
	}
	page, err := s.proposalView(r.Context(), v, a, all)
	if err != nil {
		s.broken(w, v)
		return proposalView{}, false
	}
	return page, true
}

func (s *site) proposalView(ctx context.Context, v visit, a action.Action, all bool) (proposalView, error) {
	votes, err := s.gate.Votes(ctx, v.account.Tenant, a.ID)
	if err != nil {
		return proposalView{}, err
	}
	count, err := s.people.Count(ctx)
	if err != nil {
		return proposalView{}, err
	}
	read := s.read(a)
	p := proposalView{base: s.base(v, display.Plain(read.headline()), ""), ID: a.ID, Row: a, Headline: read.headline(),
		Words: headingsOf(a), Sent: a.State == action.Uncertain, Next: nextWords[a.State],
		State: rowWord(a), Impact: impactWord(a, read.tool), Pending: a.State == action.PendingApproval, Ended: a.State.Terminal(),
		Hash: a.Hash.String(), Who: requirementWords(a.Terms), Result: s.result(a, read.masks),
		Single: count == 1 && owns(a, person(v.account))}
	p.Proposed = s.when(a.CreatedAt)
	if read.tool != nil {
		p.ToolTitle = read.tool.Title
	}
	p.deadline(s, a)
	p.contents(s, read, all)
	for _, t := range a.Targets {
		p.Targets = append(p.Targets, targetView{read.target(t), t.Type})
	}
	for _, e := range a.Evidence {
		p.Evidence = append(p.Evidence, evidenceView{e.Pointer, e.Resolver, e.Version, e.Digest.String()})
	}
	if p.Votes, err = s.votes(ctx, v, a, votes, count); err != nil {
		return proposalView{}, err
	}
	if err = s.ties(ctx, p.Votes, votes, a); err != nil {
		return proposalView{}, err
	}
	if p.Siblings, err = s.siblings(ctx, a); err != nil {
		return proposalView{}, err
	}
	if err = s.around(ctx, &p, read); err != nil {
		return proposalView{}, err
	}
	c, err := s.confirming(ctx, v)
	if err != nil {
		return proposalView{}, err
	}
	p.offer(s, c, read, votes)
	s.settling(&p, c)
	p.Allow = mayAllow(p) == ""
	return p, s.covered(ctx, &p)
}

func (p *proposalView) deadline(s *site, a action.Action) {
	if a.Terms != nil {
		p.digest, p.Digest, p.Latest = a.Terms.Digest, a.Terms.Digest.String(), s.when(a.Terms.ExpiresAt)
	}
	if !a.State.Terminal() {
		p.Until = s.when(a.Deadline)
	}
}

// contents fills the tables and says what is folded.
func (p *proposalView) contents(s *site, read reading, all bool) {
	p.Shown = shownFolded
	if all {
		p.Shown = shownAll
	}
	var rows, preview []display.Row
	if !read.unreadable {
		requested := read.requested
		if read.noRequested {
			requested = canon.ObjectValue()
		}
		rows = display.Rows(requested, read.args, read.row.Changes, read.masks)
	}
	if !read.noPreview {
		preview = display.Leaves(read.preview, read.masks)
	}
	long, chars := longValues(rows, preview)
	for _, text := range warnings(read, rows, preview) {
		p.warn(text)
	}
	spelled := s.spelled(read, rows)
	rows, from := sources(read.tool, rows)
	left := max(0, len(rows)-maxRows) + max(0, len(preview)-maxRows)
	if !all && (long > 0 || left > 0) {
		p.Folded = foldedText(long, chars, left)
		p.RowsLeft = max(0, len(rows)-maxRows)
		rows, preview = rows[:min(len(rows), maxRows)], preview[:min(len(preview), maxRows)]
	}
	p.Rows, p.Preview = rowViews(rows, spelled, from, !all), rowViews(preview, nil, nil, !all)
	p.parted(read.tool)
}

func longValues(tables ...[]display.Row) (values, characters int) {
	for _, rows := range tables {
		for _, r := range rows {
			if r.Effective.Long || r.Requested.Long {
				values++
				characters += max(r.Effective.Length, r.Requested.Length)
			}
		}
	}
	return values, characters
}

func foldedText(long, chars, left int) string {
	switch {
	case left == 0:
		return many(long, "long value", "long values") + " (" + many(chars, "character", "characters") + ") folded"
	case long == 0:
		return many(left, "more member", "more members") + " not shown yet"
	default:
		return many(long, "long value", "long values") + " folded and " + many(left, "more member", "more members") + " not shown yet"
	}
}

func rowViews(rows []display.Row, spelled map[string]string, from map[string][]sourceView, fold bool) []rowView {
	out := make([]rowView, 0, len(rows))
	for _, r := range rows {
		view := rowView{Row: r, Spelled: spelled[r.Pointer], From: from[r.Pointer], Fold: fold}
		for _, c := range r.Changes {
			view.Notes = append(view.Notes, changeWord(c))
		}
		out = append(out, view)
	}
	return out
}

// person is an account as far as votes care.
func person(a auth.Account) action.Person {
	return action.Person{ID: a.ID, Name: a.Name, Tenant: a.Tenant, Principal: a.Principal, Identity: action.Identity(a.Issuer, a.Subject), Groups: a.Groups, Active: a.Active}
}

// owns reports whether the action was proposed for this very person.
func owns(a action.Action, who action.Person) bool {
	return who.Is(a.Principal) || who.Is(a.Owner)
}

// offer decides which forms the page has. The engine decides again.
func (p *proposalView) offer(s *site, c confirming, read reading, votes []action.Vote) {
	a, v := read.row, c.v
	if a.Terms == nil || a.State.Terminal() {
		p.WhyNot = "the action is not waiting for anybody."
		return
	}
	if err := approval.Eligible(*a.Terms, approval.ProposerOf(a), v.person()); err != nil {
		p.WhyNot, p.mayNot = err.Error()+".", true
		return
	}
	tokens := s.forms(p, c)
	switch {
	case a.State == action.Approved || a.State == action.Claimed:
		p.Revoke, p.WhyNot = tokens, "the action is approved already."
	case a.State != action.PendingApproval:
		p.WhyNot = "the action is not waiting for anybody."
	case votedAlready(votes, v.account.ID):
		p.WhyNot = "you have decided on this already."
	case p.Until.Over:
		p.WhyNot = "the deadline has passed."
	default:
		p.Decide, p.InPlaceOf = tokens, v.inPlaceOf(a)
		p.CanApprove, p.WhyNot = p.approvable(read)
	}
}

// forms makes the proofs of all forms. A passkey signs the vote itself.
func (s *site) forms(p *proposalView, c confirming) *forms {
	vote := func(approve bool) action.Vote { return action.Vote{ActionID: p.ID, Approve: approve, Digest: p.digest} }
	withdraw := func(nonce string) []byte { return auth.Challenge(toRevoke, p.ID, nonce) }
	about := func(purpose string) []string { return []string{purpose, p.ID, p.Digest, p.Shown} }
	return &forms{
		Approve: s.confirmVote(c, "approve-password", "Your password, to sign a yes", vote(true), about(toApprove)...),
		Reject:  s.confirmVote(c, "reject-password", "Your password, to sign a no", vote(false), about(toReject)...),
		Revoke:  s.confirm(c, "revoke-password", "Your password", withdraw, about(toRevoke)...),
	}
}

func votedAlready(votes []action.Vote, account string) bool {
	for _, vote := range votes {
		if vote.Voter == account {
			return true
		}
	}
	return false
}

// approvable reports whether a person can know what they would approve.
func (p *proposalView) approvable(read reading) (bool, string) {
	switch {
	case read.unreadable:
		return false, "what would run cannot be shown, so it cannot be approved."
	case read.changedTool:
		return false, "the tool is not the one that was decided on, so it cannot be approved."
	case read.row.Terms.Preview.IsZero() != (read.row.Payload.Preview == ""), read.row.Payload.Preview != "" && read.noPreview:
		return false, "the preview cannot be shown, so it cannot be approved."
	case p.Folded != "":
		return false, "parts of it are folded. Show everything first."
	default:
		return true, ""
	}
}
