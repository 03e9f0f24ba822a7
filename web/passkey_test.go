package web_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/web"
)

// byName serves a bench's site at localhost: browsers make no passkeys for an
// address.
func (b *bench) byName(t *testing.T, gate web.Gate) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	address := "http://localhost:" + port
	site, err := web.New(web.Config{Gate: gate, People: b.accounts, Tools: tools, Origin: address, Now: b.clock.Now, Verify: b.checks, Diff: b.differs})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = site
	server.Start()
	t.Cleanup(server.Close)
	return address
}

// device gives the browser an authenticator whose user touches it at once.
func device(t *testing.T, ctx context.Context) webauthn.AuthenticatorID {
	t.Helper()
	do(t, ctx, chromedp.Navigate("about:blank"))
	if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	added, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{Protocol: "ctap2", Transport: "internal", HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}})
	if err != nil {
		t.Fatal(err)
	}
	return added.AuthenticatorID
}

func signIn(t *testing.T, ctx context.Context, address, name string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(address+"/login"), chromedp.SendKeys(chromedp.CSS("#name"), name),
		chromedp.SendKeys(chromedp.CSS("#password"), password), chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS("form.who")))
}

// register makes a passkey on the account page.
func register(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(address+"/account"), chromedp.SendKeys(chromedp.CSS("#passkey-name"), "laptop"),
		chromedp.SendKeys(chromedp.CSS("#add-password"), password), chromedp.Click(chromedp.CSS("#add-passkey button")),
		chromedp.WaitVisible(chromedp.CSS("p.note[role=status]")))
}

// loaded waits until the next page is there as a whole, with a part of it: what
// a script has sent may still be under way after a click.
func loaded(t *testing.T, ctx context.Context, part string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && document.querySelector("`+part+`") !== null`))
		if err == nil && there {
			return
		}
	}
	t.Fatalf("no page with %s came", part)
}

func pageText(t *testing.T, ctx context.Context) string {
	t.Helper()
	out, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("main")))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPasskeyApprovesAndRejectsInARealBrowser(t *testing.T) {
	b := newBench(t, payment("act_1"), payment("act_2"), payment("act_3"))
	address, ctx := b.byName(t, b.gate), browser(t)
	id := device(t, ctx)
	signIn(t, ctx, address, "Alice")
	register(t, ctx, address)

	do(t, ctx, chromedp.Navigate(address+"/actions/act_1"), chromedp.Click(chromedp.CSS("details.say summary")), chromedp.WaitVisible(chromedp.CSS("#comment")),
		chromedp.SetValue(chromedp.CSS("#comment"), "  asked \"Ann\" \\ <b>& Zoë</b>\nwho said yes 🙂\u0085 "),
		chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".votes")))
	do(t, ctx, chromedp.Navigate(address+"/actions/act_2"), chromedp.Click(chromedp.CSS("details.no summary")), chromedp.WaitVisible(chromedp.CSS("#reason")),
		chromedp.SendKeys(chromedp.CSS("#reason"), "not this vendor"), chromedp.Click(chromedp.CSS("details.no button.nay")), chromedp.WaitVisible(chromedp.CSS(".votes")))
	for want, state := range map[string]action.State{"act_1": action.Approved, "act_2": action.Denied} {
		if a, err := b.gate.Action(ctx, tenant, want); err != nil || a.State != state {
			t.Errorf("%s is %s, %v; want %s", want, a.State, err, state)
		}
	}
	for i, want := range []string{"asked \"Ann\" \\ <b>& Zoë</b>\nwho said yes 🙂", "not this vendor"} {
		v := b.gate.votes[i]
		offline(t, b, v)
		if v.Reason != want || !bytes.Contains(v.Envelope, []byte("payload")) || b.accounts.VerifyVote(t.Context(), v) != nil {
			t.Errorf("vote %+v; want the reason %q", v, want)
		}
		if v.Reason = v.Reason[:len(v.Reason)-1]; b.accounts.VerifyVote(t.Context(), v) == nil {
			t.Error("it verifies with a reason that is one byte shorter")
		}
	}
	do(t, ctx, chromedp.Navigate(address+"/actions/act_3"), chromedp.WaitVisible(chromedp.CSS("button.yes")), chromedp.Evaluate[chromedp.Void](`
		const send = HTMLFormElement.prototype.submit;
		HTMLFormElement.prototype.submit = function () { this.elements.reason.value = "something that I never wrote"; send.call(this); }`),
		chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".error")))
	if n := b.gate.counted(); n != 2 {
		t.Errorf("%d votes; want 2: what was written after the passkey signed is not what it signed", n)
	}

	bad := true
	if _, err := chromedp.Call(ctx, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: id, IsBogusSignature: &bad}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(address+"/actions/act_3"), chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".error")))
	if n := b.gate.counted(); n != 2 {
		t.Errorf("%d votes; want 2: a bad signature is none", n)
	}
}

// offline verifies a vote that a browser signed with nothing but the public
// key.
func offline(t *testing.T, b *bench, v action.Vote) {
	t.Helper()
	have, err := b.accounts.Passkeys(t.Context(), v.Voter)
	if err != nil || len(have) != 1 {
		t.Fatalf("%d passkeys, %v", len(have), err)
	}
	public, err := have[0].Passkey()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := keys.ParseEnvelope(v.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	payload, proof, err := keys.VerifyPasskey(envelope, approval.PayloadType, public)
	if err != nil || string(payload) != string(approval.VotePayload(v)) || proof.RPID != "localhost" {
		t.Errorf("offline: %v, RP ID %q", err, proof.RPID)
	}
}

func TestStaleAndExpiredPagesTakeNoPasskeyVote(t *testing.T) {
	b := newBench(t, payment("act_1"), payment("act_2"), payment("act_3"))
	address, ctx := b.byName(t, b.gate), browser(t)
	device(t, ctx)
	signIn(t, ctx, address, "Alice")
	register(t, ctx, address)
	for id, change := range map[string]struct {
		to   func(*action.Action)
		says string
	}{
		"act_1": {func(a *action.Action) { a.Targets[0].ID = "VENDOR-002"; *a = sealed(*a) }, "not what you were shown"},
		"act_2": {func(a *action.Action) { a.Deadline = start.Add(-time.Second) }, "deadline has passed"},
		"act_3": {func(a *action.Action) { a.State = action.Revoked }, "not waiting"},
	} {
		do(t, ctx, chromedp.Navigate(address+"/actions/"+id), chromedp.WaitVisible(chromedp.CSS("button.yes")))
		b.gate.change(id, change.to)
		do(t, ctx, chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".error")))
		if got := pageText(t, ctx); !strings.Contains(got, change.says) {
			t.Errorf("%s: the page does not say %q", id, change.says)
		}
	}
	if n := b.gate.counted(); n != 0 {
		t.Errorf("%d votes were counted", n)
	}
}
