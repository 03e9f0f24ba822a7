package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// read opens a page as a browser of some language and zone does.
func (b *bench) read(path, language string, cookies ...*http.Cookie) string {
	r := b.request(http.MethodGet, path, nil)
	r.Header.Set("Accept-Language", language)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return text(b.send(r).Body.String())
}

func TestMoneyIsWrittenAsTheReaderWritesNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	for language, want := range map[string]string{
		"": "USD 8,400.00", "en-US,en;q=0.9": "USD 8,400.00", "de-DE,de;q=0.9,en;q=0.8": "8.400,00 USD", "de-CH": "USD 8’400.00",
		"fr;q=0.9, pl;q=1": "8 400,00 USD", "hi-IN": "USD 8,400.00", "xx": "USD 8,400.00", "en;q=0.1,sv": "8 400,00 USD",
		"de;q=2": "USD 8,400.00", "*": "USD 8,400.00", ";;q=,,": "USD 8,400.00", "de_DE": "USD 8,400.00", "en;q=0.5,de;q=0": "USD 8,400.00",
	} {
		page := b.read("/actions/act_1", language)
		if !strings.Contains(page, "Pay "+want+" to “VENDOR-001”") || !strings.Contains(page, want+"840000") {
			t.Errorf("%q: the page does not say %s beside 840000", language, want)
		}
	}
}

func TestTimesAreInTheReadersZoneAndSayWhich(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1")) // ends at 09:00 UTC on 2 Mar 2026
	zone := func(name string) *http.Cookie { return &http.Cookie{Name: "verbatim-zone", Value: name} }
	for name, want := range map[string][2]string{
		"":                      {"2 Mar 2026, 09:00:00 UTC", "Times in UTC."},
		"Europe%2FBerlin":       {"2 Mar 2026, 10:00:00 UTC+1", "Times in Europe/Berlin, UTC+1."},
		"Asia/Kolkata":          {"2 Mar 2026, 14:30:00 UTC+5:30", "Asia/Kolkata"},
		"America/New_York":      {"2 Mar 2026, 04:00:00 UTC-5", "America/New_York"},
		"UTC":                   {"2 Mar 2026, 09:00:00 UTC", "Times in UTC."},
		"Local":                 {"2 Mar 2026, 09:00:00 UTC", "Times in UTC."},
		"..%2F..%2Fetc%2Fhosts": {"2 Mar 2026, 09:00:00 UTC", "Times in UTC."},
		"%2Fetc%2Fhosts":        {"2 Mar 2026, 09:00:00 UTC", "Times in UTC."},
		"%3Cscript%3E":          {"2 Mar 2026, 09:00:00 UTC", "Times in UTC."},
	} {
		page := b.read("/actions/act_1", "en", zone(name))
		for _, part := range want {
			if !strings.Contains(page, part) {
				t.Errorf("%q: the page does not say %q", name, part)
			}
		}
	}
	if page := b.read("/actions/act_1", "en", zone("Europe/Berlin"), zone("Asia/Tokyo")); !strings.Contains(page, "Times in UTC.") {
		t.Error("two cookies are believed")
	}
}

func TestReaderChoosesWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	choose := func(zone, numbers string) (int, *http.Cookie) {
		form := with(formOf(t, b.get("/reading").Body.String(), "/reading"), "zone", zone, "numbers", numbers)
		w := b.post("/reading", form)
		for _, c := range w.Result().Cookies() {
			return w.Code, c
		}
		return w.Code, nil
	}
	code, c := choose("Asia/Tokyo", "apostrophe")
	if code != http.StatusSeeOther || c == nil || c.SameSite != http.SameSiteStrictMode || !c.HttpOnly {
		t.Fatalf("status %d, cookie %+v", code, c)
	}
	page := b.read("/actions/act_1", "de", c, &http.Cookie{Name: "verbatim-zone", Value: "Europe/Berlin"})
	for _, want := range []string{"USD 8’400.00", "2 Mar 2026, 18:00:00 UTC+9", "Times in Asia/Tokyo, UTC+9. Numbers like 1’234’567.89."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, bad := range [][2]string{{"Mars/Olympus", ""}, {"", "roman"}, {"../../etc/hosts", "comma"}} {
		if code, c := choose(bad[0], bad[1]); code != http.StatusUnprocessableEntity || c != nil {
			t.Errorf("%v: status %d, cookie %v", bad, code, c)
		}
	}
	if code, c := choose("", ""); code != http.StatusSeeOther || c == nil || c.MaxAge >= 0 {
		t.Errorf("following the browser again: %d, %+v", code, c)
	}
	if w := b.post("/reading", url.Values{"token": {"x"}, "zone": {""}, "numbers": {""}}); w.Code != http.StatusBadRequest {
		t.Errorf("a form that is not ours = %d", w.Code)
	}
}

func TestMomentsAmongTheArgumentsAreSaidInTheReadersZone(t *testing.T) {
	t.Parallel()
	a := command("act_1", "x")
	a.Payload.Args = `{"at":"2026-07-01T12:00:00Z","secret":"2026-07-01T13:00:00Z"}`
	a.Payload.Requested = a.Payload.Args
	b := newBench(t, sealed(a))
	page := b.read("/actions/act_1", "en", &http.Cookie{Name: "verbatim-zone", Value: "Europe/Berlin"})
	if !strings.Contains(page, `1 Jul 2026, 14:00:00 UTC+2"2026-07-01T12:00:00Z"`) {
		t.Error("the moment is not spelled out beside its value")
	}
}

