package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/web/display"
)

const toBatch = "batch"

// maxBatch is how many proposals one page of decisions has. Each is shown
// whole.
const maxBatch = 20

// batchView is a page with a decision for each of several proposals. What has
// high impact, or is too long to be shown whole, is never among them.
type batchView struct {
	base
	Items   []batchItem
	Left    int // for this person, and not among these
	Confirm confirmView
	Error   string
	Results []batchResult
}

type batchItem struct {
	proposalView
	N                        int
	Nonce                    string
	Allow, RPID              string
	ForApproval, ForRejectal string // the vote that a passkey signs, with the reason
	Choice, Reason           string // as chosen on a form that did not go through
}

type batchResult struct {
	ID       string
	Headline []display.Piece
	Done     word
}

func (s *site) batch(w http.ResponseWriter, r *http.Request, v visit) {
	page, err := s.batchView(r.Context(), v)
	if err != nil {
		s.broken(w, v)
		return
	}
	s.render(w, http.StatusOK, "batch", page)
}

// batchView collects what this person can decide on together, the longest
// waiting first.
func (s *site) batchView(ctx context.Context, v visit) (batchView, error) {
	page := batchView{base: s.base(v, "Decide on several", "inbox")}
	rows, err := s.gate.Actions(ctx, action.Filter{Tenant: v.account.Tenant, States: []action.State{action.PendingApproval}, Limit: inboxSize})
	if err != nil {
		return page, err
	}
	c, err := s.confirming(ctx, v)
	if err != nil {
		return page, err
	}
	about := []string{toBatch}
	for i := len(rows) - 1; i >= 0; i-- {
		if approval.Eligible(*rows[i].Terms, approval.ProposerOf(rows[i]), person(v.account)) != nil {
			continue
		}
		if rows[i].HighImpact || len(page.Items) == maxBatch {
			page.Left++
			continue
		}
		p, err := s.proposalView(ctx, v, rows[i], false)
		switch {
		case err != nil:
			return page, err
		case p.Decide != nil && p.CanApprove:
			item := s.batchItem(c, p, len(page.Items))
			page.Items = append(page.Items, item)
			about = append(about, p.ID, p.Digest, item.Nonce)
		case p.Decide != nil:
			page.Left++
		}
	}
	page.Confirm = s.confirm(c, "batch-password", "Your password, to sign each of these decisions", nil)
	page.Confirm.Token = s.formToken(v, about...)
	return page, nil
}

// batchItem makes the votes of both decisions; the passkey signs one.
func (s *site) batchItem(c confirming, p proposalView, n int) batchItem {
	item := batchItem{proposalView: p, N: n}
	if !c.needsPasskey() {
		return item
	}
	item.Nonce, item.RPID, item.Allow = auth.NewNonce(), s.passkeys.RPID(), s.allow(c)
	vote := action.Vote{ActionID: p.ID, Voter: c.v.account.ID, Digest: p.digest, Nonce: item.Nonce}
	item.ForRejectal = string(approval.VotePayload(vote))
	vote.Approve = true
	item.ForApproval = string(approval.VotePayload(vote))
	return item
}

// batchFields are the fields of the n-th proposal.
func batchFields(n int, passkey bool) []string {
	names := []string{"id", "digest", "choice", "reason"}
	if passkey {
		names = append(names, byPasskey...)
	}
	for i, name := range names {
		names[i] = name + "-" + strconv.Itoa(n)
	}
	return names
}

// decideBatch counts each decision on its own: one that fails does not stop
// the others, but for a password that is wrong.
func (s *site) decideBatch(w http.ResponseWriter, r *http.Request, v visit) {
	c, err := s.confirming(r.Context(), v)
	if err != nil {
		s.broken(w, v)
		return
	}
	fields, n, err := readBatch(r, c.needsPasskey())
	about := []string{toBatch}
	for i := range n {
		at := "-" + strconv.Itoa(i)
		about = append(about, fields["id"+at], fields["digest"+at], fields["nonce"+at])
	}
	if err != nil || !s.ownForm(v, fields["token"], about...) {
		s.badForm(w, v)
		return
	}
	page := batchView{base: s.base(v, "Decided", "inbox")}
	for i := range n {
		choice := fields["choice-"+strconv.Itoa(i)]
		if choice == "" {
			continue
		}
		result, err := s.decideOne(w, r.Context(), confirmed{confirming: c, fields: fields}, i)
		if status, text := unproved(w, err); status != 0 && len(page.Results) == 0 {
			page, _ = s.batchView(r.Context(), v)
			page.keep(fields, n)
			page.Error = text
			s.render(w, status, "batch", page)
			return
		}
		page.Results = append(page.Results, result)
	}
	s.render(w, http.StatusOK, "batch", page)
}

