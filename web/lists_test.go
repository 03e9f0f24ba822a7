package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// shown returns which of the ids stand in a page as links, in their order.
func shown(page string) []string {
	var out []string
	for _, part := range strings.Split(page, `class="go" href="/actions/`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		out = append(out, id)
	}
	return out
}

func inboxBench(t *testing.T) *bench {
	t.Helper()
	others := command("act_2", "reboot")
	others.Terms.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}
	low := command("act_3", "ls")
	low.HighImpact = false
	done := payment("act_4")
	done.State = action.Succeeded
	return newBench(t, payment("act_1"), sealed(others), sealed(low), done)
}

func TestInboxCountsAndFilters(t *testing.T) {
	t.Parallel()
	b := inboxBench(t)
	page := text(b.get("/").Body.String())
	for _, want := range []string{"2 for you", "1 for others", "3 waiting", "shell.run (2)", "high only (2)"} {
		if !strings.Contains(page, want) {
			t.Errorf("the inbox does not say %q", want)
		}
	}
	for query, want := range map[string][]string{
		"":                           {"act_1", "act_2", "act_3"},
		"?for=me":                    {"act_1", "act_3"},
		"?for=others":                {"act_2"},
		"?tool=shell.run":            {"act_2", "act_3"},
		"?impact=high":               {"act_1", "act_2"},
		"?for=me&tool=shell.run":     {"act_3"},
		"?for=others&tool=bank.pay":  nil,
		"?tool=unknown":              nil,
		"?for=me&impact=high&tool=":  {"act_1"},
		"?for=nobody":                {"act_1", "act_2", "act_3"},
		"?tool=%E2%80%AEshell.run":   {"act_1", "act_2", "act_3"},
		"?for=me&for=others&unknown": {"act_1", "act_3"},
	} {
		if diff := cmp.Diff(want, shown(b.get("/"+query).Body.String())); diff != "" {
			t.Errorf("inbox %s (-want +got):\n%s", query, diff)
		}
	}
	if page := text(b.get("/?tool=unknown").Body.String()); !strings.Contains(page, "Nothing is waiting here.") || !strings.Contains(page, "2 for you") {
		t.Error("an empty filter hides the counts or says nothing")
	}
}

func TestDecidedActionLeavesTheOwnInbox(t *testing.T) {
	t.Parallel()
	a := payment("act_1")
	a.Terms.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 2}}}}
	b := newBench(t, sealed(a))
	b.post("/actions/act_1/approve", b.fill(t, "/actions/act_1", "/actions/act_1/approve"))
	page := b.get("/").Body.String()
	if !strings.Contains(text(page), "you have decided") || len(shown(b.get("/?for=me").Body.String())) != 0 {
		t.Error("the action still waits for the same person")
	}
}

func TestHugeProposalsDoNotSlowTheInboxDown(t *testing.T) {
	t.Parallel()
	huge := command("act_1", strings.Repeat("x", 1<<20))
	var all []action.Action
	for i := range 200 {
		a := huge
		a.ID = fmt.Sprintf("act_%d", i)
		all = append(all, a)
	}
	b := newBench(t, all...)
	page := b.get("/").Body.String()
	if len(page) > 1<<20 || len(shown(page)) != 200 || !strings.Contains(text(page), "Call shell.run with 1048590 bytes of arguments") {
		t.Errorf("the inbox has %d bytes and %d actions", len(page), len(shown(page)))
	}
	if !strings.Contains(text(page), "More are waiting than are counted here") {
		t.Error("a full inbox does not say so")
	}
}

func TestHistoryIsPagedWithoutGapsOrRepeats(t *testing.T) {
	t.Parallel()
	var all []action.Action
	for i := range 120 {
		a := payment(fmt.Sprintf("act_%03d", i))
		a.State = action.Succeeded
		if i%3 == 0 {
			a.State = action.Denied
		}
		all = append(all, a)
	}
	b := newBench(t, all...)
	seen := map[string]int{}
	path := "/actions"
	for range 10 {
		page := b.get(path).Body.String()
		for _, id := range shown(page) {
			seen[id]++
		}
		_, rest, more := strings.Cut(page, `<p><a href="`)
		if !more {
			break
		}
		path, _, _ = strings.Cut(rest, `"`)
		path = strings.ReplaceAll(path, "&amp;", "&")
	}
	if len(seen) != 120 {
		t.Errorf("%d actions were shown; want 120", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was shown %d times", id, n)
		}
	}
	if got := shown(b.get("/actions?state=denied").Body.String()); len(got) != 40 {
		t.Errorf("%d denied; want 40", len(got))
	}
	if got := shown(b.get("/actions?tool=other.tool").Body.String()); len(got) != 0 {
		t.Errorf("%d of another tool; want none", len(got))
	}
}

