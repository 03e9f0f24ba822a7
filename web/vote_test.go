package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// fill opens a page and returns one of its forms, filled in.
func (b *bench) fill(t *testing.T, page, path string, pairs ...string) url.Values {
	t.Helper()
	return with(formOf(t, b.get(page).Body.String(), path), append([]string{"password", password}, pairs...)...)
}

func TestApprovalIsSignedForWhatWasShown(t *testing.T) {
	t.Parallel()
	a := payment("act_1")
	b := newBench(t, a)
	w := b.post("/actions/act_1/approve", b.fill(t, "/actions/act_1", "/actions/act_1/approve"))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/actions/act_1" {
		t.Fatalf("approve = %d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	v := b.gate.votes[0]
	if v.Voter != b.alice.ID || !v.Approve || v.Digest != a.Terms.Digest || b.accounts.VerifyVote(t.Context(), v) != nil {
		t.Errorf("vote = %+v", v)
	}
	page := b.get("/actions/act_1").Body.String()
	if !strings.Contains(page, "approved, not run yet") || strings.Contains(page, "/approve") {
		t.Error("the page still offers a decision")
	}
}

func TestRejectionNeedsAReasonThatPeopleCanRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/reject")
	for _, reason := range []string{"", "   ", "\n", "no\u202e", "no\u200b", "no\x00", "no\xff", strings.Repeat("x", 501)} {
		if w := b.post("/actions/act_1/reject", with(form, "reason", reason)); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("reason %+q = %d; want 422", reason, w.Code)
		}
	}
	if n := b.gate.counted(); n != 0 {
		t.Fatalf("%d votes were counted", n)
	}
	if w := b.post("/actions/act_1/reject", with(form, "reason", " not this vendor ")); w.Code != http.StatusSeeOther {
		t.Fatalf("reject = %d: %s", w.Code, w.Body)
	}
	if v := b.gate.votes[0]; v.Approve || v.Reason != "not this vendor" || b.accounts.VerifyVote(t.Context(), v) != nil {
		t.Errorf("vote = %+v", v)
	}
	if page := b.get("/actions/act_1").Body.String(); !strings.Contains(page, "not this vendor") || !strings.Contains(page, "denied") {
		t.Error("the page does not show the rejection")
	}
}

func TestStalePageCannotApproveSomethingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	b.gate.change("act_1", func(a *action.Action) {
		a.Payload.Args = strings.Replace(a.Payload.Args, "VENDOR-001", "VENDOR-002", 1)
		a.Targets[0].ID = "VENDOR-002"
		*a = sealed(*a)
	})
	w := b.post("/actions/act_1/approve", form)
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "not what you were shown") || b.gate.counted() != 0 {
		t.Errorf("approve = %d with %d votes; want 409 and none", w.Code, b.gate.counted())
	}
	if !strings.Contains(w.Body.String(), "VENDOR-002") {
		t.Error("the answer does not show what it is now")
	}
}

func TestWrongPasswordDecidesNothingAndIsThrottled(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := with(b.fill(t, "/actions/act_1", "/actions/act_1/approve"), "password", "wrong password")
	for range 3 {
		if w := b.post("/actions/act_1/approve", form); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "password is wrong") {
			t.Fatalf("approve = %d; want 403", w.Code)
		}
	}
	right := with(form, "password", password)
	if w := b.post("/actions/act_1/approve", right); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("approve while throttled = %d; want 429", w.Code)
	}
	if n := b.gate.counted(); n != 0 {
		t.Fatalf("%d votes were counted", n)
	}
	b.clock.Move(time.Second)
	if w := b.post("/actions/act_1/approve", right); w.Code != http.StatusSeeOther {
		t.Errorf("approve after the wait = %d; want 303", w.Code)
	}
}

