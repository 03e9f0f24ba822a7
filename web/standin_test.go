package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-de4804fb/verbatim/action"
)

func TestWhoIsAwayHasSomebodyDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"), payment("act_2"))
	dan := b.join(t, "Dan", tenant, "kitchen")
	alices, dans := b.cookie, b.logIn(t, dan)
	b.cookie = dans
	if page := b.get("/actions/act_1").Body.String(); strings.Contains(page, "/actions/act_1/approve") {
		t.Fatal("Dan is in none of the groups and may approve")
	}
	b.cookie = alices
	form := with(formOf(t, b.get("/account").Body.String(), "/account/delegate"), "to", dan.ID, "starts", "1", "hours", "2", "why", "on holiday", "password", password)
	for name, c := range map[string]struct {
		form url.Values
		want int
	}{
		"herself":          {with(form, "to", b.alice.ID), http.StatusUnprocessableEntity},
		"nobody":           {with(form, "to", "person_none"), http.StatusUnprocessableEntity},
		"no time":          {with(form, "hours", "0"), http.StatusUnprocessableEntity},
		"half a year":      {with(form, "hours", "4400"), http.StatusUnprocessableEntity},
		"no reason":        {with(form, "why", " "), http.StatusUnprocessableEntity},
		"a hidden reason":  {with(form, "why", "a\u202eb"), http.StatusUnprocessableEntity},
		"a wrong password": {with(form, "password", "not this one"), http.StatusForbidden},
		"no number":        {with(form, "hours", "many"), http.StatusBadRequest},
		"before today":     {with(form, "starts", "-5"), http.StatusBadRequest},
	} {
		if w := b.post("/account/delegate", c.form); w.Code != c.want {
			t.Errorf("%s = %d; want %d", name, w.Code, c.want)
		}
	}
	if w := b.post("/account/delegate", form); w.Code != http.StatusSeeOther {
		t.Fatalf("delegating = %d: %s", w.Code, w.Body.String())
	}
	b.cookie = dans
	if page := b.get("/actions/act_1").Body.String(); strings.Contains(page, "/actions/act_1/approve") {
		t.Error("it has not begun")
	}
	b.clock.Move(time.Hour)
	b.cookie = b.logIn(t, dan)
	page := b.get("/actions/act_1").Body.String()
	if !strings.Contains(page, "You decide in place of <bdi>Alice</bdi>") {
		t.Error("the page does not say in whose place Dan decides")
	}
	approve := with(formOf(t, page, "/actions/act_1/approve"), "password", password)
	if w := b.post("/actions/act_1/approve", approve); w.Code != http.StatusSeeOther {
		t.Fatalf("approving = %d: %s", w.Code, w.Body.String())
	}
	if page = b.get("/actions/act_1").Body.String(); !strings.Contains(page, "<b><bdi>Dan</bdi></b> in place of <bdi>Alice</bdi>") {
		t.Error("the page does not say who decided for whom")
	}
	end := with(formOf(t, b.get("/account").Body.String(), "/account/delegations/end"), "password", password)
	if w := b.post("/account/delegations/end", end); w.Code != http.StatusSeeOther {
		t.Fatalf("ending = %d", w.Code)
	}
	if page = b.get("/actions/act_2").Body.String(); strings.Contains(page, "/actions/act_2/approve") {
		t.Error("it is over")
	}
}

// TestDelegateDecidesInARealBrowser has two people, each with a browser of
// their own.
func TestDelegateDecidesInARealBrowser(t *testing.T) {
	b := newBench(t, payment("act_1"))
	b.join(t, "Dan", tenant, "kitchen")
	address, alice, dan := b.byName(t, b.gate), browser(t), browser(t)
	signIn(t, alice, address, "Alice")
	do(t, alice, chromedp.Navigate(address+"/account"), chromedp.SetValue(chromedp.CSS("#to"), "person_dan"), chromedp.SendKeys(chromedp.CSS("#why"), "on holiday"),
		chromedp.SendKeys(chromedp.CSS("#delegate-password"), password), chromedp.Click(chromedp.CSS("#delegate button")))
	loaded(t, alice, "p.note[role=status]")
	device(t, dan)
	signIn(t, dan, address, "Dan")
	register(t, dan, address)
	do(t, dan, chromedp.Navigate(address+"/actions/act_1"), chromedp.Click(chromedp.CSS("button.yes")))
	loaded(t, dan, ".votes")
	if text := pageText(t, dan); !strings.Contains(text, "Dan in place of Alice") {
		t.Errorf("the page says %q", text)
	}
	if a, err := b.gate.Action(dan, tenant, "act_1"); err != nil || a.State != action.Approved {
		t.Errorf("state %s, %v", a.State, err)
	}
}
