package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/action"
)

// unclear is a payment that nobody knows the outcome of.
func unclear(id string) action.Action {
	a := payment(id)
	a.State = action.Uncertain
	a.Result = &action.Result{Code: "outcome_uncertain", Detail: "no answer in time", At: start}
	return a
}

// formWith returns the fields of the form that has a field with a value.
func formWith(t *testing.T, page, path, name, value string) url.Values {
	t.Helper()
	for rest := page; ; {
		_, after, found := strings.Cut(rest, `action="`+path+`"`)
		if !found {
			t.Fatalf("no form for %s with %s=%s", path, name, value)
		}
		form := formOf(t, `action="`+path+`"`+after, path)
		if form.Get(name) == value {
			return form
		}
		rest = after
	}
}

func TestUncertainActionIsSettledWithProofAndEvidence(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[string]action.State{"happened": action.ReconciledSucceeded, "did_not": action.ReconciledFailed} {
		b := newBench(t, unclear("act_1"))
		page := b.get("/actions/act_1").Body.String()
		const path = "/actions/act_1/reconcile"
		form := formWith(t, page, path, "verdict", verdict)
		for what, bad := range map[string]struct {
			form url.Values
			code int
		}{
			"a wrong password":     {with(form, "evidence", "the bank's ledger", "password", "wrong"), http.StatusForbidden},
			"no evidence":          {with(form, "evidence", " ", "password", password), http.StatusUnprocessableEntity},
			"unseen evidence":      {with(form, "evidence", "a\u202eb", "password", password), http.StatusUnprocessableEntity},
			"the other verdict":    {with(form, "evidence", "x", "password", password, "verdict", map[string]string{"happened": "did_not", "did_not": "happened"}[verdict]), http.StatusBadRequest},
			"an unknown verdict":   {with(form, "evidence", "x", "password", password, "verdict", "succeeded"), http.StatusBadRequest},
			"another action's row": {with(form, "evidence", "x", "password", password, "hash", strings.Repeat("1", 64)), http.StatusBadRequest},
		} {
			if w := b.post(path, bad.form); w.Code != bad.code || len(b.gate.settled) != 0 {
				t.Errorf("%s: status %d, %d settled; want %d and none", what, w.Code, len(b.gate.settled), bad.code)
			}
			b.clock.Move(time.Minute)
		}
		if w := b.post(path, with(form, "evidence", "the bank's ledger, line 7", "password", password)); w.Code != http.StatusSeeOther {
			t.Fatalf("status %d: %s", w.Code, text(w.Body.String()))
		}
		said := []action.Reconciliation{{ID: "act_1", State: want, By: b.alice.ID, Evidence: "the bank's ledger, line 7"}}
		if diff := cmp.Diff(said, b.gate.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
		if w := b.post(path, with(form, "evidence", "again", "password", password)); w.Code != http.StatusConflict {
			t.Errorf("a second time = %d; want 409", w.Code)
		}
	}
}

// The owner of a call with high impact does not say how it ended, unless
// policy lets owners approve.
func TestHighImpactIsSettledBySomebodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, unclear("act_1"))
	for _, person := range []struct {
		name   string
		groups []string
		may    bool
	}{{"Bob", []string{"finance", "operator"}, false}, {"Olga", []string{"operator"}, true}, {"Fred", []string{"finance"}, true}, {"Nina", nil, false}} {
		b.cookie = b.logIn(t, b.join(t, person.name, tenant, person.groups...))
		page := b.get("/actions/act_1").Body.String()
		if got := strings.Contains(page, "/actions/act_1/reconcile"); got != person.may {
			t.Errorf("%s is offered to settle: %v; want %v", person.name, got, person.may)
		}
		if !person.may && !strings.Contains(text(page), "somebody who may approve it, or an operator who is not its owner") {
			t.Errorf("%s is not told why", person.name)
		}
	}
}

