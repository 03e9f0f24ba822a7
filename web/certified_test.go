package web_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/idptest"
	"github.com/seed-de4804fb/verbatim/web"
)

// signsInThere fills in the pages of the certified provider.
func signsInThere(t *testing.T, ctx context.Context, agree bool, then string) {
	t.Helper()
	loaded(t, ctx, "input[name=login]")
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("input[name=login]"), "ada"), chromedp.SendKeys(chromedp.CSS("input[name=password]"), "any"),
		chromedp.Click(chromedp.CSS("button[type=submit]")))
	if agree {
		loaded(t, ctx, "input[name=prompt][value=consent]")
		do(t, ctx, chromedp.Click(chromedp.CSS("button[type=submit]")))
	}
	loaded(t, ctx, then)
}

// TestPersonOfACertifiedProviderApprovesInARealBrowser signs in at a provider
// that we did not write, lets that become old, signs in once more and approves.
func TestPersonOfACertifiedProviderApprovesInARealBrowser(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	at := "http://localhost:" + port
	c := idptest.StartCertified(t, at+web.CallbackPath, map[string]idptest.Person{"ada": {Name: "Ada", Groups: []string{"books"}}})
	b := signingInAt(t, &idptest.Server{Issuer: c.Issuer}, at, payment("act_1"))
	server.Config.Handler = b.site
	server.Start()
	t.Cleanup(server.Close)
	ctx := browser(t)
	do(t, ctx, chromedp.Navigate(at+"/actions/act_1"), chromedp.Click(chromedp.CSS("#provider")))
	signsInThere(t, ctx, true, "button.yes")
	b.clock.Move(6 * time.Minute)
	do(t, ctx, chromedp.Click(chromedp.CSS("button.yes")))
	loaded(t, ctx, ".error")
	if text := pageText(t, ctx); !strings.Contains(text, "fresh sign-in") || b.gate.counted() != 0 {
		t.Fatalf("after six minutes the page says %q, %d votes", text, b.gate.counted())
	}
	b.clock.Move(-6 * time.Minute) // the provider has a clock of its own
	do(t, ctx, chromedp.Click(chromedp.CSS("p.bylogin a")))
	signsInThere(t, ctx, false, "form.who")
	do(t, ctx, chromedp.Navigate(at+"/actions/act_1"), chromedp.WaitVisible(chromedp.CSS("button.yes")))
	pressed(t, ctx, "button.yes", ".votes")
	if a, err := b.gate.Action(ctx, tenant, "act_1"); err != nil || a.State != action.Approved {
		t.Errorf("state %s, %v", a.State, err)
	}
	if v := b.gate.votes[0]; v.Method != action.MethodOIDC || v.LoginAt.IsZero() {
		t.Errorf("%+v", v)
	}
}
