package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// newcomer is somebody who has never seen the page: they go by the words that
// they see, and know no selector and no address but the first.
type newcomer struct {
	t *testing.T
	o *office
}

// sight finds the one thing in sight that fits, marks it, and says what else
// there was. What is folded away is not in sight.
const sight = `((kind, words) => {
	const seen = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getClientRects().length > 0;
	const text = (e) => (e.labels && e.labels.length ? [...e.labels].map((l) => l.innerText).join(" ") : e.innerText).trim().replace(/\s+/g, " ");
	const all = [...document.querySelectorAll(kind === "write" ? "input:not([type=hidden]), textarea" : "a, button, summary")].filter(seen);
	let fits = all.filter((e) => kind === "open" ? text(e).includes(words) : text(e) === words);
	if (new Set(fits.map((e) => e.href)).size === 1 && fits[0].href) fits = fits.slice(0, 1); // two ways to one place
	document.querySelectorAll("[data-found]").forEach((e) => delete e.dataset.found);
	if (fits.length === 1) fits[0].dataset.found = "";
	return JSON.stringify({found: fits.length, all: all.map(text)});
})`

// finds looks for something by its words. None, or two that look the same, is
// where a person would hesitate.
func (n *newcomer) finds(kind, words string) {
	n.t.Helper()
	var answer struct {
		Found int
		All   []string
	}
	for end := time.Now().Add(stepLimit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text, err := chromedp.Run(n.o.ctx, chromedp.Evaluate[string](fmt.Sprintf("%s(%q, %q)", sight, kind, words)))
		if err == nil {
			err = json.Unmarshal([]byte(text), &answer)
		}
		if err == nil && answer.Found == 1 {
			return
		}
	}
	n.t.Fatalf("to %s %q: %d in sight among %q", kind, words, answer.Found, answer.All)
}

// press presses a link or a button, and waits for the page that follows.
func (n *newcomer) press(words string) { n.t.Helper(); n.follow("press", words) }

// open follows the link that says something among other things.
func (n *newcomer) open(words string) { n.t.Helper(); n.follow("open", words) }

func (n *newcomer) follow(kind, words string) {
	n.t.Helper()
	n.finds(kind, words)
	pressed(n.t, n.o.ctx, "[data-found]", "main")
}

// unfold presses something that shows more of the same page.
func (n *newcomer) unfold(words string) {
	n.t.Helper()
	n.finds("press", words)
	do(n.t, n.o.ctx, chromedp.Click(chromedp.CSS("[data-found]")))
}

func (n *newcomer) write(label, text string) {
	n.t.Helper()
	n.finds("write", label)
	do(n.t, n.o.ctx, chromedp.SendKeys(chromedp.CSS("[data-found]"), text))
}

// reads fails unless the page says something.
func (n *newcomer) reads(words string) {
	n.t.Helper()
	text, err := chromedp.Run(n.o.ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText.replace(/\s+/g, " ")`))
	if err != nil || !strings.Contains(text, words) {
		n.t.Fatalf("the page does not say %q, but %q: %v", words, text, err)
	}
}

// asked is a call of the agent that waits for somebody.
func (n *newcomer) asked() string {
	n.t.Helper()
	out := n.o.call("")
	if out.Status != verbatim.StatusApprovalRequired {
		n.t.Fatalf("%+v", out)
	}
	return out.ActionID
}

func (n *newcomer) signIn() {
	n.t.Helper()
	do(n.t, n.o.ctx, chromedp.Navigate(n.o.address), chromedp.WaitVisible(chromedp.CSS("main")))
	n.write("Name", "Grace")
	n.write("Password", password)
	n.press("Sign in")
}

// TestANewcomerFindsTheirWay has somebody approve, reject, settle what is
// uncertain and find on the next day what they approved, by the words in
// sight alone.
func TestANewcomerFindsTheirWay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if _, err := o.b.accounts.Create(t.Context(), "Grace", password, "acme", "", []string{"admin", "operator"}); err != nil {
		t.Fatal(err)
	}
	n := &newcomer{t, o}
	approved := n.asked()
	n.signIn()
	n.open("Pay “VENDOR-001”")
	n.reads("Never with this tool on this target: this is the first")
	n.write("Your password, to sign a yes", password)
	n.press("Approve exactly this")
	n.reads("approved, not run yet")
	if out := o.call(approved); out.Status != verbatim.StatusOK {
		t.Fatalf("%+v", out)
	}

	rejected := n.asked()
	n.press("Inbox")
	n.open("Pay “VENDOR-001”")
	n.unfold("Reject instead")
	n.write("Reason, kept in the record", "that was paid last week")
	n.write("Your password, to sign a no", password)
	n.press("Reject")
	n.reads("that was paid last week")
	o.is(rejected, action.Denied)

	lost := n.asked()
	n.press("Inbox")
	n.open("Pay “VENDOR-001”")
	n.write("Your password, to sign a yes", password)
	n.press("Approve exactly this")
	o.change(func() { o.lost = true })
	if out := o.call(lost); out.Status != verbatim.StatusUncertain {
		t.Fatalf("%+v", out)
	}
	n.press("Operations")
	n.reads("Nobody knows whether these took effect")
	n.open("Pay “VENDOR-001”")
	n.unfold("It took effect")
	n.write("How you know, kept in the record", "It is in the bank's ledger, line 7.")
	n.write("Your password", password)
	n.press("Record that it happened")
	o.is(lost, action.ReconciledSucceeded)

	o.later(24 * time.Hour)
	n.signIn()
	n.press("History")
	n.press("yesterday")
	n.reads("approved by Grace")
	n.reads("rejected by Grace")
	rows, err := chromedp.Run(o.ctx, chromedp.Evaluate[int](`document.querySelectorAll("li.item").length`))
	if err != nil || rows != 3 {
		t.Errorf("%d actions of yesterday, %v", rows, err)
	}
}
