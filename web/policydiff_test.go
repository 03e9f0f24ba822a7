package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/web"
)

// someDiff is what a candidate changes, with texts wherever a text can stand.
func someDiff(texts ...string) web.Diff {
	d := web.Diff{Candidate: texts[0], Problem: "", Recorded: someReport(texts), Beside: someReport(texts)}
	d.Recorded.Void = d.Recorded.Changes[:1]
	return d
}

func someReport(texts []string) (r replay.Report) {
	t := replay.NewTally()
	for i, text := range texts {
		was := replay.Answer{Decision: "require_approval", Rules: []string{text, "ask"}, Requirements: []string{"finance:1|" + text}, TTL: "10m0s", StepUp: true}
		is := replay.Answer{Decision: "deny", Code: "no_matching_rule", Rules: []string{text}}
		t.Add(replay.Verdict{Action: fmt.Sprint("act_", i), Tool: text, Agent: text, At: start, Kind: replay.Flip, Was: was, Is: is})
	}
	t.Miss(texts[0], 2)
	r = t.Report(nil)
	r.Silent = texts
	return r
}

func TestPolicyPageTellsWhatACandidateWouldChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	same := replay.Verdict{Kind: replay.Same, Is: replay.Answer{Decision: "allow", Rules: []string{"reads"}}}
	tally := replay.NewTally()
	for range 4 {
		tally.Add(same)
	}
	tally.Miss(replay.WhyRead, 3)
	flip := replay.Verdict{Action: "act_7", Tool: "bank.pay", At: start, Kind: replay.Flip, Void: true,
		Was: replay.Answer{Decision: "allow", Rules: []string{"small"}}, Is: replay.Answer{Decision: "require_approval", Rules: []string{"large"}, Requirements: []string{"finance:2"}}}
	tally.Add(flip)
	b.diff = web.Diff{Candidate: "/home/ann/next.cedar", Recorded: tally.Report(nil)}
	b.diff.Recorded.Silent, b.diff.Recorded.Cut = []string{"never"}, true
	page := plainText(b.get("/policy").Body.String())
	if missing := inOrder(page, "/home/ann/next.cedar", "the last day", "7 days", "30 days", "Recorded calls, decided again", "only the newest were", "1 would be decided otherwise",
		"4 would be decided the same", "3 cannot be told: read without arguments", "1 allow by small require approval of finance:2 by large bank.pay", "act_7 bank.pay allow require_approval large",
		"Open approvals that would be void", "act_7", "decided nothing: never", "Beside the policy in force", "No call in these days"); missing != "" {
		t.Errorf("%q is missing or out of order in %s", missing, page)
	}
}

func TestPolicyPageWithoutACandidateSaysHowToHaveOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if page := plainText(b.get("/policy").Body.String()); !strings.Contains(page, "There is no candidate") || !strings.Contains(page, "verbatim.yaml") {
		t.Error(page)
	}
	b.diff = web.Diff{Candidate: "next.cedar", Problem: "next.cedar:1:9: no tool x"}
	if page := plainText(b.get("/policy").Body.String()); !strings.Contains(page, "does not load") || !strings.Contains(page, "1:9: no tool x") || strings.Contains(page, "decided again") {
		t.Error(page)
	}
	b.gate.fail = errors.New("disk")
	if w := b.get("/policy"); w.Code != http.StatusInternalServerError {
		t.Errorf("a broken store: %d", w.Code)
	}
}

func TestPolicyPageIsForThoseWhoManage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if page := b.get("/operate").Body.String(); !strings.Contains(page, `href="/policy"`) {
		t.Error("nothing leads there")
	}
	b.join(t, "Olga", tenant, "operator") // from now on there is one
	if w := b.get("/policy"); w.Code != http.StatusNotFound {
		t.Errorf("an approver who is no operator: %d", w.Code)
	}
	if page := b.get("/operate").Body.String(); strings.Contains(page, `href="/policy"`) {
		t.Error("a link leads where nothing is for this person")
	}
}

func TestLongDiffIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	texts := make([]string, 120)
	for i := range texts {
		texts[i] = fmt.Sprint("t", i)
	}
	b.diff = web.Diff{Candidate: "c", Recorded: someReport(texts)}
	page := b.get("/policy").Body.String()
	if n := strings.Count(page, `href="/actions/act_`); n != 50 || !strings.Contains(page, "70 older ones are not listed") {
		t.Errorf("%d calls are listed", n)
	}
}
