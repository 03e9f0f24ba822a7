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

// ordinary is a proposal without high impact.
func ordinary(id, text string) action.Action {
	a := command(id, text)
	a.HighImpact, a.Terms.Nonce = false, id
	return sealed(a)
}

// batchForm is the form of the page of several decisions, with all its fields.
func (b *bench) batchForm(t *testing.T) url.Values {
	t.Helper()
	form := formOf(t, b.get("/batch").Body.String(), "/batch")
	for i := range len(form) {
		if n := string(rune('0' + i)); form.Has("id-" + n) {
			form.Set("choice-"+n, "")
			form.Set("reason-"+n, "")
		}
	}
	form.Set("password", password)
	return form
}

func TestSeveralAreDecidedOnEachByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, ordinary("act_1", "ls"), ordinary("act_2", "rm x"), ordinary("act_3", "date"), payment("act_4"))
	if page := b.get("/").Body.String(); !strings.Contains(text(page), "Decide on 3 without high impact together") {
		t.Error("the inbox does not lead there")
	}
	form := b.batchForm(t)
	if form.Get("count") != "3" || strings.Contains(form.Encode(), "act_4") {
		t.Fatalf("the page has %s, or one with high impact", form.Get("count"))
	}
	w := b.post("/batch", with(form, "choice-0", "approve", "reason-0", "routine", "choice-1", "reject", "reason-1", "not this file"))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, text(w.Body.String()))
	}
	for id, want := range map[string]action.State{"act_1": action.Approved, "act_2": action.Denied, "act_3": action.PendingApproval, "act_4": action.PendingApproval} {
		if a, err := b.gate.Action(t.Context(), tenant, id); err != nil || a.State != want {
			t.Errorf("%s is %s, %v; want %s", id, a.State, err, want)
		}
	}
	if len(b.gate.votes) != 2 || b.gate.votes[0].Reason != "routine" || b.gate.votes[1].Reason != "not this file" || len(b.gate.votes[0].Envelope) == 0 {
		t.Errorf("votes %+v", b.gate.votes)
	}
}

func TestOneStaleDecisionDoesNotCarryOrStopOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, ordinary("act_1", "ls"), ordinary("act_2", "rm x"), ordinary("act_3", "date"), ordinary("act_4", "pwd"))
	form := b.batchForm(t)
	b.gate.change("act_1", func(a *action.Action) { a.Targets = nil; a.Agent = "Another"; *a = sealed(*a) })
	b.gate.change("act_2", func(a *action.Action) { a.HighImpact = true })
	w := b.post("/batch", with(form, "choice-0", "approve", "choice-1", "approve", "choice-2", "reject", "choice-3", "approve"))
	for want, n := range map[string]int{"not counted: it is not what you were shown": 2, "a rejection needs a reason": 1, "approved": 1} {
		if got := strings.Count(text(w.Body.String()), want); got != n {
			t.Errorf("%q stands there %d times; want %d", want, got, n)
		}
	}
	if len(b.gate.votes) != 1 || b.gate.votes[0].ActionID != "act_4" {
		t.Errorf("votes %+v", b.gate.votes)
	}
}

func TestForgedBatchesDecideNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, ordinary("act_1", "ls"), ordinary("act_2", "rm x"), payment("act_9"))
	form := with(b.batchForm(t), "choice-0", "approve", "choice-1", "approve")
	without := func(name string) url.Values { f := with(form); f.Del(name); return f }
	for what, bad := range map[string]url.Values{
		"another action":           with(form, "id-0", "act_9"),
		"another digest":           with(form, "digest-0", form.Get("digest-1")),
		"two swapped":              with(form, "id-0", form.Get("id-1"), "id-1", form.Get("id-0")),
		"one count less":           with(form, "count", "1"),
		"more than there may be":   with(form, "count", "21"),
		"none":                     with(form, "count", "0"),
		"a field too many":         with(form, "voter", "person_mallory"),
		"no password":              without("password"),
		"no token":                 without("token"),
		"no choice":                without("choice-0"),
		"the token of a logout":    with(form, "token", field(t, b.get("/").Body.String(), "token")),
		"an unknown word for both": with(form, "choice-0", "yes", "choice-1", "APPROVE"),
		"a wrong password":         with(form, "password", "wrong"),
	} {
		b.post("/batch", bad)
		if n := b.gate.counted(); n != 0 {
			t.Fatalf("%s: %d votes were counted", what, n)
		}
		b.clock.Move(time.Minute)
	}
	page := b.post("/batch", with(form, "password", "wrong", "choice-1", "reject", "reason-1", "keep it")).Body.String()
	if !strings.Contains(text(page), "The password is wrong") || !strings.Contains(page, `value="keep it"`) || !strings.Contains(page, `value="approve" checked`) {
		t.Error("after a wrong password the choices are lost")
	}
}

func TestPasskeySignsEachDecisionOfABatch(t *testing.T) {
	b := newBench(t, ordinary("act_1", "ls"), ordinary("act_2", "rm x"), ordinary("act_3", "date"))
	address, ctx := b.byName(t, b.gate), browser(t)
	device(t, ctx)
	signIn(t, ctx, address, "Alice")
	register(t, ctx, address)
	do(t, ctx, chromedp.Navigate(address+"/batch"), chromedp.WaitVisible(chromedp.CSS("#batch")),
		chromedp.Click(chromedp.CSS(`[name="choice-0"][value="approve"]`)), chromedp.Click(chromedp.CSS(`[name="choice-2"][value="reject"]`)),
		chromedp.SendKeys(chromedp.CSS(`[name="reason-0"]`), "fine"), chromedp.SendKeys(chromedp.CSS(`[name="reason-2"]`), "not now"), chromedp.Click(chromedp.CSS("#batch button")), chromedp.WaitVisible(chromedp.CSS(".item .chip")))
	if n := b.gate.counted(); n != 2 {
		t.Fatalf("%d votes; want 2: %s", n, pageText(t, ctx))
	}
	for _, v := range b.gate.votes {
		if v.Method != action.MethodPasskey || v.Approve != (v.ActionID == "act_1") || v.Reason != map[bool]string{true: "fine", false: "not now"}[v.Approve] {
			t.Errorf("vote %+v", v)
		}
		offline(t, b, v)
	}
}
