package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
)

// focused names what has the focus and says whether one can see that it has.
const focused = `(() => { const e = document.activeElement, s = getComputedStyle(e);
	const name = e.id || e.name || e.getAttribute("href") || e.textContent.trim().slice(0, 30) || e.tagName;
	const r = e.getBoundingClientRect();
	return (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 || e === document.body ? "" : "NO RING ") +
		(r.bottom > 0 && r.top < innerHeight && r.width > 0 || e === document.body ? "" : "OUT OF SIGHT ") + e.tagName + " " + name })()`

// reachables are what a person can act on and what the keyboard must reach.
const reachables = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true }) && !e.closest("details:not([open]) > :not(summary)") && !(e.type === "radio" && !e.checked)).length`

// walkPage presses Tab until the focus comes back to the page itself.
func walkPage(t *testing.T, ctx context.Context) []string {
	t.Helper()
	var seen []string
	for range 200 {
		do(t, ctx, chromedp.KeyEvent("\t"))
		at, err := chromedp.Run(ctx, chromedp.Evaluate[string](focused))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(at, "BODY") {
			return seen
		}
		seen = append(seen, at)
	}
	t.Fatalf("the focus never leaves: %q", seen[len(seen)-5:])
	return nil
}

func TestKeyboardReachesEverythingInSight(t *testing.T) {
	b := showcase(t)
	address, ctx := b.serve(t), browser(t)
	signIn(t, ctx, address, "Alice")
	for _, path := range []string{"/", "/actions", "/actions/act_wait", "/actions/act_uncertain", "/batch", "/operate", "/overview", "/policy", "/records", "/reading", "/account"} {
		do(t, ctx, chromedp.Navigate(address+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
		all, err := chromedp.Run(ctx, chromedp.Evaluate[int](reachables))
		if err != nil {
			t.Fatal(err)
		}
		seen := walkPage(t, ctx)
		if len(seen) < all {
			t.Errorf("%s: Tab reaches %d of %d: %q", path, len(seen), all, seen)
		}
		if len(seen) == 0 || !strings.HasPrefix(seen[0], "A #main") {
			t.Errorf("%s: Tab does not first offer to skip to the content: %q", path, seen)
		}
		for _, at := range seen {
			if strings.HasPrefix(at, "NO RING") || strings.HasPrefix(at, "OUT OF SIGHT") {
				t.Errorf("%s: %s", path, at)
			}
		}
	}
}

// tabTo presses Tab until something has the focus.
func tabTo(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	for range 60 {
		do(t, ctx, chromedp.KeyEvent("\t"))
		if at, err := chromedp.Run(ctx, chromedp.Evaluate[string](focused)); err == nil && strings.HasSuffix(at, " "+name) {
			return
		}
	}
	t.Fatalf("Tab does not lead to %s", name)
}

func TestKeyboardAloneApprovesAndRejects(t *testing.T) {
	b := newBench(t, payment("act_1"), payment("act_2"))
	address, ctx := b.serve(t), browser(t)
	do(t, ctx, chromedp.Navigate(address+"/actions/act_1"))
	tabTo(t, ctx, "name")
	do(t, ctx, chromedp.KeyEvent("Alice\t"+password+"\r"), chromedp.WaitVisible(chromedp.CSS("h1.headline")))
	tabTo(t, ctx, "approve-password")
	do(t, ctx, chromedp.KeyEvent(password+"\r"), chromedp.WaitVisible(chromedp.CSS(".votes")))

	do(t, ctx, chromedp.Navigate(address+"/actions/act_2"), chromedp.WaitVisible(chromedp.CSS("h1.headline")))
	tabTo(t, ctx, "Reject instead")
	do(t, ctx, chromedp.KeyEvent("\r"))
	tabTo(t, ctx, "reason")
	do(t, ctx, chromedp.KeyEvent("not this vendor\t"+password+"\r"), chromedp.WaitVisible(chromedp.CSS(".votes")))
	for id, want := range map[string]action.State{"act_1": action.Approved, "act_2": action.Denied} {
		if a, err := b.gate.Action(ctx, tenant, id); err != nil || a.State != want {
			t.Error(fmt.Sprint(id, " is ", a.State, ", ", err, "; want ", want))
		}
	}
}