// readBatch reads exactly the fields of n proposals. It fails with errForm.
func readBatch(r *http.Request, passkey bool) (map[string]string, int, error) {
	if err := r.ParseForm(); err != nil {
		return nil, 0, errForm
	}
	n, err := strconv.Atoi(r.PostForm.Get("count"))
	if err != nil || n < 1 || n > maxBatch {
		return nil, 0, errForm
	}
	names := []string{"count", "token"}
	if !passkey {
		names = append(names, "password")
	}
	for i := range n {
		names = append(names, batchFields(i, passkey)...)
	}
	fields, err := readForm(r, names...)
	return fields, n, err
}

// keep fills in what was chosen on a form that did not go through.
func (p *batchView) keep(fields map[string]string, n int) {
	chosen := map[string]int{}
	for i := range n {
		chosen[fields["id-"+strconv.Itoa(i)]] = i + 1
	}
	for i := range p.Items {
		if at := chosen[p.Items[i].ID]; at > 0 {
			p.Items[i].Choice, p.Items[i].Reason = fields["choice-"+strconv.Itoa(at-1)], typed(fields["reason-"+strconv.Itoa(at-1)])
		}
	}
}

// decideOne counts the n-th decision of a form, if the proposal is still what
// was shown. The error is for a proof that was not accepted.
func (s *site) decideOne(w http.ResponseWriter, ctx context.Context, c confirmed, n int) (batchResult, error) {
	at := "-" + strconv.Itoa(n)
	result := batchResult{ID: c.fields["id"+at], Done: word{"not counted: it is not what you were shown, or waits no longer", "bad"}}
	a, err := s.gate.Action(ctx, c.v.account.Tenant, result.ID)
	if err != nil {
		return result, nil
	}
	p, err := s.proposalView(ctx, c.v, a, false)
	if err != nil {
		return result, nil
	}
	result.Headline = p.Headline
	vote := action.Vote{ActionID: a.ID, Digest: p.digest, Nonce: c.fields["nonce"+at]}
	digest, err := canon.ParseDigest(c.fields["digest"+at])
	if err != nil || digest != p.digest || p.Decide == nil || !p.CanApprove || a.HighImpact {
		return result, nil
	}
	var readable bool
	vote.Reason, readable = approval.Reason(c.fields["reason"+at])
	choice := c.fields["choice"+at]
	switch {
	case choice != toApprove && choice != toReject:
		return result, nil
	case !readable, choice == toReject && vote.Reason == "":
		result.Done = word{"not counted: a rejection needs a reason, and a reason has at most 500 plain characters", "bad"}
		return result, nil
	case choice == toApprove:
		vote.Approve = true
		result.Done = word{"approved", "good"}
	default:
		result.Done = word{"rejected", "flat"}
	}
	if err := s.castOne(ctx, c, at, p, vote); err != nil {
		result.Done = word{"not counted: " + refusalWords(w, err), "bad"}
		return result, err
	}
	return result, nil
}

func (s *site) castOne(ctx context.Context, c confirmed, at string, p proposalView, vote action.Vote) error {
	own := map[string]string{"nonce": vote.Nonce, "password": c.fields["password"]}
	for _, name := range byPasskey[1:] {
		own[name] = c.fields[name+at]
	}
	b := ballot{confirmed: confirmed{confirming: c.confirming, fields: own}, page: p}
	var err error
	if c.needsPasskey() {
		if b.by, err = readAssertion(own); err != nil {
			return err
		}
	}
	signed, err := s.sign(ctx, c.v, b, vote)
	if err != nil {
		return err
	}
	if signed.Voter != c.v.account.ID {
		return errForm
	}
	_, err = s.gate.Vote(ctx, signed)
	return err
}

// refusalWords says what a refusal means in a list.
func refusalWords(w http.ResponseWriter, err error) string {
	for _, refused := range gateRefusals {
		if errors.Is(err, refused.err) {
			return refused.text
		}
	}
	if _, text := unproved(w, err); text != "" {
		return text
	}
	return "something failed; look at the action before you try again"
}
