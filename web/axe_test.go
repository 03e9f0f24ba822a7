package web_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// scheme makes the browser prefer light or dark.
func scheme(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		t.Fatal(err)
	}
}

// showcase is a bench with an action in every state that a page tells apart.
func showcase(t *testing.T) *bench {
	t.Helper()
	in := func(id string, change func(*action.Action)) action.Action {
		a := payment(id)
		change(&a)
		return sealed(a)
	}
	long := command("act_long", strings.Repeat("long ", 1000))
	long.HighImpact = false
	b := newBench(t, ordinary("act_ord1", "ls"), ordinary("act_ord2", "date"), payment("act_wait"), sealed(long), command("act_marks", "rm\u200b -rf /srv \u0430dmin \u05d0\u05d1"),
		in("act_approved", func(a *action.Action) { a.State, a.Deadline = action.Approved, start.Add(600e9) }),
		in("act_done", func(a *action.Action) {
			a.State, a.Deadline = action.Succeeded, start
			a.Result = &action.Result{Output: []byte(`{"paid":true}`), Code: "ok", Comparison: "equal", At: start}
		}),
		in("act_failed", func(a *action.Action) {
			a.State, a.Deadline = action.Failed, start
			a.Result = &action.Result{Output: []byte(`no`), Code: "tool_failed", Evidence: action.EvidenceReported, Detail: "the tool said no", At: start}
		}),
		in("act_uncertain", func(a *action.Action) {
			a.State, a.Deadline = action.Uncertain, start
			a.Result = &action.Result{Code: "outcome_uncertain", Detail: "no answer in time", At: start}
		}),
		in("act_gone", func(a *action.Action) { a.Tool = "gone.tool" }))
	b.verify = func(_ context.Context, _, id string) (audit.Evidence, error) {
		return audit.Evidence{Action: id, Log: "log.example/abc", Size: 9, ByLog: true, Steps: make([]audit.Step, 1), Claim: audit.BundleClaim}, nil
	}
	b.diff = someDiff("notes")
	b.gate.votes = []action.Vote{{ActionID: "act_approved", Voter: b.alice.ID, Approve: true, Method: action.MethodPassword, At: start},
		{ActionID: "act_done", Voter: b.alice.ID, Approve: true, Method: action.MethodPasskey, At: start}}
	b.gate.grants = []action.StandingGrant{shownGrant()}
	b.gate.signed = []action.Vote{{ActionID: shownGrant().ID, Voter: b.alice.ID, Approve: true, Method: action.MethodPassword, Digest: shownGrant().Digest, At: start}}
	b.gate.records = []audit.Record{{Seq: 1, ID: "rec_1", At: start, Tenant: tenant, Event: audit.ActionSuspended, Action: "act_wait", Tool: "bank.pay", By: "bob@acme",
		From: "received", To: "pending_approval", Facts: map[string]string{"hash": strings.Repeat("0", 64)}, Commitments: map[string]string{"args": strings.Repeat("1", 64)}}}
	return b
}

// shownGrant is a grant for calls like one that waits.
func shownGrant() action.StandingGrant {
	a := ordinary("act_ord1", "ls")
	g := action.StandingGrant{Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Owner: a.Owner, Task: a.Task, Tool: a.Tool, Definition: a.Definition,
		PolicyVersion: a.Decision.PolicyVersion, Source: a.ID, Scope: action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/command", Rule: action.RuleAny}}},
		MaxUses: 5, Uses: 1, Requirements: a.Terms.Requirements, Nonce: "n", RequestedAt: start, ExpiresAt: start.Add(3600e9)}
	g.Digest = approval.StandingDigest(g)
	g.ID = approval.StandingID(g.Digest)
	return g
}

// everyPage are the addresses of pages behind the login, one of each kind.
func everyPage() []string {
	return []string{"/", "/?for=others", "/actions", "/actions?state=expired", "/actions/act_wait", "/actions/act_long", "/actions/act_long?show=all",
		"/actions/act_marks", "/actions/act_approved", "/actions/act_done", "/actions/act_failed", "/actions/act_uncertain", "/actions/act_gone",
		"/records", "/records/1", "/records?q=nothing", "/actions/act_wait/timeline", "/batch", "/account", "/people", "/people/person_alice", "/reading", "/operate", "/overview", "/policy", "/policy?days=30", "/actions/act_ord1/allow", "/grants", "/grants/" + shownGrant().ID, "/nowhere"}
}

