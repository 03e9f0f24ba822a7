package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// watch counts in the page whatever a payload would do if it ran.
const watch = `window.ran = []; for (const name of ["alert", "confirm", "prompt", "open", "print"]) window[name] = () => { ran.push(name) };
	addEventListener("securitypolicyviolation", (e) => ran.push("blocked " + e.violatedDirective));
	addEventListener("error", (e) => ran.push("error " + (e.message || e.target.outerHTML)), true);`

// inspect returns what is wrong with the page that is open: what ran, what
// a reader cannot see, what came from elsewhere, what sticks out.
const inspect = `(() => {
	const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/u;
	const wrong = [...ran];
	if (unseen.test(document.title)) wrong.push("title hides something");
	for (const e of document.querySelectorAll("*")) {
		if (!location.href.includes("/nowhere") && /^(IFRAME|OBJECT|EMBED|BASE|STYLE|SVG|MATH)$/i.test(e.tagName) &&
			!e.matches(".plot > svg[role=img]:only-child")) wrong.push("element " + e.tagName);
		for (const a of e.attributes) {
			if (/^on/i.test(a.name)) wrong.push("attribute " + a.name);
			if (unseen.test(a.value)) wrong.push("attribute " + a.name + " hides something");
			if (/^(href|src|action)$/.test(a.name) && new URL(a.value, location).origin !== location.origin) wrong.push(a.name + " leads to " + a.value);
		}
	}
	for (const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT); walk.nextNode();)
		if (unseen.test(walk.currentNode.data)) wrong.push("text hides something: " + JSON.stringify(walk.currentNode.data.slice(0, 60)));
	if (document.documentElement.scrollWidth > document.documentElement.clientWidth) wrong.push("sticks out sideways");
	return wrong.slice(0, 8);
})()`

// reachable reports whether a button can be seen and pressed.
const reachable = `(() => { const b = document.querySelector(%q); if (!b) return "is not there";
	b.scrollIntoView({block: "center"}); const r = b.getBoundingClientRect(), top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
	return top === b || b.contains(top) ? "" : "is covered by " + (top ? top.outerHTML.slice(0, 90) : "nothing") })()`

// decide types the password and presses the button.
const decide = `document.querySelector("#approve-password").value = "` + password + `"; document.querySelector("button.yes").click()`

// crowd puts many payloads on one page, each in every place that a page
// repeats, and some where it has one place only.
func crowd(id string, texts []string) action.Action {
	a, _ := hostile(id, texts[0])
	var values, names []canon.Member
	a.Targets, a.Evidence, a.Changes, a.Decision.Rules = nil, nil, nil, nil
	var groups []action.Group
	for i, text := range texts {
		values = append(values, canon.Member{Name: fmt.Sprintf("v%03d", i), Value: canon.StringValue(text)})
		names = append(names, canon.Member{Name: fmt.Sprintf("n%03d%s", i, text), Value: canon.ArrayValue(canon.StringValue("x"), canon.StringValue(text))})
		a.Targets = append(a.Targets, snapshot.Target{Type: text, ID: text})
		a.Evidence = append(a.Evidence, snapshot.Evidence{Pointer: "/" + text, Resolver: text, Version: text})
		a.Changes = append(a.Changes, canon.Change{Pointer: fmt.Sprintf("/v%03d", i), Kind: canon.ChangeResolved, By: text})
		a.Decision.Rules = append(a.Decision.Rules, text)
		groups = append(groups, action.Group{Name: text, Votes: 1})
	}
	a.Tool = "shell.run"
	args := canon.ObjectValue(append(names, values...)...)
	a.Payload = action.Payload{Args: string(args.Canonical()), Requested: `{"v000":"<i>asked</i>"}`, Preview: string(canon.ObjectValue(names...).Canonical()), Raw: []byte(texts[len(texts)-1])}
	a.Terms.Requirements = []action.Requirement{{AnyOf: append(groups, action.Group{Name: "finance", Votes: 1})}}
	a.Terms.Preview = canon.Sum([]byte(a.Payload.Preview))
	a.Result, a.HighImpact = nil, true
	return sealed(a)
}

// giants are proposals that are hostile by their size.
func giants() map[string]action.Action {
	array := command("act_array", "")
	array.Payload.Args = `{"list":[` + strings.TrimSuffix(strings.Repeat(`"\u0430",`, 10_000), ",") + `]}`
	array.Payload.Args = string(decoded(array.Payload.Args).Canonical())
	deep := command("act_deep", "")
	deep.Payload.Args = strings.Repeat(`{"a":`, 63) + `"<script>alert(1)</script>"` + strings.Repeat("}", 63)
	wide := command("act_wide", "")
	var members []canon.Member
	for i := range 5000 {
		members = append(members, canon.Member{Name: fmt.Sprintf("m%05d", i), Value: canon.StringValue("\u202e")})
	}
	wide.Payload.Args = string(canon.ObjectValue(members...).Canonical())
	out := map[string]action.Action{"a text of 1 MiB": command("act_text", strings.Repeat("<script>alert(1)</script>\u202e", 1<<20/28)),
		"one word of 1 MiB": command("act_word", strings.Repeat("W", 1<<20)), "10,000 elements": array, "63 levels": deep, "5,000 members": wide}
	for name, a := range out {
		a.Payload.Requested = a.Payload.Args
		out[name] = sealed(a)
	}
	return out
}

func decoded(text string) canon.Value {
	v, _ := canon.Decode([]byte(text), canon.Options{})
	return v
}