func TestOperatorsSeeWhatIsOpenAndUncertain(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"), unclear("act_2"))
	page := b.get("/operate").Body.String()
	if diff := cmp.Diff([]string{"act_2"}, shown(page)); diff != "" {
		t.Errorf("uncertain (-want +got):\n%s", diff)
	}
	for _, want := range []string{"waiting for people", "uncertain: nobody knows", "Nothing is stopped."} {
		if !strings.Contains(text(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestStoppingIsEasyAndLiftingNeedsProof(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := formOf(t, b.get("/operate").Body.String(), "/operate/stop")
	for what, bad := range map[string]url.Values{
		"no reason":         with(form, "agent", "", "tool", "bank.pay", "reason", ""),
		"an unknown tool":   with(form, "agent", "", "tool", "bank.typo", "reason", "x"),
		"an unseen agent":   with(form, "agent", "help\u200ber", "tool", "", "reason", "x"),
		"a very long agent": with(form, "agent", strings.Repeat("a", 201), "tool", "", "reason", "x"),
	} {
		if w := b.post("/operate/stop", bad); w.Code != http.StatusUnprocessableEntity || len(b.gate.stops) != 0 {
			t.Errorf("%s: status %d, %d stops", what, w.Code, len(b.gate.stops))
		}
	}
	w := b.post("/operate/stop", with(form, "agent", "Support Agent", "tool", "bank.pay", "reason", "it pays too much"))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("stop = %d: %s", w.Code, text(w.Body.String()))
	}
	want := []action.Stop{{Tenant: tenant, Agent: "Support Agent", Tool: "bank.pay", By: b.alice.ID, Reason: "it pays too much"}}
	if diff := cmp.Diff(want, b.gate.stops, cmpopts.IgnoreFields(action.Stop{}, "At")); diff != "" {
		t.Fatalf("stops (-want +got):\n%s", diff)
	}
	page := b.get(w.Header().Get("Location")).Body.String()
	for _, says := range []string{"Stopped. 2 runs of it are under way and are not cut.", "Stopped: the tool bank.pay for the agent Support Agent", "by Alice", "it pays too much"} {
		if !strings.Contains(text(page), says) {
			t.Errorf("the page does not say %q", says)
		}
	}
	lift := formOf(t, page, "/operate/lift")
	for what, bad := range map[string]struct {
		form url.Values
		code int
	}{
		"a wrong password":      {with(lift, "reason", "over", "password", "wrong"), http.StatusForbidden},
		"no reason":             {with(lift, "reason", "", "password", password), http.StatusUnprocessableEntity},
		"another stop":          {with(lift, "reason", "over", "password", password, "tool", ""), http.StatusBadRequest},
		"a stop of another":     {with(lift, "reason", "over", "password", password, "tenant", "rival"), http.StatusBadRequest},
		"a stop of every other": {with(lift, "reason", "over", "password", password, "tenant", ""), http.StatusBadRequest},
	} {
		if w := b.post("/operate/lift", bad.form); w.Code != bad.code || len(b.gate.lifted) != 0 {
			t.Errorf("%s: status %d, %d lifted; want %d and none", what, w.Code, len(b.gate.lifted), bad.code)
		}
		b.clock.Move(time.Minute)
	}
	b.gate.refuse = action.ErrIneligible
	if w := b.post("/operate/lift", with(lift, "reason", "over", "password", password)); w.Code != http.StatusForbidden || !strings.Contains(text(w.Body.String()), "You may not lift this") {
		t.Errorf("somebody who may not lift it: %d", w.Code)
	}
	b.gate.refuse = nil
	if w := b.post("/operate/lift", with(lift, "reason", "over", "password", password)); w.Code != http.StatusSeeOther || len(b.gate.lifted) != 1 {
		t.Errorf("lift = %d, %d lifted", w.Code, len(b.gate.lifted))
	}
	if w := b.post("/operate/lift", with(lift, "reason", "over", "password", password)); w.Code != http.StatusConflict {
		t.Errorf("lifting it twice = %d; want 409", w.Code)
	}
}