// audited runs axe-core on the page that is open and returns what it found.
// Everything that can be unfolded is, so that nothing is passed over.
func audited(t *testing.T, ctx context.Context, axe string) []string {
	t.Helper()
	do(t, ctx, chromedp.EvaluateAsDevTools[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true })`),
		chromedp.Evaluate[chromedp.Void](axe+";undefined"))
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then((r) =>
		r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160) + " (" + n.failureSummary + ")"))
			.concat(r.passes.length < 15 ? ["axe looked at too little: " + r.passes.length] : []))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPagesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(needs.Script(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := showcase(t)
	address, ctx := b.serve(t), browser(t)
	count := 0
	check := func(path, colours string, width int64) {
		do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(address+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
		for _, v := range audited(t, ctx, string(axe)) {
			t.Errorf("%s, %s, %d wide: %s", path, colours, width, v)
		}
		count++
	}
	for _, colours := range []string{"light", "dark"} {
		scheme(t, ctx, colours)
		check("/login", colours, 1280)
		check("/join", colours, 390)
	}
	signIn(t, ctx, address, "Alice")
	for _, colours := range []string{"light", "dark"} {
		scheme(t, ctx, colours)
		for i, path := range everyPage() {
			if testing.Short() && (i%2 == 0) != (colours == "dark") {
				continue
			}
			check(path, colours, []int64{1280, 390}[i%2])
		}
	}
	if want := 2 * (2 + len(everyPage())); count != want && !testing.Short() {
		t.Errorf("%d pages looked at; want %d", count, want)
	}
	// What looks for faults must find one that is there.
	do(t, ctx, chromedp.EvaluateAsDevTools[chromedp.Void](`document.querySelector("main").innerHTML +=
		"<img src=/static/icon.svg><p style='color:#777;background:#888'>faint</p><input>"`))
	found := strings.Join(audited(t, ctx, string(axe)), "\n")
	for _, want := range []string{"image-alt", "label"} {
		if !strings.Contains(found, want) {
			t.Errorf("axe-core did not find a planted %s: %s", want, found)
		}
	}
}

// pressed fills in fields of a form, by their selectors, sends it, and waits
// for something on the page that follows. The page that it leaves is marked,
// so that it cannot be taken for that one.
func pressed(t *testing.T, ctx context.Context, button, then string, fields ...[2]string) {
	t.Helper()
	for _, f := range fields {
		do(t, ctx, chromedp.SendKeys(chromedp.CSS(f[0]), f[1]))
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.before = ""`), chromedp.Click(chromedp.CSS(button)),
		chromedp.WaitVisible(chromedp.CSS("html:not([data-before]) :is("+then+")")))
}

// TestAnswersToFormsKeepNobodyOut looks at the pages that only an answer to a
// form shows: each is looked at in both colours and both widths as it stands.
func TestAnswersToFormsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(needs.Script(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, ordinary("act_1", "ls"), ordinary("act_2", "date"))
	address, ctx := b.byName(t, b.gate), browser(t)
	look := func(page string) {
		t.Helper()
		for i, colours := range []string{"light", "dark", "light", "dark"} {
			scheme(t, ctx, colours)
			width := []int64{1280, 390}[i/2]
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			for _, v := range audited(t, ctx, string(axe)) {
				t.Errorf("%s, %s, %d wide: %s", page, colours, width, v)
			}
		}
	}
	b.gate.records = story()
	b.verify = func(_ context.Context, _, id string) (audit.Evidence, error) {
		return audit.Evidence{Action: id, Log: "log.example/abc", Size: 9, ByLog: true, Steps: make([]audit.Step, 5), Claim: audit.BundleClaim}, nil
	}
	code := b.invited(t, "finance, night")
	do(t, ctx, chromedp.Navigate(address+"/join"))
	pressed(t, ctx, "button.main", ".error", [2]string{"#code", "AAAAA-AAAAA-AAAAA-AAAAA-AAAAA-A"})
	look("a wrong code")
	do(t, ctx, chromedp.Navigate(address+"/join"))
	pressed(t, ctx, "button.main", "#join-passkey", [2]string{"#code", code})
	look("joining")
	pressed(t, ctx, `form[action="/join/password"] button`, ".error", [2]string{"#plain-name", "Bob"}, [2]string{"#plain-password", "another long password"}, [2]string{"#plain-again", "something else here"})
	look("joining with a mistake")
	signIn(t, ctx, address, "Alice")
	do(t, ctx, chromedp.Navigate(address+"/people"))
	pressed(t, ctx, "#invite button", "#invitation-code", [2]string{"#invite input[name=password]", password})
	look("an invitation is made")
	do(t, ctx, chromedp.Navigate(address+"/actions/act_1/timeline"))
	pressed(t, ctx, `form[action="/actions/act_1/verify"] button`, ".verified")
	look("a verification")
	do(t, ctx, chromedp.Navigate(address+"/batch"), chromedp.Click(chromedp.CSS(`[name="choice-0"][value="approve"]`)))
	pressed(t, ctx, "#batch button", ".item .chip", [2]string{"#batch input[name=password]", password})
	look("several are decided on")
}

func TestSetUpPageKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(needs.Script(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := emptyBench(t)
	address, ctx := b.serve(t), browser(t)
	for _, colours := range []string{"light", "dark"} {
		scheme(t, ctx, colours)
		do(t, ctx, chromedp.Navigate(address+"/"), chromedp.WaitVisible(chromedp.CSS("main h1")))
		for _, v := range audited(t, ctx, string(axe)) {
			t.Error(fmt.Sprint(colours, ": ", v))
		}
	}
}
