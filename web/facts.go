package web

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// warnings says what a reader could miss.
func warnings(read reading, rows, preview []display.Row) []string {
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	add(read.unreadable, "The stored arguments cannot be read. What would run cannot be shown.")
	add(read.tool == nil, "The tool is not in the catalog any more. All values are masked, because nobody knows which ones are secret.")
	add(read.tool != nil && read.changedTool, "The definition of the tool has changed since this was decided on.")
	add(!read.unreadable && read.noRequested, "The requested arguments cannot be shown; only what will run is.")
	add(read.badSentence, "The catalog's sentence does not fit these arguments, so none is shown. Read the arguments.")
	unexplained, marked, rightToLeft := 0, 0, false
	for _, r := range rows {
		rightToLeft = rightToLeft || display.RightToLeft(r.Effective.Pieces)
		if r.Unexplained && !read.noRequested {
			unexplained++
		}
		marked += display.CountAlarming(r.Name) + display.CountAlarming(r.Effective.Pieces)
	}
	masked := 0
	for _, r := range preview {
		masked += display.CountMasked(r.Name) + display.CountMasked(r.Effective.Pieces)
		marked += display.CountAlarming(r.Name) + display.CountAlarming(r.Effective.Pieces)
	}
	for _, t := range read.row.Targets {
		marked += display.CountAlarming(display.Text(t.ID))
	}
	add(unexplained > 0, many(unexplained, "member differs", "members differ")+" from what was requested, and no step says why.")
	add(marked > 0, many(marked, "character is", "characters are")+
		` marked like \u{202E}: hidden, look-alike or direction characters that you would not see otherwise.`)
	add(rightToLeft, "Some values have letters that are read from right to left. The order on the screen is not the order of the bytes.")
	add(masked > 0, many(masked, "text of the preview is", "texts of the preview are")+
		" masked, because the same text is a secret argument. Whoever proposed the call chose that argument.")
	add(read.row.Supersedes != "", "This replaces an earlier action whose outcome is uncertain. If that one took effect, this one repeats it.")
	return out
}

// votes names the voters; a voter of another tenant or without an account is
// named by id.
func (s *site) votes(ctx context.Context, v visit, a action.Action, votes []action.Vote, accounts int) ([]voteView, error) {
	var out []voteView
	for _, vote := range votes {
		view := voteView{Name: vote.Voter, Approve: vote.Approve, Reason: vote.Reason, Method: vote.Method, At: s.when(vote.At), For: s.namesOf(ctx, vote.For),
			Unsigned: vote.Reason != "" && !reasonSigned(vote)}
		voter, err := s.people.ByID(ctx, vote.Voter)
		switch {
		case errors.Is(err, auth.ErrNoAccount):
		case err != nil:
			return nil, err
		case voter.Tenant == v.account.Tenant:
			view.Name = voter.Name
			view.Single = accounts == 1 && owns(a, person(voter))
		}
		out = append(out, view)
	}
	return out, nil
}

// reasonSigned reports whether the reason of a vote is a part of what was
// signed. The signature itself is checked when the vote comes and where it counts.
func reasonSigned(v action.Vote) bool {
	e, err := keys.ParseEnvelope(v.Envelope)
	return err == nil && e.Holds(approval.VotePayload(v))
}

// tieWords say what the record of a vote knows of its voter.
var tieWords = map[string]string{
	"owner":   "Their own agent asked: the owner of the session decided.",
	"invited": "This account was made by invitation of the person whose agent asked, or of somebody whom they invited. It may be theirs.",
}

// ties reads from the records of the votes what ties each voter to the person
// whose agent asks.
func (s *site) ties(ctx context.Context, views []voteView, votes []action.Vote, a action.Action) error {
	if len(votes) == 0 {
		return nil
	}
	found := map[string]string{}
	for _, event := range []string{audit.VoteApprove, audit.VoteReject} {
		records, err := s.gate.Records(ctx, audit.Filter{Tenant: a.Tenant, Action: a.ID, Event: event})
		if err != nil {
			return err
		}
		for _, r := range records {
			found[r.By] = tieWords[r.Facts["tie"]]
		}
	}
	for i := range views {
		if !views[i].Single {
			views[i].Tie = found[votes[i].Voter]
		}
	}
	return nil
}

// namesOf lists accounts by name; one that is not known, by id.
func (s *site) namesOf(ctx context.Context, ids []string) string {
	var names []string
	for _, id := range ids {
		if a, err := s.people.ByID(ctx, id); err == nil {
			id = a.Name
		}
		names = append(names, id)
	}
	return strings.Join(names, " or ")
}

// siblingSize is how much of the arguments of a sibling is shown.
const siblingSize = 80

// siblings are what else waits from the same agent, oldest first, so that
// nobody decides on the second step before the first.
func (s *site) siblings(ctx context.Context, a action.Action) ([]siblingView, error) {
	if a.State != action.PendingApproval {
		return nil, nil
	}
	rows, err := s.gate.Actions(ctx, action.Filter{Tenant: a.Tenant, Principal: a.Principal,
		States: []action.State{action.PendingApproval}, Limit: 20})
	if err != nil {
		return nil, err
	}
	var out []siblingView
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].ID != a.ID && rows[i].Agent == a.Agent {
			out = append(out, siblingView{ID: rows[i].ID, Headline: s.glance(rows[i]).line(siblingSize)})
		}
	}
	return out, nil
}

// maxOutput bounds how much of a tool's answer a page holds, in bytes.
const maxOutput = 64 << 10

type resultView struct {
	Code       string
	Evidence   string
	Detail     []display.Piece
	Comparison string
	IsError    bool
	Open       bool // it has not ended
	At         moment
	Output     []display.Piece
	Size       string
	Withheld   string
}

// result shows how an action ended. The answer is the tool's own word.
func (s *site) result(a action.Action, masks display.Masks) *resultView {
	if a.Result == nil {
		return nil
	}
	r := a.Result
	view := &resultView{Code: r.Code, Evidence: evidenceWord(r.Evidence), Comparison: r.Comparison,
		IsError: r.IsError, Open: !a.State.Terminal(), At: s.when(r.At), Size: many(len(r.Output), "byte", "bytes")}
	if r.Detail != "" {
		view.Detail = display.TextMasked(r.Detail, masks)
	}
	v, err := canon.Decode(r.Output, limits)
	switch {
	case len(r.Output) == 0:
	case len(r.Output) > maxOutput:
		view.Withheld = fmt.Sprintf("The answer is longer than %d bytes and is not shown here.", maxOutput)
	case err == nil:
		view.Output = display.Literal(v, "", masks)
	case masks.All(), masks.Holds(string(r.Output)):
		view.Withheld = "The answer may hold a secret and is not shown."
	default:
		view.Output = display.Text(string(r.Output))
	}
	return view
}

func evidenceWord(evidence string) string {
	switch evidence {
	case action.EvidenceProved:
		return "proved: it cannot have run"
	case action.EvidenceReported:
		return "reported: the tool's own word"
	default:
		return evidence
	}
}