// L02, L03: an unauthenticated or agent-held credential never decides.
func TestL02L03OnlyAPersonWithAPasswordDecides(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	for what, change := range map[string]func(*http.Request){
		"nothing":                   func(r *http.Request) { r.Header.Del("Cookie") },
		"bearer token":              func(r *http.Request) { r.Header.Del("Cookie"); r.Header.Set("Authorization", "Bearer "+b.cookie) },
		"bearer token and a cookie": func(r *http.Request) { r.Header.Set("Authorization", "Bearer agent") },
		"token as cookie":           func(r *http.Request) { r.Header.Set("Cookie", "verbatim=agent-token") },
	} {
		r := b.request(http.MethodPost, "/actions/act_1/approve", form)
		change(r)
		if w := b.send(r); w.Code != http.StatusForbidden {
			t.Errorf("%s: approve = %d; want 403", what, w.Code)
		}
	}
	for _, secret := range []string{"", b.cookie, "wrong password"} {
		if w := b.post("/actions/act_1/approve", with(form, "password", secret)); w.Code != http.StatusForbidden {
			t.Errorf("a login without its password = %d; want 403", w.Code)
		}
	}
	if n := b.gate.counted(); n != 0 {
		t.Errorf("%d votes were counted", n)
	}
}

// L04: the owner of the agent session decides only where policy names the
// group owner, and it is said.
func TestL04OwnerDecidesOnlyWherePolicySaysSo(t *testing.T) {
	t.Parallel()
	own := payment("act_1")
	own.Principal, own.Owner = "alice@acme", "alice@acme"
	own = sealed(own)
	single := own
	single.ID = "act_2"
	terms := *own.Terms
	terms.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "owner", Votes: 1}}}}
	single.Terms = &terms
	single = sealed(single)
	b := newBench(t, own, single)

	page := b.get("/actions/act_1").Body.String()
	if strings.Contains(page, "/approve") || !strings.Contains(page, "own agent") {
		t.Error("the owner is offered a decision that policy does not give")
	}
	page = b.get("/actions/act_2").Body.String()
	if !strings.Contains(page, "Single operator.") {
		t.Error("the page does not say that this is a single operator")
	}
	if w := b.post("/actions/act_2/approve", b.fill(t, "/actions/act_2", "/actions/act_2/approve")); w.Code != http.StatusSeeOther {
		t.Fatalf("approve = %d", w.Code)
	}
	if page = b.get("/actions/act_2").Body.String(); !strings.Contains(page, "Single operator: the owner of the agent session decided.") {
		t.Error("the receipt line is missing")
	}
	b.join(t, "Carol", tenant, "finance")
	if page = b.get("/actions/act_2").Body.String(); strings.Contains(page, "Single operator") {
		t.Error("two people are no single operator")
	}
}

func TestPeopleWhoMayNotDecideAreToldWhy(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	b.cookie = b.logIn(t, b.join(t, "Dave", tenant, "support"))
	page := b.get("/actions/act_1").Body.String()
	if strings.Contains(page, "/approve") || !strings.Contains(page, "none of the groups") {
		t.Error("the page offers a decision")
	}
	if w := b.post("/actions/act_1/approve", form); w.Code != http.StatusBadRequest {
		t.Errorf("somebody else's form = %d; want 400", w.Code)
	}
	b.cookie = b.logIn(t, b.join(t, "Eve", "other", "finance"))
	if w := b.get("/actions/act_1"); w.Code != http.StatusNotFound {
		t.Errorf("another tenant's page = %d; want 404", w.Code)
	}
}

func TestSecondVoteOfOnePersonIsRefused(t *testing.T) {
	t.Parallel()
	a := payment("act_1")
	a.Terms.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 2}}}}
	b := newBench(t, sealed(a))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	if w := b.post("/actions/act_1/approve", form); w.Code != http.StatusSeeOther {
		t.Fatalf("approve = %d", w.Code)
	}
	if w := b.post("/actions/act_1/approve", form); w.Code != http.StatusConflict || b.gate.counted() != 1 {
		t.Errorf("second vote = %d with %d votes; want 409 and one", w.Code, b.gate.counted())
	}
}

func TestDeadlineOnThePageIsTheServers(t *testing.T) {
	t.Parallel()
	a := payment("act_1")
	a.Deadline = start.Add(5 * time.Minute)
	b := newBench(t, a)
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	if page := b.get("/actions/act_1").Body.String(); !strings.Contains(page, `data-left="300"`) || !strings.Contains(page, "in 5 min") {
		t.Error("the page does not say how long is left")
	}
	b.clock.Move(5 * time.Minute)
	if w := b.post("/actions/act_1/approve", form); w.Code != http.StatusConflict || b.gate.counted() != 0 {
		t.Errorf("late approve = %d; want 409", w.Code)
	}
}

