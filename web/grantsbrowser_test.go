package web_test

import (
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/web"
)

// namedRefunds is refunds on a page at localhost: browsers make no passkeys
// for an address.
func namedRefunds(t *testing.T, runs *atomic.Int32) (*verbatimtest.Fixture, *bench, string) {
	t.Helper()
	f, b := refunds(t, runs, 1)
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	address := "http://localhost:" + port
	var err error
	server.Config.Handler, err = web.New(web.Config{Gate: f.Gate, People: b.accounts, Tools: b.find, Origin: address, Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return f, b, address
}

// TestStandingGrantIsSignedUsedAndRevokedWithAPasskey goes all the way in a
// real browser: what waits, the choices, what would be signed, the grant.
func TestStandingGrantIsSignedUsedAndRevokedWithAPasskey(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f, b, address := namedRefunds(t, &runs)
	ctx := browser(t)
	id := device(t, ctx)
	signIn(t, ctx, address, "Grace")
	register(t, ctx, address)
	bogus := func(on bool) {
		t.Helper()
		if _, err := chromedp.Call(ctx, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: id, IsBogusSignature: &on}); err != nil {
			t.Fatal(err)
		}
	}

	first := refund(t, f, `{"order":"A-17","amountMinor":1250}`)
	choose := func() {
		t.Helper()
		do(t, ctx, chromedp.Navigate(address+"/actions/"+first.ActionID), chromedp.WaitVisible(chromedp.CSS("button.yes")))
		pressed(t, ctx, `a[href$="/allow"]`, "#uses")
		do(t, ctx, chromedp.SetValue(chromedp.CSS("#rule-0"), "most"), chromedp.SetValue(chromedp.CSS("#bound-0"), "2000"), chromedp.SetValue(chromedp.CSS("#rule-2"), "any"),
			chromedp.SetValue(chromedp.CSS("#targets"), "any"), chromedp.SetValue(chromedp.CSS("#uses"), "9"))
		pressed(t, ctx, "button.main", "p.signs")
		do(t, ctx, chromedp.Click(chromedp.CSS("details.say summary")), chromedp.WaitVisible(chromedp.CSS("#comment")),
			chromedp.SetValue(chromedp.CSS("#comment"), " refunds of today "))
	}
	choose()
	bogus(true)
	pressed(t, ctx, "button.yes", ".error")
	if all, err := f.Gate.Grants(t.Context(), action.StandingFilter{}); err != nil || len(all) != 0 || runs.Load() != 0 {
		t.Fatalf("a bad signature kept %d grants, %v", len(all), err)
	}
	bogus(false)
	choose()
	pressed(t, ctx, "button.yes", "p.chips .c-good")

	all, err := f.Gate.Grants(t.Context(), action.StandingFilter{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d grants, %v", len(all), err)
	}
	grant, votes, err := f.Gate.StandingGrant(t.Context(), "acme", all[0].ID)
	if err != nil || len(votes) != 1 || votes[0].Method != action.MethodPasskey || votes[0].Reason != "refunds of today" || votes[0].Digest != approval.StandingDigest(grant) {
		t.Fatalf("signed by %+v, %v", votes, err)
	}
	offline(t, b, votes[0])

	second := refund(t, f, `{"order":"B-2","amountMinor":1750}`)
	if second.Status != verbatim.StatusOK || second.Standing != grant.ID {
		t.Fatalf("a call like it: %+v", second)
	}
	do(t, ctx, chromedp.Navigate(address+"/actions/"+second.ActionID), chromedp.WaitVisible(chromedp.CSS("main h1")))
	pressed(t, ctx, `a[href="/grants/`+grant.ID+`"]`, "p.chips")
	if got := pageText(t, ctx); !strings.Contains(got, "refunds of today") || !strings.Contains(got, "1 used") {
		t.Errorf("the grant's page: %s", got)
	}
	pressed(t, ctx, `a[href^="/records?"]`, "main h1")
	if got := pageText(t, ctx); !strings.Contains(got, second.ActionID) {
		t.Errorf("what it has approved: %s", got)
	}

	do(t, ctx, chromedp.Navigate(address+"/grants/"+grant.ID), chromedp.Click(chromedp.CSS("details.no summary")))
	bogus(true)
	pressed(t, ctx, "details.no button", ".error")
	if o := refund(t, f, `{"order":"A-17","amountMinor":1250}`); o.Status != verbatim.StatusOK || runs.Load() != 2 {
		t.Fatalf("a bad signature revoked it: %+v, %d runs", o, runs.Load())
	}
	bogus(false)
	do(t, ctx, chromedp.Navigate(address+"/grants/"+grant.ID), chromedp.Click(chromedp.CSS("details.no summary")))
	pressed(t, ctx, "details.no button", "p.chips .c-bad")
	if o := refund(t, f, `{"order":"C-3","amountMinor":1}`); o.Status != verbatim.StatusApprovalRequired || runs.Load() != 2 {
		t.Fatalf("it is revoked: %+v, %d runs", o, runs.Load())
	}
	do(t, ctx, chromedp.Navigate(address+"/grants"), chromedp.WaitVisible(chromedp.CSS("main h1")))
	if got := pageText(t, ctx); !strings.Contains(got, "revoked") {
		t.Errorf("the list of grants: %s", got)
	}
}
