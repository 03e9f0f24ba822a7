package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
)

var invitationCode = regexp.MustCompile(`[A-Z2-7]{5}(-[A-Z2-7]{1,5}){5}`)

// invited makes an invitation on the page and returns its code.
func (b *bench) invited(t *testing.T, groups string) string {
	t.Helper()
	form := with(formOf(t, b.get("/people").Body.String(), "/people/invite"), "groups", groups, "hours", "5", "password", password)
	w := b.post("/people/invite", form)
	code := invitationCode.FindString(w.Body.String())
	if w.Code != http.StatusOK || code == "" {
		t.Fatalf("inviting = %d, code %q: %s", w.Code, code, w.Body.String())
	}
	if strings.Contains(b.get("/people").Body.String(), code) {
		t.Error("the code is shown a second time")
	}
	return code
}

func TestInvitedPersonMakesAnAccountOnThePage(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	code := b.invited(t, "finance, night")
	b.cookie = ""
	form := url.Values{"code": {strings.ToLower(code)}}
	joining := b.post("/join", form).Body.String()
	for _, want := range []string{"Alice", "<bdi>finance</bdi>", "<bdi>night</bdi>", "in 5 h"} {
		if !strings.Contains(joining, want) {
			t.Errorf("the form does not say %q", want)
		}
	}
	good := with(formOf(t, joining, "/join/password"), "name", "Bob", "password", "another long password", "again", "another long password")
	for name, bad := range map[string]url.Values{
		"another account's id": with(good, "id", "person_alice"), "another code": with(good, "code", "AAAAA-AAAAA-AAAAA-AAAAA-AAAAA-A"),
		"passwords that differ": with(good, "again", "something else here"), "a taken name": with(good, "name", "ALICE"),
		"no password": with(good, "password", "", "again", ""), "a weak one": with(good, "password", "short", "again", "short"),
	} {
		if w := b.post("/join/password", bad); w.Code < 400 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := b.post("/join/password", good); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Your account is made") {
		t.Fatalf("joining = %d: %s", w.Code, w.Body.String())
	}
	if w := b.post("/join", form); w.Code != http.StatusForbidden {
		t.Errorf("the code again = %d", w.Code)
	}
	w := b.post("/login", url.Values{"name": {"Bob"}, "password": {"another long password"}, "next": {"/"}})
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 {
		t.Fatalf("signing in = %d", w.Code)
	}
}

func TestCodesAreNeverInAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	code := b.invited(t, "")
	for _, path := range []string{"/join?code=" + code, "/join/" + code} {
		if w := b.get(path); strings.Contains(w.Body.String(), "Make your account") && strings.Contains(w.Body.String(), "/join/password") {
			t.Errorf("%s opens the invitation", path)
		}
	}
}

func TestOperatorChangesGroupsAndShutsOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.join(t, "Bob", tenant, "finance")
	bobs := b.logIn(t, bob)
	act := func(path string, more ...string) int {
		t.Helper()
		_, who, _ := strings.Cut(path, "/people/")
		who, _, _ = strings.Cut(who, "/")
		return b.post(path, with(formOf(t, b.get("/people/"+who).Body.String(), path), append(more, "password", password)...)).Code
	}
	if got := act("/people/person_bob/groups", "groups", "operator night"); got != http.StatusSeeOther {
		t.Fatalf("groups = %d", got)
	}
	if a, err := b.accounts.ByID(t.Context(), bob.ID); err != nil || strings.Join(a.Groups, " ") != "night operator" {
		t.Errorf("%v, %v", a.Groups, err)
	}
	if page := b.get("/people/person_bob").Body.String(); strings.Contains(page, "<form method=\"post\" action=\"/people") {
		t.Error("who is no operator may still manage beside one")
	}
	b.cookie = bobs
	if got := act("/people/person_alice/disable"); got != http.StatusSeeOther {
		t.Errorf("shutting out = %d", got)
	}
	if got := act("/people/person_alice/enable"); got != http.StatusSeeOther {
		t.Errorf("letting in = %d", got)
	}
	w := b.post("/people/person_bob/disable", with(formOf(t, b.get("/people/person_bob").Body.String(), "/people/person_bob/disable"), "password", password))
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Nobody would be left") {
		t.Errorf("the last operator = %d", w.Code)
	}
	form := formOf(t, b.get("/people/person_alice").Body.String(), "/people/person_alice/groups")
	for name, c := range map[string]struct {
		path string
		form url.Values
		want int
	}{
		"a wrong password":        {"/people/person_alice/groups", with(form, "groups", "admin", "password", "not this one"), http.StatusForbidden},
		"the form of another one": {"/people/person_bob/groups", with(form, "groups", "admin", "password", password), http.StatusBadRequest},
		"no password":             {"/people/person_alice/groups", with(form, "groups", "admin"), http.StatusBadRequest},
	} {
		if w := b.post(c.path, c.form); w.Code != c.want {
			t.Errorf("%s = %d; want %d", name, w.Code, c.want)
		}
	}
	b.join(t, "Eve", "rival")
	if w := b.get("/people/person_eve"); w.Code != http.StatusNotFound {
		t.Errorf("a person of another tenant = %d", w.Code)
	}
}