func TestEveryStateHasWordsForPeople(t *testing.T) {
	t.Parallel()
	var all []action.Action
	for _, s := range action.States() {
		a := payment("act_" + string(s))
		a.State = s
		all = append(all, a)
	}
	b := newBench(t, all...)
	words := map[string]action.State{}
	for _, s := range action.States() {
		if s == action.Received {
			continue // never stored
		}
		_, rest, _ := strings.Cut(b.get("/actions/act_"+string(s)).Body.String(), `<span class="chip `)
		_, rest, _ = strings.Cut(rest, ">")
		word, _, _ := strings.Cut(rest, "<")
		if other, taken := words[word]; taken || word == "" || strings.Contains(word, "_") {
			t.Errorf("%s is shown as %q, %q too", s, word, other)
		}
		words[word] = s
	}
}

func TestRecordsAreListedAndShownOneByOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 60 {
		b.gate.records = append(b.gate.records, audit.Record{Seq: int64(i + 1), ID: fmt.Sprintf("rec_%d", i+1), At: start, Tenant: tenant, Event: "voted",
			Action: fmt.Sprintf("act_%d", i%2), By: "alice@acme", From: "pending_approval", To: "approved",
			Facts: map[string]string{"policyVersion": "8f2c/3"}, Commitments: map[string]string{"arguments": "00ff"}})
	}
	page := b.get("/records").Body.String()
	if n := strings.Count(page, `<a href="/records/`); n != 50 || !strings.Contains(page, "Older records") {
		t.Errorf("%d records; want 50 and a link to older ones", n)
	}
	if page := b.get("/records?before=11").Body.String(); strings.Count(page, `<a href="/records/`) != 10 {
		t.Error("the second page does not hold the other 10")
	}
	if page := b.get("/records?action=act_1&event=voted").Body.String(); strings.Count(page, `<a href="/records/`) != 30 {
		t.Error("the filter does not hold the 30 of one action")
	}
	one := text(b.get("/records/17").Body.String())
	for _, want := range []string{"Record 17: voted", "rec_17", "alice@acme", "pending_approval → approved", "policyVersion8f2c/3", "arguments00ff"} {
		if !strings.Contains(one, want) {
			t.Errorf("record 17 does not say %q", want)
		}
	}
}

func TestEveryEventOfTheRecordHasWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	said := map[string]string{}
	for i, event := range audit.Events() {
		b.gate.records = append(b.gate.records, audit.Record{Seq: int64(i + 1), ID: fmt.Sprintf("rec_%d", i+1), At: start, Tenant: tenant, Event: event})
	}
	for i, event := range audit.Events() {
		_, rest, _ := strings.Cut(b.get(fmt.Sprintf("/records/%d", i+1)).Body.String(), `<p class="sub">`)
		words, _, _ := strings.Cut(rest, "<")
		if other, taken := said[words]; taken || words == "" || strings.Contains(words, "_") {
			t.Errorf("%s reads %q, %q too", event, words, other)
		}
		said[words] = event
	}
}

func TestRecordsNamePeopleOfTheTenant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	here, elsewhere := b.join(t, "Nora Nearby", tenant), b.join(t, "Fritz Faraway", "other")
	for i, by := range []string{here.ID, elsewhere.ID, "host"} {
		b.gate.records = append(b.gate.records, audit.Record{Seq: int64(i + 1), ID: fmt.Sprintf("rec_%d", i+1), At: start, Tenant: tenant,
			Event: audit.VoteApprove, By: by})
	}
	list := text(b.get("/records").Body.String())
	for _, want := range []string{"Nora Nearby", elsewhere.ID, "host"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not say %q", want)
		}
	}
	if strings.Contains(list, "Fritz") || strings.Contains(text(b.get("/records/2").Body.String()), "Fritz") {
		t.Error("a person of another tenant is named")
	}
	if one := text(b.get("/records/1").Body.String()); !strings.Contains(one, "Nora Nearby") || !strings.Contains(one, here.ID) {
		t.Error("one record does not say both name and id")
	}
}