func TestApprovedActionIsWithdrawnWithPasswordAndReason(t *testing.T) {
	t.Parallel()
	a := payment("act_1")
	a.State = action.Approved
	b := newBench(t, a)
	form := b.fill(t, "/actions/act_1", "/actions/act_1/revoke")
	for what, bad := range map[string]url.Values{
		"no reason": with(form, "reason", ""), "wrong password": with(form, "reason", "mistake", "password", "wrong password"),
	} {
		if w := b.post("/actions/act_1/revoke", bad); w.Code < 400 || len(b.gate.revoked) != 0 {
			t.Errorf("%s: revoke = %d", what, w.Code)
		}
	}
	if w := b.post("/actions/act_1/revoke", with(form, "reason", "mistake")); w.Code != http.StatusSeeOther {
		t.Fatalf("revoke = %d: %s", w.Code, w.Body)
	}
	if want := "act_1 " + b.alice.ID + " mistake"; len(b.gate.revoked) != 1 || b.gate.revoked[0] != want {
		t.Errorf("revoked %q; want %q", b.gate.revoked, want)
	}
}

func TestWhatCannotBeShownCannotBeApproved(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*action.Action){
		"no arguments":                func(a *action.Action) { a.Payload.Args = "" },
		"arguments that do not parse": func(a *action.Action) { a.Payload.Args = `{"a":` },
		"arguments not canonical":     func(a *action.Action) { a.Payload.Args = `{"b":1,"a":2}` },
		"preview missing":             func(a *action.Action) { a.Payload.Preview = "" },
		"preview not canonical":       func(a *action.Action) { a.Payload.Preview = `{ }` },
		"preview that is not bound":   func(a *action.Action) { a.Terms.Preview = canon.Digest{}; *a = sealed(*a) },
		"tool definition changed":     func(a *action.Action) { a.Definition = canon.Sum([]byte("older")); *a = sealed(*a) },
		"tool gone":                   func(a *action.Action) { a.Tool = "bank.gone"; *a = sealed(*a) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, payment("act_1"))
			b.gate.change("act_1", change)
			page := b.get("/actions/act_1").Body.String()
			if strings.Contains(page, `action="/actions/act_1/approve"`) || !strings.Contains(page, "cannot be approved") {
				t.Error("the page offers an approval")
			}
			reject := formOf(t, page, "/actions/act_1/reject")
			if w := b.post("/actions/act_1/reject", with(reject, "password", password, "reason", "unclear")); w.Code != http.StatusSeeOther {
				t.Errorf("reject = %d; want 303", w.Code)
			}
		})
	}
}

func TestRefusalsOfTheEngineAreSaidInPlainWords(t *testing.T) {
	t.Parallel()
	withdrawable := payment("act_2")
	withdrawable.State = action.Approved
	b := newBench(t, payment("act_1"), withdrawable)
	approve := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	revoke := b.fill(t, "/actions/act_2", "/actions/act_2/revoke", "reason", "mistake")
	for _, test := range []struct {
		err    error
		status int
		says   string
	}{
		{action.ErrLate, http.StatusConflict, "deadline has passed"},
		{action.ErrDigest, http.StatusConflict, "not what you were shown"},
		{action.ErrVoted, http.StatusConflict, "decided on this already"},
		{action.ErrState, http.StatusConflict, "has moved on"},
		{action.ErrIneligible, http.StatusForbidden, "may not decide"},
		{action.ErrStopped, http.StatusConflict, "stopped this kind"},
		{action.ErrNotFound, http.StatusNotFound, "no such page"},
		{errors.New("secret detail"), http.StatusInternalServerError, "could not be made"},
	} {
		b.gate.refuse = fmt.Errorf("vote: %w", test.err)
		w := b.post("/actions/act_1/approve", approve)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || strings.Contains(w.Body.String(), "secret detail") {
			t.Errorf("%v = %d, does not say %q", test.err, w.Code, test.says)
		}
	}
	b.gate.refuse = action.ErrState
	if w := b.post("/actions/act_2/revoke", revoke); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "has moved on") {
		t.Errorf("refused withdrawal = %d", w.Code)
	}
}

func TestDisabledPersonDecidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	if err := b.accounts.Disable(t.Context(), b.alice.ID); err != nil {
		t.Fatal(err)
	}
	b.join(t, "Bert", tenant)
	if w := b.post("/actions/act_1/approve", form); w.Code != http.StatusForbidden || b.gate.counted() != 0 {
		t.Errorf("approve = %d with %d votes; want 403 and none", w.Code, b.gate.counted())
	}
}

func TestAReasonThatIsNotSignedIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	form := b.fill(t, "/actions/act_1", "/actions/act_1/reject", "reason", "paid last week")
	if w := b.post("/actions/act_1/reject", form); w.Code != http.StatusSeeOther {
		t.Fatalf("reject = %d", w.Code)
	}
	if page := text(b.get("/actions/act_1").Body.String()); !strings.Contains(page, "paid last week") || strings.Contains(page, "reason is not signed") {
		t.Error("a signed reason is said not to be")
	}
	b.gate.mu.Lock()
	b.gate.votes[0].Reason = "paid today"
	b.gate.mu.Unlock()
	if page := text(b.get("/actions/act_1").Body.String()); !strings.Contains(page, "paid today") || !strings.Contains(page, "reason is not signed") {
		t.Error("a reason that nobody signed is shown like one that somebody did")
	}
}

func TestACommentWithAYesIsSignedAndShownEverywhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	b.gate.records = story()
	form := b.fill(t, "/actions/act_1", "/actions/act_1/approve")
	for _, comment := range []string{"yes\u202e", "yes\u200b", "yes\x00", "yes\xff", strings.Repeat("x", 501)} {
		if w := b.post("/actions/act_1/approve", with(form, "reason", comment)); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "500 plain characters") {
			t.Errorf("comment %+q = %d; want 422", comment, w.Code)
		}
	}
	noField := with(form)
	noField.Del("reason")
	if w := b.post("/actions/act_1/approve", noField); w.Code != http.StatusBadRequest || b.gate.counted() != 0 {
		t.Fatalf("a form without the field = %d, %d votes", w.Code, b.gate.counted())
	}
	if w := b.post("/actions/act_1/approve", with(form, "reason", " checked with\r\nthe vendor ")); w.Code != http.StatusSeeOther {
		t.Fatalf("approve = %d: %s", w.Code, w.Body)
	}
	v := b.gate.votes[0]
	if !v.Approve || v.Reason != "checked with\nthe vendor" || b.accounts.VerifyVote(t.Context(), v) != nil {
		t.Errorf("vote = %+v", v)
	}
	for what, change := range map[string]func(*action.Vote){"another comment": func(v *action.Vote) { v.Reason = "checked with the vendor" }, "none": func(v *action.Vote) { v.Reason = "" }} {
		changed := v
		if change(&changed); b.accounts.VerifyVote(t.Context(), changed) == nil {
			t.Errorf("%s verifies", what)
		}
	}
	for _, path := range []string{"/actions/act_1", "/actions/act_1/timeline", "/actions?q=the+vendor"} {
		page := plainText(b.get(path).Body.String())
		if !strings.Contains(page, "checked with") || !strings.Contains(page, "the vendor") || strings.Contains(page, "not signed") {
			t.Errorf("%s does not show the comment as a signed one: %s", path, page)
		}
	}
}

func TestWhatWasWrittenIsKeptWhenAFormDoesNotGoThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	for path, want := range map[string]string{"approve": `<details class="say" open>`, "reject": `<details class="no" open>`} {
		form := b.fill(t, "/actions/act_1", "/actions/act_1/"+path, "reason", "asked <b>Ann</b>", "password", "wrong password")
		page := b.post("/actions/act_1/"+path, form).Body.String()
		if !strings.Contains(page, "password is wrong") || strings.Count(page, "asked &lt;b&gt;Ann&lt;/b&gt;</textarea>") != 1 || strings.Count(page, want) != 1 {
			t.Errorf("%s: what was written is lost, or stands in another form", path)
		}
		b.clock.Move(time.Minute)
	}
}
