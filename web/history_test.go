package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
)

// past is a bench whose actions lie on three days, the newest last.
func past(t *testing.T) *bench {
	t.Helper()
	at := func(id string, days int, change func(*action.Action)) action.Action {
		a := payment(id)
		a.CreatedAt, a.State = start.AddDate(0, 0, -days), action.Succeeded
		change(&a)
		return sealed(a)
	}
	b := newBench(t,
		at("act_old", 9, func(a *action.Action) { a.Agent = "Another Agent" }),
		at("act_yes", 1, func(*action.Action) {}),
		at("act_no", 1, func(a *action.Action) { a.State = action.Denied }),
		at("act_spoof", 0, func(a *action.Action) { a.State, a.Decision.Code = action.Denied, "identity_spoof" }),
		payment("act_new"))
	b.gate.votes = []action.Vote{{ActionID: "act_yes", Voter: b.alice.ID, Approve: true, At: start.AddDate(0, 0, -1)},
		{ActionID: "act_no", Voter: "person_zoe", Reason: "not this vendor", At: start.AddDate(0, 0, -1)}}
	b.join(t, "Zoe", tenant, "finance")
	return b
}

func TestYesterdaysApprovalIsFound(t *testing.T) {
	t.Parallel()
	b := past(t)
	for query, want := range map[string][]string{
		"":                              {"act_new", "act_spoof", "act_no", "act_yes", "act_old"},
		"?day=2026-02-28":               {"act_no", "act_yes"},
		"?day=2026-02-28&by=me":         {"act_yes"},
		"?by=me":                        {"act_yes"},
		"?q=alice":                      {"act_yes"},
		"?q=NOT+THIS+vendor":            {"act_no"},
		"?q=8%2C400":                    {"act_new", "act_spoof", "act_no", "act_yes", "act_old"},
		"?q=another+agent":              {"act_old"},
		"?q=act_spoof":                  {"act_spoof"},
		"?q=identity_spoof&state=":      {"act_spoof"},
		"?state=did_not_run":            {"act_spoof", "act_no"},
		"?state=open":                   {"act_new"},
		"?state=ran&q=VENDOR-001":       {"act_yes", "act_old"},
		"?q=tok_live":                   nil,
		"?q=nothing+like+it":            nil,
		"?day=2026-13-40":               {"act_new", "act_spoof", "act_no", "act_yes", "act_old"},
		"?day=2020-01-01":               nil,
		"?state=unknown":                {"act_new", "act_spoof", "act_no", "act_yes", "act_old"},
		"?tool=bank.pay&day=2026-02-20": {"act_old"},
	} {
		if diff := cmp.Diff(want, shown(b.get("/actions"+query).Body.String())); diff != "" {
			t.Errorf("history %s (-want +got):\n%s", query, diff)
		}
	}
	page := text(b.get("/actions").Body.String())
	for _, want := range []string{"Today, Sunday, 1 Mar 2026", "Yesterday, Saturday, 28 Feb 2026", "Friday, 20 Feb 2026", "approved by Alice", "rejected by Zoe: not this vendor"} {
		if !strings.Contains(page, want) {
			t.Errorf("the history does not say %q", want)
		}
	}
	if !strings.Contains(text(b.get("/actions?day=yesterday").Body.String()), "A day is written like") {
		t.Error("a day that cannot be read is passed over silently")
	}
}

// A day is one of the reader's zone: nine in the morning of 1 March in London
// is still 28 February in Honolulu at noon.
func TestDayOfTheHistoryIsTheReaders(t *testing.T) {
	t.Parallel()
	b := past(t)
	r := b.request(http.MethodGet, "/actions?day=2026-02-28", nil)
	r.AddCookie(&http.Cookie{Name: "verbatim-zone", Value: "Pacific/Honolulu"})
	if diff := cmp.Diff([]string{"act_new", "act_spoof"}, shown(b.send(r).Body.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSearchSaysHowFarItLooked(t *testing.T) {
	t.Parallel()
	all := []action.Action{payment("act_needle")}
	all[0].Agent = "Needle"
	for i := range 2300 {
		a := payment(fmt.Sprintf("act_%04d", i))
		a.State, a.CreatedAt = action.Expired, start.Add(-time.Duration(3000-i)*time.Minute)
		all = append(all, a)
	}
	b := newBench(t, all...)
	page := b.get("/actions?q=needle").Body.String()
	if len(shown(page)) != 0 || !strings.Contains(text(page), "The newest 2000 were looked at.") {
		t.Fatal("the page does not say that it stopped looking")
	}
	_, rest, _ := strings.Cut(page, "were looked at.")
	_, rest, _ = strings.Cut(rest, `<a href="/actions?`)
	next, _, _ := strings.Cut(rest, `"`)
	if diff := cmp.Diff([]string{"act_needle"}, shown(b.get("/actions?"+strings.ReplaceAll(next, "&amp;", "&")).Body.String())); diff != "" {
		t.Errorf("further back (-want +got):\n%s", diff)
	}
}
