package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/policy/replay"
)

// PolicyDiff says what the candidate policy would decide otherwise than the
// one in force, for the calls of a tenant since a moment. It runs nothing.
type PolicyDiff func(ctx context.Context, tenant string, since time.Time) (Diff, error)

// Diff compares a candidate with the policy in force.
type Diff struct {
	Candidate string        // where it comes from; "" where there is none
	Problem   string        // why it does not load; "" where it does
	Recorded  replay.Report // recorded calls, decided again
	Beside    replay.Report // calls that it was put beside, as they came
}

// diffSpans are the days that people can choose.
var diffSpans = []int{1, 7, 30}

// maxChanges is how many changed calls one page lists.
const maxChanges = 50

type diffView struct {
	base
	Diff
	Spans    []spanChoice
	Recorded reportView
	Beside   reportView
}

type spanChoice struct {
	Days int
	Here bool
}

type reportView struct {
	replay.Report
	Title   string
	Sub     string
	Lines   []countLine
	Groups  []groupView
	Changed []changeView
	More    int // changes that are not listed
	Void    []changeView
	Silent  string
}

type countLine struct {
	Number int
	Text   string
}

type groupView struct {
	Number  int
	Was, Is string
	Tools   string
	Class   string
}

type changeView struct {
	ID, Tool, Was, Is, By string
	At                    moment
}

// policyDiff shows what a candidate would change, to those who manage.
func (s *site) policyDiff(w http.ResponseWriter, r *http.Request, v visit) {
	may, err := s.people.MayManage(r.Context(), v.account)
	switch {
	case err != nil:
		s.broken(w, v)
		return
	case !may || s.diff == nil:
		s.notFound(w, v)
		return
	}
	page := diffView{base: s.base(v, "Policy changes", "operate")}
	days := diffSpans[1]
	for _, n := range diffSpans {
		if r.URL.Query().Get("days") == strconv.Itoa(n) {
			days = n
		}
	}
	for _, n := range diffSpans {
		page.Spans = append(page.Spans, spanChoice{n, n == days})
	}
	if page.Diff, err = s.diff(r.Context(), v.account.Tenant, s.now().AddDate(0, 0, -days)); err != nil {
		s.broken(w, v)
		return
	}
	page.Recorded = s.reportView(page.Diff.Recorded, "Recorded calls, decided again",
		"Nothing ran. What is not recorded is not guessed: allowed reads keep no arguments.")
	page.Beside = s.reportView(page.Diff.Beside, "Beside the policy in force",
		"Calls as they came, reads too. The candidate authorized none of them.")
	s.render(w, http.StatusOK, "policy", page)
}

func (s *site) reportView(r replay.Report, title, sub string) reportView {
	view := reportView{Report: r, Title: title, Sub: sub, Silent: strings.Join(r.Silent, ", ")}
	c := r.Counts
	for _, line := range []countLine{{c.Flips, "would be decided otherwise"}, {c.Terms, "would need approval on other terms"}, {c.Same, "would be decided the same"},
		{c.Rules, "would be decided the same, by other rules"}, {c.Runtime, "were denied by something other than policy"}} {
		if line.Number > 0 {
			view.Lines = append(view.Lines, line)
		}
	}
	for _, why := range r.Why {
		view.Lines = append(view.Lines, countLine{why.Count, "cannot be told: " + strings.ReplaceAll(why.Name, "_", " ")})
	}
	for _, g := range r.ByRule {
		view.Groups = append(view.Groups, groupView{g.Count, answerWords(g.Was), answerWords(g.Is), strings.Join(g.Tools, ", "), decisionClass(g.Is.Decision)})
	}
	newest := r.Changes[max(0, len(r.Changes)-maxChanges):]
	view.More = len(r.Changes) - len(newest)
	for i := len(newest) - 1; i >= 0; i-- {
		view.Changed = append(view.Changed, s.changeView(newest[i]))
	}
	for _, x := range r.Void {
		view.Void = append(view.Void, s.changeView(x))
	}
	return view
}

func (s *site) changeView(v replay.Verdict) changeView {
	return changeView{ID: v.Action, Tool: v.Tool, Was: v.Was.Decision, Is: v.Is.Decision, By: strings.Join(v.Is.Rules, ", "), At: s.when(v.At)}
}

// answerWords is a decision with what determined it.
func answerWords(a replay.Answer) string {
	text := strings.ReplaceAll(a.Decision, "_", " ")
	if len(a.Requirements) > 0 {
		text += " of " + strings.Join(a.Requirements, " and ")
	}
	if a.StepUp {
		text += ", with step-up"
	}
	by := a.Rules
	if a.Code != "" {
		by = append([]string{a.Code}, by...)
	}
	if len(by) > 0 {
		text += " by " + strings.Join(by, ", ")
	}
	return text
}

func decisionClass(decision string) string {
	switch decision {
	case "allow":
		return "good"
	case "deny":
		return "bad"
	default:
		return "wait"
	}
}