// TestInvitedPersonJoinsSignsInAndApprovesWithAPasskeyAlone does it all in a
// real browser.
func TestInvitedPersonJoinsSignsInAndApprovesWithAPasskeyAlone(t *testing.T) {
	b := newBench(t, payment("act_1"))
	code := b.invited(t, "finance")
	address, ctx := b.byName(t, b.gate), browser(t)
	device(t, ctx)
	do(t, ctx, chromedp.Navigate(address+"/join"), chromedp.SendKeys(chromedp.CSS("#code"), code), chromedp.Click(chromedp.CSS("button.main")),
		chromedp.WaitVisible(chromedp.CSS("#join-passkey")), chromedp.SendKeys(chromedp.CSS("#name"), "Bob"), chromedp.SendKeys(chromedp.CSS("#label"), "phone"),
		chromedp.Click(chromedp.CSS("#join-passkey > button")))
	loaded(t, ctx, "p.note[role=status]")
	do(t, ctx, chromedp.Click(chromedp.CSS("#sign-in-passkey button")))
	loaded(t, ctx, "form.who")
	do(t, ctx, chromedp.Navigate(address+"/actions/act_1"), chromedp.Click(chromedp.CSS("button.yes")), chromedp.WaitVisible(chromedp.CSS(".votes")))
	if a, err := b.gate.Action(ctx, tenant, "act_1"); err != nil || a.State != action.Approved {
		t.Fatalf("state %s, %v", a.State, err)
	}
	bob, err := b.accounts.ByID(ctx, b.gate.votes[0].Voter)
	if err != nil || bob.Name != "Bob" || bob.PasswordHash != "" || b.gate.votes[0].Method != action.MethodPasskey {
		t.Errorf("%+v voted by %s, %v", bob, b.gate.votes[0].Method, err)
	}
	offline(t, b, b.gate.votes[0])
}

func TestPageThatAsksForAPasskeyIsGoodOnceAndNotForLong(t *testing.T) {
	t.Parallel()
	b, device := benchByName(t)
	b.cookie = ""
	ask := func() url.Values { return answered(t, device, b.get("/login").Body.String(), "/login/passkey") }
	good := ask()
	if w := b.post("/login/passkey", good); w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 {
		t.Fatalf("signing in = %d", w.Code)
	}
	if w := b.post("/login/passkey", good); w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
		t.Errorf("the same proof again = %d", w.Code)
	}
	late := ask()
	b.clock.Move(11 * time.Minute)
	if w := b.post("/login/passkey", late); w.Code != http.StatusBadRequest {
		t.Errorf("an old page = %d", w.Code)
	}
	younger := ask()
	if w := b.post("/login/passkey", with(younger, "issued", late.Get("issued"))); w.Code != http.StatusBadRequest {
		t.Errorf("a page with another time = %d", w.Code)
	}
	if err := b.accounts.Disable(t.Context(), b.alice.ID); err != nil {
		t.Fatal(err)
	}
	if w := b.post("/login/passkey", younger); w.Code == http.StatusSeeOther {
		t.Error("who is shut out signed in")
	}
}
