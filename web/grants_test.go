package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// refunds is the real engine with ordinary refunds that some admins decide
// on, and Grace, who is one, signed in.
func refunds(t *testing.T, runs *atomic.Int32, admins int) (*verbatimtest.Fixture, *bench) {
	t.Helper()
	f, b := engineOf(t, runs, catalog.Ordinary, policy.Decision{Effect: policy.RequireApproval, Reason: "somebody looks at refunds",
		Approval: &policy.Approval{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: admins}}}}}}, 1)
	grace, err := b.accounts.Create(t.Context(), "Grace", password, "acme", "grace", []string{"admin"})
	if err != nil {
		t.Fatal(err)
	}
	b.cookie = enters(t, b, grace.Name)
	return f, b
}

// enters signs somebody in.
func enters(t *testing.T, b *bench, name string) string {
	t.Helper()
	token, _, err := b.accounts.Login(t.Context(), name, password)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func refund(t *testing.T, f *verbatimtest.Fixture, args string) verbatim.Outcome {
	t.Helper()
	o, err := f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "refund", Arguments: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// chosen fills in the form on which a person says which calls are like one:
// up to EUR 20.00 each and 30.00 in all, for any order.
func chosen(t *testing.T, b *bench, id string, pairs ...string) url.Values {
	t.Helper()
	path := "/actions/" + id + "/allow"
	return with(formOf(t, b.get(path).Body.String(), path+"/review"), append([]string{"rule-0", "most", "bound-0", "2000", "rule-1", "equal", "bound-1", "",
		"rule-2", "any", "bound-2", "", "targets", "any", "sum", "/amountMinor", "total", "3000", "uses", "5", "hours", "2"}, pairs...)...)
}

// made goes all the way to a grant and returns where its page is.
func made(t *testing.T, b *bench, id string) string {
	t.Helper()
	path := "/actions/" + id + "/allow"
	w := b.post(path+"/review", chosen(t, b, id))
	if w.Code != http.StatusOK {
		t.Fatalf("review = %d: %s", w.Code, text(w.Body.String()))
	}
	if w = b.post(path, with(formOf(t, w.Body.String(), path), "password", password)); w.Code != http.StatusSeeOther {
		t.Fatalf("allow = %d: %s", w.Code, text(w.Body.String()))
	}
	return w.Header().Get("Location")
}

func TestCallsLikeOneAreAllowedOnThePage(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f, b := refunds(t, &runs, 1)
	first := refund(t, f, `{"order":"A-17","amountMinor":1250}`)
	page := b.get("/actions/" + first.ActionID).Body.String()
	if !strings.Contains(page, "/actions/"+first.ActionID+"/allow") {
		t.Fatal("the proposal does not lead to a grant")
	}
	form := b.get("/actions/" + first.ActionID + "/allow").Body.String()
	for _, want := range []string{"EUR 12.50", "exactly this", "A-17"} {
		if !strings.Contains(text(form), want) {
			t.Errorf("the form does not say %q", want)
		}
	}
	review := text(b.post("/actions/"+first.ActionID+"/allow/review", chosen(t, b, first.ActionID)).Body.String())
	for _, want := range []string{"at most EUR 20.00", `exactly "EUR"`, "anything, or left out", "at most 5", "at most EUR 30.00 of /amountMinor", "What has high impact always asks", "You sign grant digest"} {
		if !strings.Contains(review, want) {
			t.Errorf("the review does not say %q", want)
		}
	}
	if all, err := f.Gate.Grants(t.Context(), action.StandingFilter{}); err != nil || len(all) != 0 {
		t.Fatalf("reading kept %d grants, %v", len(all), err)
	}
	at := made(t, b, first.ActionID)
	if o := refund(t, f, `{"order":"A-17","amountMinor":1250}`); o.Status != verbatim.StatusOK {
		t.Fatalf("the call that was asked about: %+v", o)
	}
	second := refund(t, f, `{"order":"B-2","amountMinor":1750}`)
	if second.Status != verbatim.StatusOK || runs.Load() != 2 {
		t.Fatalf("a call like it: %+v, %d runs", second, runs.Load())
	}
	if o := refund(t, f, `{"order":"B-3","amountMinor":1}`); o.Status != verbatim.StatusApprovalRequired {
		t.Errorf("beyond the total: %+v", o)
	}
	if page := text(b.get("/actions/" + second.ActionID).Body.String()); !strings.Contains(page, "Allowed by a standing grant, not by a vote on this call") {
		t.Error("the action does not say what allowed it")
	}
	for _, where := range []string{at, "/grants"} {
		if page := text(b.get(where).Body.String()); !strings.Contains(page, "in force") || !strings.Contains(page, "Grace") || !strings.Contains(page, "EUR 30.00") {
			t.Errorf("%s does not show the grant: %s", where, page)
		}
	}
	if w := b.post(at+"/revoke", b.fill(t, at, at+"/revoke")); w.Code != http.StatusSeeOther {
		t.Fatalf("revoke = %d: %s", w.Code, text(w.Body.String()))
	}
	if page := text(b.get(at).Body.String()); !strings.Contains(page, "revoked") || strings.Contains(page, "Revoke this grant") {
		t.Error("the page does not say that it is revoked")
	}
	if o := refund(t, f, `{"order":"C-1","amountMinor":0}`); o.Status != verbatim.StatusApprovalRequired {
		t.Errorf("after it was revoked: %+v", o)
	}
}

func TestAGrantForTwoIsSignedByTwo(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f, b := refunds(t, &runs, 2)
	heidi, err := b.accounts.Create(t.Context(), "Heidi", password, "acme", "heidi", []string{"admin"})
	if err != nil {
		t.Fatal(err)
	}
	first := refund(t, f, `{"order":"A-17","amountMinor":1250}`)
	at := made(t, b, first.ActionID)
	if page := b.get(at).Body.String(); !strings.Contains(page, "waits for signatures") || strings.Contains(page, at+"/sign") {
		t.Error("one signature of two: the page says something else")
	}
	if o := refund(t, f, `{"order":"A-18","amountMinor":1}`); o.Status != verbatim.StatusApprovalRequired {
		t.Fatalf("with one signature of two: %+v", o)
	}
	b.cookie = enters(t, b, heidi.Name)
	if w := b.post(at+"/sign", b.fill(t, at, at+"/sign")); w.Code != http.StatusSeeOther {
		t.Fatalf("sign = %d: %s", w.Code, text(w.Body.String()))
	}
	if page := text(b.get(at).Body.String()); !strings.Contains(page, "in force") || !strings.Contains(page, "Heidi") {
		t.Error("two signatures of two: the page does not say so")
	}
	if o := refund(t, f, `{"order":"A-18","amountMinor":1}`); o.Status != verbatim.StatusOK {
		t.Fatalf("with both: %+v", o)
	}
}

func TestAGrantTakesAFormOfThePageAndWhoMay(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f, b := refunds(t, &runs, 1)
	first := refund(t, f, `{"order":"A-17","amountMinor":1250}`)
	path := "/actions/" + first.ActionID + "/allow"
	for name, pairs := range map[string][]string{
		"a rule that there is not":  {"rule-0", "like"},
		"no bound":                  {"bound-0", ""},
		"a bound below the call":    {"bound-0", "1"},
		"a bound below zero":        {"bound-0", "-1"},
		"a total of no number":      {"total", "much"},
		"a total over any currency": {"rule-1", "any"},
		"no calls":                  {"uses", "0"},
		"more than a day":           {"hours", "25"},
	} {
		if w := b.post(path+"/review", chosen(t, b, first.ActionID, pairs...)); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%s = %d", name, w.Code)
		}
	}
	draft := b.post(path+"/review", chosen(t, b, first.ActionID)).Body.String()
	form := with(formOf(t, draft, path), "password", password)
	other := formOf(t, b.post(path+"/review", chosen(t, b, first.ActionID, "uses", "1000")).Body.String(), path)
	for _, c := range []struct {
		name string
		form url.Values
		want int
	}{
		{"a wrong password", with(form, "password", "not this one"), http.StatusForbidden},
		{"another statement", with(form, "statement", other.Get("statement")), http.StatusBadRequest},
		{"no statement", with(form, "statement", ""), http.StatusBadRequest},
		{"a statement with a space", with(form, "statement", form.Get("statement")+" "), http.StatusBadRequest},
		{"a token of another form", with(form, "token", "x"), http.StatusBadRequest},
		{"one member more", with(form, "uses", "1000"), http.StatusBadRequest},
		{"the review's own statement", form, http.StatusSeeOther},
	} {
		if w := b.post(path, c.form); w.Code != c.want {
			t.Errorf("%s = %d; want %d", c.name, w.Code, c.want)
		}
	}
	all, err := f.Gate.Grants(t.Context(), action.StandingFilter{})
	if err != nil || len(all) != 1 || all[0].MaxUses != 5 {
		t.Fatalf("%+v, %v", all, err)
	}
	at := "/grants/" + all[0].ID
	for _, who := range []struct {
		name, tenant, principal, group string
		see, allow, revoke             int
	}{
		{"Ivan", "acme", "ivan", "kitchen", http.StatusOK, http.StatusForbidden, http.StatusBadRequest},
		{"Judy", "acme", "maria", "admin", http.StatusOK, http.StatusForbidden, http.StatusOK}, // the agent is hers
		{"Mallory", "rival", "mallory", "admin", http.StatusNotFound, http.StatusNotFound, http.StatusNotFound},
	} {
		a, err := b.accounts.Create(t.Context(), who.name, password, who.tenant, who.principal, []string{who.group})
		if err != nil {
			t.Fatal(err)
		}
		b.cookie = enters(t, b, a.Name)
		if w := b.get(at); w.Code != who.see || (strings.Contains(w.Body.String(), at+"/revoke") != (who.revoke == http.StatusOK)) {
			t.Errorf("%s sees %d", who.name, w.Code)
		}
		next := refundWaiting(t, f)
		if w := b.get("/actions/" + next + "/allow"); w.Code != who.allow {
			t.Errorf("%s may allow: %d", who.name, w.Code)
		}
		if w := b.post(at+"/revoke", url.Values{"token": {"x"}, "password": {password}}); w.Code == http.StatusSeeOther {
			t.Errorf("%s revoked without a form", who.name)
		}
	}
}

func refundWaiting(t *testing.T, f *verbatimtest.Fixture) string {
	t.Helper()
	return refund(t, f, fmt.Sprintf(`{"order":"W-%d","amountMinor":9999}`, len(t.Name()))).ActionID
}

func TestHighImpactLeadsToNoGrant(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"), ordinary("act_2", "ls"))
	if page := b.get("/actions/act_1").Body.String(); strings.Contains(page, "/allow") {
		t.Error("high impact is offered")
	}
	if w := b.get("/actions/act_1/allow"); w.Code != http.StatusConflict || !strings.Contains(text(w.Body.String()), "high impact") {
		t.Errorf("allow = %d", w.Code)
	}
	if page := b.get("/actions/act_2").Body.String(); !strings.Contains(page, "/actions/act_2/allow") {
		t.Error("what is ordinary is not offered")
	}
}
