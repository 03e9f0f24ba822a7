//go:build screenshots

package pictures_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// show is a demo that has been played and stays open.
type show struct{ page, name, password string }

// play starts the demo and reads where its pages are.
func play(t *testing.T, program string) show {
	t.Helper()
	c := exec.Command(program, "demo")
	c.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGINT)
		_ = c.Wait()
	})
	var s show
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		switch rest = strings.TrimSpace(rest); word {
		case "Open":
			s.page = strings.TrimSuffix(rest, "/")
		case "Name":
			s.name = rest
		case "Password":
			s.password = rest
			go func() { // the demo must never wait for a reader
				for lines.Scan() {
				}
			}()
			return s
		}
	}
	t.Fatal("the demo ended before it was open")
	return s
}

func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(needs.Browser(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-background-networking", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	limited, cancel := context.WithTimeout(tab, 5*time.Minute)
	t.Cleanup(cancel)
	return limited
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// press clicks and waits for something on the page that follows. The page that
// it leaves is marked, so that it cannot be taken for that one: whoever goes on
// too early takes the answer of the form away from the browser.
func press(t *testing.T, ctx context.Context, button, then string) {
	t.Helper()
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.before = ""`), chromedp.Click(chromedp.CSS(button)),
		chromedp.WaitVisible(chromedp.CSS("html:not([data-before]) :is("+then+")")))
}

// still keeps the inbox from loading itself again under the camera.
func still(t *testing.T, ctx context.Context) {
	t.Helper()
	do(t, ctx) // a tab has to be there
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: "window.setInterval = () => 0"}); err != nil {
		t.Fatal(err)
	}
}

// variants are the four forms of every picture.
var variants = []struct {
	name, scheme  string
	width, height int64
	scale         float64
}{
	{"desk-light", "light", 1280, 860, 1}, {"desk-dark", "dark", 1280, 860, 1},
	{"phone-light", "light", 390, 844, 2}, {"phone-dark", "dark", 390, 844, 2},
}

// link returns the address of the first link in a list that has a text.
func link(t *testing.T, ctx context.Context, text string) string {
	t.Helper()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => { for (const item of document.querySelectorAll("li.item"))
		if (item.innerText.includes(`+"`"+text+"`"+`)) return new URL(item.querySelector("a").href).pathname; return "" })()`))
	if err != nil || found == "" {
		t.Fatalf("no item says %q: %v", text, err)
	}
	return found
}

// shot is a page, by the name of its file.
type shot struct{ name, path string }

// enter signs the person of a show in.
func enter(t *testing.T, ctx context.Context, s show) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(s.page+"/login"), chromedp.SendKeys(chromedp.CSS("#name"), s.name),
		chromedp.SendKeys(chromedp.CSS("#password"), s.password))
	press(t, ctx, "button.main", "form.who")
}

// pages signs in and finds them: the first is the inbox, then what waits, and
// what is uncertain.
func pages(t *testing.T, ctx context.Context, s show) []shot {
	t.Helper()
	enter(t, ctx, s)
	do(t, ctx, chromedp.Navigate(s.page+"/"), chromedp.WaitVisible(chromedp.CSS(".items")))
	out := []shot{{"inbox", "/"}, {"proposal", link(t, ctx, "12,000.00")}}
	do(t, ctx, chromedp.Navigate(s.page+"/actions"), chromedp.WaitVisible(chromedp.CSS(".items")))
	out = append(out, shot{"uncertain", link(t, ctx, "60.00")})
	done := link(t, ctx, "8,400.00")
	return append(out, shot{"history", "/actions"}, shot{"succeeded", done}, shot{"denied", link(t, ctx, "USD 2,000.00")}, shot{"timeline", done + "/timeline"},
		shot{"allow-refused", out[1].path + "/allow"}, shot{"grants", "/grants"}, shot{"operations", "/operate"}, shot{"overview", "/overview"}, shot{"policy", "/policy"},
		shot{"join", "/join"}, shot{"reading", "/reading"}, shot{"records", "/records"}, shot{"record", "/records/3"}, shot{"account", "/account"},
		shot{"not-found", "/nowhere"})
}

func TestScreenshots(t *testing.T) {
	program, into := os.Getenv("VERBATIM_PROGRAM"), os.Getenv("VERBATIM_SCREENSHOTS")
	if program == "" || into == "" {
		t.Fatal("set VERBATIM_PROGRAM and VERBATIM_SCREENSHOTS; make screenshots does")
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		t.Fatal(err)
	}
	s, ctx := play(t, program), browser(t)
	still(t, ctx)
	photograph(t, ctx, s, into, []shot{{"sign-in", "/login"}})
	all := pages(t, ctx, s)
	photograph(t, ctx, s, into, all)
	forReadme(t, ctx, s, into, all[1].path)
	walk(t, ctx, s, into, all)
	photograph(t, ctx, s, into, []shot{{"approved", all[1].path}, {"approved-timeline", all[1].path + "/timeline"}, {"settled", all[2].path}, {"found-again", "/actions?q=12%2C000&by=me"}})
	invite(t, ctx, s, into)
	several(t, ctx, into)
}

