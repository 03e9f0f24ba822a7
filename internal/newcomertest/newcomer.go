package newcomertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// patience bounds one step.
const patience = 40 * time.Second

// Browser starts a browser with a profile of its own, or skips the test where
// none is installed.
func Browser(t testing.TB) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(needs.Browser(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	limited, cancel := context.WithTimeout(tab, 6*time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Do(limited); err != nil { // started here, so that no step's limit ends it
		t.Fatal(err)
	}
	return limited
}

// Newcomer is such a person before a browser.
type Newcomer struct{ ctx context.Context }

// At is a newcomer before the browser of a context.
func At(ctx context.Context) Newcomer { return Newcomer{ctx} }

// sight finds the one thing in sight that fits, marks it, and says what else
// there was. What is folded away is not in sight.
const sight = `((kind, words) => {
	const seen = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getClientRects().length > 0;
	const text = (e) => (e.labels && e.labels.length ? [...e.labels].map((l) => l.innerText).join(" ") : e.innerText).trim().replace(/\s+/g, " ");
	const all = [...document.querySelectorAll(kind === "write" ? "input:not([type=hidden]), textarea" : "a, button, summary")].filter(seen);
	let fits = all.filter((e) => kind === "open" ? e.href && (text(e).includes(words) || e.matches("li.item a") && e.closest("li").innerText.includes(words)) : text(e) === words);
	if (new Set(fits.map((e) => e.href)).size === 1 && fits[0].href) fits = fits.slice(0, 1); // two ways to one place
	document.querySelectorAll("[data-found]").forEach((e) => delete e.dataset.found);
	if (document.readyState !== "complete") fits = []; // what moves is not pressed yet
	if (fits.length === 1) fits[0].dataset.found = "";
	return [fits.length, ...all.map(text)].join("\n");
})`

// finds looks for something by its words.
func (n Newcomer) finds(kind, words string) error {
	var found string
	var all []string
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var text string
		if text, err = chromedp.Run(n.ctx, chromedp.Evaluate[string](fmt.Sprintf("%s(%q, %q)", sight, kind, words))); err != nil {
			continue // the page may be on its way
		}
		lines := strings.Split(text, "\n")
		if found, all = lines[0], lines[1:]; found == "1" {
			return nil
		}
	}
	return fmt.Errorf("to %s %q: %s in sight among %q (%v)", kind, words, found, all, err)
}

func (n Newcomer) do(steps ...chromedp.Action[chromedp.Void]) error {
	limited, cancel := context.WithTimeout(n.ctx, patience)
	defer cancel()
	return chromedp.Do(limited, steps...)
}

// Enter goes to an address, as one does once.
func (n Newcomer) Enter(address string) error {
	return n.do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("main")))
}

// Press presses a link or a button that says just this, and waits for the page
// that follows.
func (n Newcomer) Press(words string) error { return n.follow("press", words) }

// Open follows the link that says something among other things, or that leads
// from an entry of a list that does.
func (n Newcomer) Open(words string) error { return n.follow("open", words) }

func (n Newcomer) follow(kind, words string) error {
	if err := n.finds(kind, words); err != nil {
		return err
	}
	return n.do(chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.before = ""`), chromedp.Click(chromedp.CSS("[data-found]")),
		chromedp.WaitVisible(chromedp.CSS("html:not([data-before]) main")))
}

// Unfold presses something that shows more of the same page.
func (n Newcomer) Unfold(words string) error {
	if err := n.finds("press", words); err != nil {
		return err
	}
	return n.do(chromedp.Click(chromedp.CSS("[data-found]")), chromedp.WaitVisible(chromedp.CSS("details[open] > [data-found]")))
}

// Write types into the field with a label.
func (n Newcomer) Write(label, text string) error {
	if err := n.finds("write", label); err != nil {
		return err
	}
	return n.do(chromedp.SendKeys(chromedp.CSS("[data-found]"), text))
}

// Reads fails unless the page says something.
func (n Newcomer) Reads(words string) error {
	var text string
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text, err = chromedp.Run(n.ctx, chromedp.Evaluate[string](`document.querySelector("main")?.innerText.replace(/\s+/g, " ") ?? ""`))
		if err == nil && strings.Contains(text, words) {
			return nil
		}
	}
	return fmt.Errorf("the page does not say %q, but %q (%v)", words, text, err)
}