// unguarded lets payloads run if they can: the page's own content policy is
// switched off, so that escaping alone has to hold.
func unguarded(t *testing.T, ctx context.Context) {
	t.Helper()
	do(t, ctx, chromedp.Navigate("about:blank"))
	if _, err := chromedp.Call(ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch}); err != nil {
		t.Fatal(err)
	}
}

func inspected(t *testing.T, ctx context.Context, address string) []string {
	t.Helper()
	do(t, ctx, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("body")))
	wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](inspect))
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return wrong
}

// TestNothingHostileRunsHidesOrBlocksInARealBrowser shows every payload in a
// real browser whose content policy is off.
func TestNothingHostileRunsHidesOrBlocksInARealBrowser(t *testing.T) {
	const perPage = 60
	all := payloads()
	if len(all) < 500 || len(classes()) < 12 {
		t.Fatalf("only %d payloads of %d classes", len(all), len(classes()))
	}
	b := newBench(t)
	b.gate.refuse = action.ErrState
	paths := map[string]string{"/": "", "/actions": "", "/operate": "", "/overview": "", "/policy": "", "/records": ""} // to a button that must stay in reach
	shownTexts := 0
	for i := 0; i < len(all); i += perPage {
		texts := all[i:min(i+perPage, len(all))]
		shownTexts += len(texts)
		a := crowd(fmt.Sprintf("act_%d", i), texts)
		b.gate.actions = append(b.gate.actions, a)
		for _, text := range texts {
			b.gate.votes = append(b.gate.votes, action.Vote{ActionID: a.ID, Voter: text, Reason: text, Method: text})
		}
		paths["/actions/"+a.ID+"?show=all"] = "button.yes"
	}
	for i, text := range all { // lists have one place for each
		a, r := hostile(fmt.Sprintf("act_list_%d", i), text)
		if i%3 == 0 {
			a.State = action.Uncertain
		}
		b.gate.actions = append(b.gate.actions, a)
		r.Seq = int64(i + 1)
		b.gate.records = append(b.gate.records, r)
		b.gate.stops = append(b.gate.stops, action.Stop{Tenant: tenant, Agent: text, Tool: text, By: text, Reason: text})
		if i%50 == 0 {
			paths[fmt.Sprintf("/records?before=%d", i+51)] = ""
			paths[fmt.Sprintf("/actions?before=act_list_%d", i+50)] = ""
		}
	}
	for i, text := range all { // one timeline for each page of texts
		_, r := hostile("", text)
		r.Seq, r.Action = int64(len(all)+i+1), fmt.Sprintf("act_%d", i/perPage*perPage)
		b.gate.records = append(b.gate.records, r)
		paths["/actions/"+r.Action+"/timeline"] = ""
	}
	b.gate.stops = b.gate.stops[:200]
	b.diff = someDiff(all...)
	address, ctx := b.serve(t), browser(t)
	signIn(t, ctx, address, "Alice")
	unguarded(t, ctx)
	for path, button := range paths {
		for _, wrong := range inspected(t, ctx, address+path) {
			t.Errorf("%s: %s", path, wrong)
		}
		inReach(t, ctx, path, button)
	}
	if shownTexts != len(all) || len(paths) < 30 {
		t.Errorf("%d of %d payloads on %d pages", shownTexts, len(all), len(paths))
	}
}

func inReach(t *testing.T, ctx context.Context, path, button string) {
	t.Helper()
	if button == "" {
		return
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(reachable, button)))
	if err != nil || got != "" {
		t.Errorf("%s: the button %s %s, %v", path, button, got, err)
	}
}

// TestGiantProposalsLeaveThePageUsable decides on each giant, with all of it
// shown.
func TestGiantProposalsLeaveThePageUsable(t *testing.T) {
	b := newBench(t)
	for _, a := range giants() {
		b.gate.actions = append(b.gate.actions, a)
	}
	address := b.serve(t)
	for name, a := range giants() {
		if testing.Short() && name != "63 levels" && name != "one word of 1 MiB" {
			continue // seconds each, many of them under the race detector
		}
		t.Run(name, func(t *testing.T) {
			ctx := browser(t)
			signIn(t, ctx, address, "Alice")
			unguarded(t, ctx)
			for _, wrong := range inspected(t, ctx, address+"/actions/"+a.ID+"?show=all") {
				t.Error(wrong)
			}
			inReach(t, ctx, name, "button.yes")
			if answer, err := chromedp.RunResponse(ctx, chromedp.Evaluate[chromedp.Void](decide)); err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%+v, %v", answer, err)
			}
			if after, err := b.gate.Action(ctx, tenant, a.ID); err != nil || after.State != action.Approved {
				t.Errorf("it is %s, %v", after.State, err)
			}
			if wrong := inspected(t, ctx, address+"/"); len(wrong) > 0 {
				t.Errorf("inbox: %v", wrong)
			}
		})
	}
}

// What looks for faults must find those that are there.
func TestPlantedPageIsFoundHostile(t *testing.T) {
	planted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<title>a\u202eb</title><body><img src=x onerror=alert(1)><p title='a\u200bb'>a\x1bb<script>alert(1)</script><a href='//evil.example'>x</a>" +
			"<div style='width:5000px'>x</div><base href=/>"))
	}))
	t.Cleanup(planted.Close)
	ctx := browser(t)
	unguarded(t, ctx)
	found := strings.Join(inspected(t, ctx, planted.URL), "; ")
	for _, want := range []string{"alert", "title hides something", "attribute onerror", "attribute title hides something", "href leads to", "element BASE"} {
		if !strings.Contains(found, want) {
			t.Errorf("%q was not found: %s", want, found)
		}
	}
}