// forReadme writes the two pictures of README: the beginning of a proposal, as
// much as fits a desk by day and a phone by night.
func forReadme(t *testing.T, ctx context.Context, s show, into, path string) {
	t.Helper()
	for _, v := range []struct {
		name, scheme  string
		width, height int64
	}{{"readme-desk", "light", 1160, 760}, {"readme-phone", "dark", 360, 760}} {
		as(t, ctx, v.scheme)
		do(t, ctx, chromedp.EmulateViewport(v.width, v.height), chromedp.Navigate(s.page+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(into, v.name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// as makes the browser prefer light or dark.
func as(t *testing.T, ctx context.Context, scheme string) {
	t.Helper()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		t.Fatal(err)
	}
}

// walk is what a new user does: approve what waits, find it again, settle
// what is uncertain. Whatever is not found where it should be is a failure.
func walk(t *testing.T, ctx context.Context, s show, into string, all []shot) {
	t.Helper()
	do(t, ctx, chromedp.EmulateViewport(1280, 860), chromedp.Navigate(s.page+all[1].path), chromedp.Click(chromedp.CSS("details.say summary")),
		chromedp.WaitVisible(chromedp.CSS("#comment")), chromedp.SendKeys(chromedp.CSS("#comment"), "Asked the vendor by phone."))
	asItStands(t, ctx, into, "commenting")
	do(t, ctx, chromedp.EmulateViewport(1280, 860), chromedp.SendKeys(chromedp.CSS("#approve-password"), s.password))
	press(t, ctx, "button.yes", ".votes")
	do(t, ctx, chromedp.Navigate(s.page+"/actions"), chromedp.SendKeys(chromedp.CSS("[name=q]"), "12,000"), chromedp.Click(chromedp.CSS("[name=by]")))
	press(t, ctx, ".filters button", `a.go[href="`+all[1].path+`"]`)
	do(t, ctx, chromedp.Navigate(s.page+"/operate"))
	press(t, ctx, `a.go[href="`+all[2].path+`"]`, "details.did summary")
	do(t, ctx, chromedp.Click(chromedp.CSS("details.did summary")), chromedp.SendKeys(chromedp.CSS("#did-evidence"), "The bank's ledger has it."),
		chromedp.SendKeys(chromedp.CSS("#did-password"), s.password))
	press(t, ctx, "details.did button", "main:not(:has(details.did)) .chip.c-good")
}

// invite photographs how somebody joins: the code, the form that it opens and
// the person whom it made.
func invite(t *testing.T, ctx context.Context, s show, into string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(s.page+"/people"), chromedp.WaitVisible(chromedp.CSS("#invite")), chromedp.SendKeys(chromedp.CSS("#groups"), "finance"),
		chromedp.SendKeys(chromedp.CSS("#invite input[name=password]"), s.password))
	press(t, ctx, "#invite button", "#invitation-code")
	asItStands(t, ctx, into, "invited")
	code, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("#invitation-code").innerText`))
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.page+"/join"), chromedp.SendKeys(chromedp.CSS("#code"), strings.TrimSpace(code)))
	press(t, ctx, "button.main", `form[action="/join/password"]`)
	asItStands(t, ctx, into, "joining")
	const long = "another quiet lamp burns"
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true })`),
		chromedp.SendKeys(chromedp.CSS("#plain-name"), "Grace"), chromedp.SendKeys(chromedp.CSS("#plain-password"), long), chromedp.SendKeys(chromedp.CSS("#plain-again"), long))
	press(t, ctx, `form[action="/join/password"] button`, "p.note[role=status]")
	do(t, ctx, chromedp.Navigate(s.page+"/people"), chromedp.WaitVisible(chromedp.CSS("table.log")))
	path, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll("table.log a")].find((a) => a.innerText === "Grace")?.pathname ?? ""`))
	if err != nil || path == "" {
		t.Fatalf("Grace is not among the people: %v", err)
	}
	photograph(t, ctx, s, into, []shot{{"people", "/people"}, {"person", path}})
}

// asItStands writes the four variants of the page that is open: what only the
// answer to a form shows has no address.
func asItStands(t *testing.T, ctx context.Context, into, name string) {
	t.Helper()
	for _, v := range variants {
		do(t, ctx, chromedp.EmulateViewport(v.width, v.height, chromedp.EmulateScale(v.scale)))
		as(t, ctx, v.scheme)
		write(t, ctx, filepath.Join(into, name+"-"+v.name+".png"))
	}
}

// write photographs the page that is open, as long as it is.
func write(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// photograph writes the four variants of pages, each as long as it is.
func photograph(t *testing.T, ctx context.Context, s show, into string, all []shot) {
	t.Helper()
	for _, v := range variants {
		do(t, ctx, chromedp.EmulateViewport(v.width, v.height, chromedp.EmulateScale(v.scale)))
		as(t, ctx, v.scheme)
		for _, p := range all {
			do(t, ctx, chromedp.Navigate(s.page+p.path), chromedp.WaitVisible(chromedp.CSS("main h1")))
			write(t, ctx, filepath.Join(into, p.name+"-"+v.name+".png"))
		}
	}
}
