package main

import (
	"os"
	"strings"
	"testing"
)

func TestApprovalsShowSaysWhatLimitsLeave(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10ms")
	if out, err := p.command("catalog", "import", "--write", "--name", "notes", "--", "notes-mcp").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(p.home.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	const head = "  \"notes.add\":\n"
	limited := strings.Replace(string(text), head, head+"    limits: [hourly, {use: spend, amount: /slowMs, currency: EUR}]\n", 1)
	limited = strings.Replace(limited, "\ntools:\n", "\nlimits:\n  hourly: {window: hour, per: [principal], calls: 3}\n  spend: {window: day, per: [], amounts: {EUR: 150000}}\ntools:\n", 1)
	if err := os.WriteFile(p.home.Catalog(), []byte(limited), 0o600); err != nil {
		t.Fatal(err)
	}
	a := p.notesAgent()
	p.setup()
	first := p.call(a, "add", `{"text":"x","slowMs":100}`, "").Action
	p.approve(first)
	if got := p.call(a, "add", `{"text":"x","slowMs":100}`, first); got.Text != "added" {
		t.Fatalf("%+v", got)
	}
	show := func(id string, want ...string) {
		t.Helper()
		out, err := p.command("approvals", "show", id).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("no %q in:\n%s", w, out)
			}
		}
	}
	_, principal, err := localPrincipal()
	if err != nil {
		t.Fatal(err)
	}
	show(p.call(a, "add", `{"text":"y","slowMs":100}`, "").Action, "hourly: takes 1; 2 of 3 left in this hour for", principal,
		"spend: takes EUR 1.00; EUR 1,499.00 of EUR 1,500.00 left in this day")
	show(p.call(a, "add", `{"text":"z","slowMs":150000}`, "").Action, "spend: takes EUR 1,500.00; EUR 1,499.00 of EUR 1,500.00 left in this day",
		"there is no room for it now")

	out, _ := p.command("explain", "notes.add", `{"text":"y","slowMs":100}`).CombinedOutput() // the exit code says that it asks
	for _, w := range []string{"hourly: would take 1 of at most 3 in each hour", "spend: would take EUR 1.00 of at most EUR 1,500.00 in each day", "what is left was not asked"} {
		if !strings.Contains(string(out), w) {
			t.Errorf("no %q in:\n%s", w, out)
		}
	}
	out, _ = p.command("explain", "--json", "notes.add", `{"text":"y","slowMs":100}`).CombinedOutput()
	if !strings.Contains(string(out), `"currency": "EUR"`) || !strings.Contains(string(out), `"most": 150000`) {
		t.Errorf("%s", out)
	}
}