func TestPageSaysWhatWasBeforeAndWhatLimitsLeave(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	limited := *payTool
	limited.Limits = []catalog.LimitUse{{Limit: &catalog.Limit{}}}
	b.site = b.withTool(t, &limited)
	if page := text(b.get("/actions/act_1").Body.String()); !strings.Contains(page, "Never with this tool on this target: this is the first") {
		t.Error("a first payment is not said to be one")
	}
	b.gate.earlier = action.Earlier{Like: action.Series{Succeeded: 3, Last: start.Add(-2 * time.Hour), LastID: "act_0"},
		Same: action.Series{Succeeded: 1, Last: start.Add(-time.Minute)}, Uncertain: 1}
	b.gate.room = []verbatim.Room{
		{Limit: action.Limit{Name: "daily", Window: action.Day, Scope: `["principal","bob@acme"]`, Currency: "USD", Amount: 840000, Most: 5000000}, Taken: 1000000},
		{Limit: action.Limit{Name: "calls", Window: action.Hour, Amount: 1, Most: 3}, Taken: 3}}
	b.gate.stops = []action.Stop{{Tenant: tenant, Tool: "other.tool"}, {Tenant: tenant, Tool: "bank.pay"}}
	page := text(b.get("/actions/act_1").Body.String())
	for _, want := range []string{"3 succeeded with this tool on this target, the last 2 h ago", "Exactly this call has succeeded before, 1 min ago. If it runs, it happens again.",
		"1 action with this tool on this target is uncertain", "daily: this takes USD 8,400.00 of the USD 40,000.00 left, and leaves USD 31,600.00",
		"USD 50,000.00 a day, for principal bob@acme.", "The limit calls has no room for this now.", "An operator has stopped this kind of action."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	b.gate.change("act_1", func(a *action.Action) { a.State = action.Succeeded })
	if page := text(b.get("/actions/act_1").Body.String()); strings.Contains(page, "it happens again") || strings.Contains(page, "has no room") {
		t.Error("what has ended is still warned about")
	}
}

// B35: nobody is surprised by the end of a deadline.
func TestB35NearDeadlineIsSaidInAdvance(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	if strings.Contains(text(b.get("/actions/act_1").Body.String()), "little time left") {
		t.Error("a day is said to be little")
	}
	b.gate.change("act_1", func(a *action.Action) { a.Deadline = start.Add(9 * time.Minute) })
	if !strings.Contains(text(b.get("/actions/act_1").Body.String()), "There is little time left.") {
		t.Error("the page does not warn")
	}
	if !strings.Contains(b.get("/").Body.String(), `<b class="soon">`) {
		t.Error("the inbox does not warn")
	}
}

func TestAgentsOwnWordsStandApart(t *testing.T) {
	t.Parallel()
	a := command("act_1", "x")
	a.Payload.Raw, a.CallID = []byte("{\"command\":\"x\", \"why\":\"the boss said so\u202e\"}"), "call_7"
	secret := payment("act_2")
	secret.Payload.Raw = []byte(`{"auth":{"token":"tok_live_4f9a11"}}`)
	b := newBench(t, sealed(a), sealed(secret))
	_, apart, found := strings.Cut(b.get("/actions/act_1").Body.String(), "The agent's own words")
	if !found || !strings.Contains(text(apart), `the boss said so\u{202E}`) || !strings.Contains(text(apart), "Nobody has checked them") || !strings.Contains(text(apart), "call_7") {
		t.Errorf("the words do not stand apart: %.300s", text(apart))
	}
	if page := b.get("/actions/act_2").Body.String(); strings.Contains(page, "tok_live") || !strings.Contains(page, "may hold a secret") {
		t.Error("the words show a secret")
	}
}

func TestLookedUpMemberStandsBesideWhatItLedTo(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	tool := *payTool
	tool.Resolvers = append(tool.Resolvers[:0:0], tool.Resolvers...)
	tool.Resolvers[0].From = map[string]string{"text": "/amount"}
	b.site = b.withTool(t, &tool)
	got := rows(t, b.get("/actions/act_1").Body.String())
	if cells := got["amountMinor"]; len(cells) != 3 || cells[0] != `amount "8.4 thousand USD"` || cells[1] != "USD 8,400.00840000" {
		t.Errorf("amountMinor shows %q", cells)
	}
	if _, still := got["amount"]; still {
		t.Error("the looked-up member has a row of its own as well")
	}
	if cells := got["vendor"]; len(cells) != 3 || cells[1] != "absent" {
		t.Errorf("a member whose rule is not known lost its row: %q", cells)
	}
	b.gate.change("act_1", func(a *action.Action) {
		a.Changes = append([]canon.Change{{Pointer: "/amount", Kind: canon.ChangeTransformed}}, a.Changes...)
	})
	if _, still := rows(t, b.get("/actions/act_1").Body.String())["amount"]; !still {
		t.Error("a member that more happened to lost its row")
	}
}
