package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/newcomertest"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/web"
)

// browser starts a real browser, or skips the test where none is installed.
func browser(t *testing.T) context.Context {
	t.Helper()
	return newcomertest.Browser(t)
}

// serve serves a bench's site on a real port and returns its address.
func (b *bench) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	address := "http://" + server.Listener.Addr().String()
	site, err := web.New(web.Config{Gate: b.gate, People: b.accounts, Tools: tools, Origin: address, Now: b.clock.Now, Verify: b.checks, Diff: b.differs})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = site
	server.Start()
	t.Cleanup(server.Close)
	return address
}

// stepLimit bounds one step in the browser: what hangs names itself.
const stepLimit = 40 * time.Second

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	if err := chromedp.Do(limited, steps...); err != nil {
		t.Fatal(err)
	}
}

func TestPersonLogsInAndApprovesInARealBrowser(t *testing.T) {
	b := newBench(t, payment("act_1"), command("act_2", "rm\u200b -rf /srv <script>document.title='pwned'</script>"))
	address, ctx := b.serve(t), browser(t)

	do(t, ctx, chromedp.Navigate(address+"/actions/act_1"),
		chromedp.SendKeys(chromedp.CSS("#name"), "Alice"), chromedp.SendKeys(chromedp.CSS("#password"), password),
		chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS("h1.headline")))
	headline, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("h1.headline")))
	if err != nil || headline != "Pay USD 8,400.00 to “VENDOR-001”" {
		t.Fatalf("headline = %q, %v", headline, err)
	}

	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#approve-password"), "wrong password"),
		chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".error")))
	if n := b.gate.counted(); n != 0 {
		t.Fatalf("%d votes after a wrong password", n)
	}
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#approve-password"), password),
		chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".votes")))
	if a, err := b.gate.Action(ctx, tenant, "act_1"); err != nil || a.State != action.Approved || b.gate.counted() != 1 {
		t.Errorf("state %s, %d votes, %v", a.State, b.gate.counted(), err)
	}

	do(t, ctx, chromedp.Navigate(address+"/actions/act_2"), chromedp.WaitVisible(chromedp.CSS("h1.headline")))
	title, err := chromedp.Run(ctx, chromedp.Title())
	if err != nil || strings.Contains(title, "pwned") {
		t.Errorf("title = %q, %v", title, err)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("details.no summary")), chromedp.WaitVisible(chromedp.CSS("#reason")),
		chromedp.SendKeys(chromedp.CSS("#reason"), "hides something"), chromedp.SendKeys(chromedp.CSS("#reject-password"), password),
		chromedp.Click(chromedp.CSS("details.no button.nay")), chromedp.WaitVisible(chromedp.CSS(".votes")))
	if a, err := b.gate.Action(ctx, tenant, "act_2"); err != nil || a.State != action.Denied {
		t.Errorf("state %s, %v", a.State, err)
	}
}

// TestOtherSitesCannotActInARealBrowser serves a page on another port of the
// same machine, where cookies are shared, that posts a good form.
func TestOtherSitesCannotActInARealBrowser(t *testing.T) {
	b := newBench(t, payment("act_1"))
	address, ctx := b.serve(t), browser(t)
	do(t, ctx, chromedp.Navigate(address+"/login"), chromedp.SendKeys(chromedp.CSS("#name"), "Alice"),
		chromedp.SendKeys(chromedp.CSS("#password"), password), chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS(".items")),
		chromedp.Navigate(address+"/actions/act_1"), chromedp.WaitVisible(chromedp.CSS("button.yes")))
	page, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS("html")))
	if err != nil {
		t.Fatal(err)
	}
	form := formOf(t, page, "/actions/act_1/approve")
	var fields strings.Builder
	for name := range with(form, "password", password) {
		fields.WriteString(`<input name="` + name + `" value="` + with(form, "password", password).Get(name) + `">`)
	}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<form method="post" action="` + address + `/actions/act_1/approve">` + fields.String() +
			`<button id="go">go</button></form>`))
	}))
	t.Cleanup(evil.Close)
	do(t, ctx, chromedp.Navigate(evil.URL), chromedp.WaitVisible(chromedp.CSS("#go")))
	response, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS("#go")))
	if err != nil || response.Status != http.StatusForbidden {
		t.Errorf("the forged form answered %+v, %v; want 403", response, err)
	}
	if n := b.gate.counted(); n != 0 {
		t.Errorf("%d votes were counted", n)
	}
}

// TestPagesFitAPhoneAndADesk looks for what sticks out sideways: there a
// part of a value would hide.
func TestPagesFitAPhoneAndADesk(t *testing.T) {
	long := strings.Repeat("https://example.test/", 60)
	wide := command("act_2", long)
	wide.Agent, wide.Principal, wide.Owner = strings.Repeat("agent", 40), strings.Repeat("principal", 30), strings.Repeat("owner", 40)
	wide.Targets = []snapshot.Target{{Type: "url", ID: long}}
	wide.Decision.Reason = long
	b := newBench(t, payment("act_1"), sealed(wide))
	b.gate.records = []audit.Record{{Seq: 1, ID: "rec_1", At: start, Tenant: tenant, Event: "suspended", Action: "act_1", By: long, Facts: map[string]string{"digest": long}}}
	address, ctx := b.serve(t), browser(t)
	do(t, ctx, chromedp.Navigate(address+"/login"), chromedp.SendKeys(chromedp.CSS("#name"), "Alice"),
		chromedp.SendKeys(chromedp.CSS("#password"), password), chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS(".items")))
	for _, width := range []int64{320, 390, 768, 1280} {
		for _, path := range []string{"/", "/actions", "/actions/act_1", "/actions/act_2?show=all", "/records", "/records/1", "/nowhere"} {
			do(t, ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(address+path))
			out, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
			if err != nil || out > 0 {
				t.Errorf("%s at %d: %d pixels stick out, %v", path, width, out, err)
			}
		}
	}
}
