package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// log writes records one after the other.
type log struct{ records []audit.Record }

func (l *log) add(at time.Time, event, id, tool string, from, to action.State) {
	l.records = append(l.records, audit.Record{Seq: int64(len(l.records) + 1), At: at, Tenant: tenant, Event: event, Action: id, Tool: tool,
		From: string(from), To: string(to)})
}

// waited writes a call that waits and then ends.
func (l *log) waited(at time.Time, id string, long time.Duration, event string, to action.State) {
	l.add(at, audit.ActionSuspended, id, "bank.pay", action.Received, action.PendingApproval)
	l.add(at.Add(long), event, id, "bank.pay", action.PendingApproval, to)
}

// table reads the rows of numbers below a heading.
func table(page, heading string) (out []string) {
	_, page, _ = strings.Cut(page, "<h2>"+heading+"</h2>")
	page, _, _ = strings.Cut(page, "</section>")
	_, page, _ = strings.Cut(page, "<tbody>")
	for _, row := range strings.Split(page, "</tr>") {
		if regexp.MustCompile(`<td>[1-9]`).MatchString(row) { // the others are empty
			out = append(out, plainText(row))
		}
	}
	return out
}

func busy() []audit.Record {
	l := &log{}
	old := start.AddDate(0, 0, -14)
	l.add(old, audit.ReadAllowed, "act_old", "bank.balance", action.Received, "")
	day := start.AddDate(0, 0, -2)
	for i := range 3 {
		l.add(day, audit.ReadAllowed, fmt.Sprint("act_r", i), "bank.balance", action.Received, "")
	}
	l.add(day, audit.ActionStarted, "act_s", "files.write", action.Received, action.Executing)
	l.add(day, audit.ActionSucceeded, "act_s", "files.write", action.Executing, action.Succeeded)
	l.add(day, audit.ActionDenied, "act_d", "bank.pay", action.Received, action.Denied)
	l.add(day, audit.InputRejected, "", "bank.pay", "", "")
	l.waited(start.Add(-5*time.Hour), "act_1", 30*time.Second, audit.ActionApproved, action.Approved)
	l.add(start.Add(-4*time.Hour), audit.ActionStarted, "act_1", "bank.pay", action.Approved, action.Executing)
	l.waited(start.Add(-3*time.Hour), "act_2", 20*time.Minute, audit.ActionDenied, action.Denied)
	l.waited(start.Add(-2*time.Hour), "act_3", 90*time.Minute, audit.ActionExpired, action.Expired)
	l.add(start.Add(-time.Hour), audit.ActionSuspended, "act_4", "bank.pay", action.Received, action.PendingApproval)
	l.records = append(l.records, audit.Record{Seq: 99, At: start, Tenant: "other", Event: audit.ReadAllowed, Tool: "their.tool"})
	return l.records
}

func TestOverviewCountsWhatTheRecordsSay(t *testing.T) {
	t.Parallel()
	uncertain := payment("act_u")
	uncertain.State, uncertain.Result = action.Uncertain, &action.Result{Code: "outcome_uncertain", At: start.Add(-3 * time.Hour)}
	b := newBench(t, sealed(uncertain), payment("act_4"))
	b.gate.records = busy()
	page := b.get("/overview").Body.String()
	for heading, want := range map[string][]string{
		"Decisions by day":                   {"27 Feb 4 0 1 1", "1 Mar 0 4 0 0"},
		"How long calls waited for people":   {"&lt; 1 min 1 0", "15–60 min 1 0", "1–4 h 0 1"},
		"How long calls have been uncertain": {"1–24 h 1"},
		"Tools":                              {"bank.pay 0 4 1 1", "bank.balance 3 0 0 0", "files.write 1 0 0 0"},
	} {
		if diff := cmp.Diff(want, table(page, heading)); diff != "" {
			t.Errorf("%s: %s", heading, diff)
		}
	}
	if strings.Contains(page, "their.tool") || strings.Contains(page, "<script>") {
		t.Error("it shows what is not of this tenant, or a script")
	}
	if n := strings.Count(page, "<svg role=\"img\""); n != 3 {
		t.Errorf("%d plots", n)
	}
}

func TestBarsAreAsHighAsTheirNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := &log{}
	for i := range 300 {
		l.add(start.AddDate(0, 0, -1), audit.ReadAllowed, fmt.Sprint("a", i), "t", action.Received, "")
	}
	l.add(start.AddDate(0, 0, -1), audit.ActionDenied, "d", "t", action.Received, action.Denied)
	for i := range 150 {
		l.add(start, audit.ReadAllowed, fmt.Sprint("b", i), "t", action.Received, "")
	}
	b.gate.records = l.records
	var got []string
	for _, m := range regexp.MustCompile(`<rect class="(f-[a-z]+)" x="(\d+)" y="\d+" width="38" height="(\d+)"/>`).FindAllStringSubmatch(b.get("/overview").Body.String(), -1) {
		got = append(got, strings.Join(m[1:], " "))
	}
	// 152 units are 301 calls; a single one is still to be seen.
	if diff := cmp.Diff([]string{"f-good 856 151", "f-bad 856 2", "f-good 926 75"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyOverviewPlotsNothing(t *testing.T) {
	t.Parallel()
	page := newBench(t).get("/overview").Body.String()
	if strings.Contains(page, "<svg") || strings.Count(page, "Nothing to show.") != 3 {
		t.Error(plainText(page))
	}
}

func TestOverviewSaysWhereItStoppedCounting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for seq := int64(1); seq <= 21_000; seq++ {
		b.gate.records = append(b.gate.records, audit.Record{Seq: seq, At: start, Tenant: tenant, Event: audit.ReadAllowed, Tool: "t"})
	}
	if page := plainText(b.get("/overview").Body.String()); !strings.Contains(page, "Only the newest 20000 records were counted") || !strings.Contains(page, "20000 in all") {
		t.Error(page[:400])
	}
	b.gate.fail = errors.New("disk")
	if w := b.get("/overview"); w.Code != http.StatusInternalServerError {
		t.Errorf("a broken store: %d", w.Code)
	}
}

func TestNarrowScreenBeginsWithTheNewestDay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.gate.records = busy()
	var got []string
	for _, m := range regexp.MustCompile(`class="(plot[a-z ]*)" tabindex="0" role="region" aria-label="([^"]*)"`).FindAllStringSubmatch(b.get("/overview").Body.String(), -1) {
		got = append(got, m[2]+": "+m[1])
	}
	if diff := cmp.Diff([]string{"Decisions by day: plot newest", "How long calls waited for people: plot"}, got); diff != "" {
		t.Error(diff)
	}
}
