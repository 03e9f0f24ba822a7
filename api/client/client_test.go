package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api/client"
	"github.com/seed-de4804fb/verbatim/audit"
)

func TestArgumentsTravelAsTheModelWroteThemAndAnswersAsTheToolDid(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	const text = ` { "text" : "h\u00e9<&\u2028" , "n":1.0e1 }`
	o, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: text, Model: "m", CallID: "c"})
	if err != nil || o.Status != verbatim.StatusOK || o.State != action.Succeeded || o.Receipt == nil {
		t.Fatalf("%+v, %v", o, err)
	}
	if diff := cmp.Diff(`{"big":9007199254740993,"big2":1e400,"twice":1,"twice":2}`, string(o.Output)); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	a, err := g.Gate.Action(t.Context(), "acme", o.ActionID)
	if err != nil || string(a.Payload.Raw) != text || a.Model != "m" || a.CallID != "c" {
		t.Errorf("recorded %q, %+v, %v", a.Payload.Raw, a, err)
	}
	got, err := g.client.Action(t.Context(), o.ActionID)
	if err != nil || !got.Final || got.Result == nil || string(got.Result.Output) != string(o.Output) {
		t.Errorf("%+v, %v", got, err)
	}
	again, err := g.client.Result(t.Context(), o.ActionID)
	if err != nil || !again.Replayed || string(again.Output) != string(o.Output) {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: "{\"text\":\"\xff\"}"}); !errors.Is(err, client.ErrArguments) {
		t.Errorf("what no JSON body can carry: %v", err)
	}
}

func TestOutcomesAreValuesAndProblemsAreErrors(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	for _, tt := range []struct {
		name   string
		call   client.Call
		status verbatim.Status
		code   verbatim.Code
	}{
		{"it ran", client.Call{Tool: "up.note", Arguments: `{"text":"a"}`}, verbatim.StatusOK, "ok"},
		{"denied", client.Call{Tool: "up.secret", Arguments: `{"text":"a"}`}, verbatim.StatusDenied, "policy_denied"},
		{"no such tool", client.Call{Tool: "up.none", Arguments: `{}`}, verbatim.StatusDenied, "unknown_tool"},
		{"refused arguments", client.Call{Tool: "up.note", Arguments: `{"text":5}`}, verbatim.StatusInvalidArguments, "invalid_arguments"},
		{"it waits", client.Call{Tool: "up.pay", Arguments: `{"text":"a"}`}, verbatim.StatusApprovalRequired, "approval_required"},
		{"nobody knows", client.Call{Tool: "up.note", Arguments: `{"text":"lose"}`}, verbatim.StatusUncertain, "outcome_uncertain"},
	} {
		o, err := g.client.Call(t.Context(), tt.call)
		if err != nil || o.Status != tt.status || o.Code != tt.code {
			t.Errorf("%s: %+v, %v", tt.name, o, err)
		}
	}
	o, err := g.client.Call(t.Context(), client.Call{Tool: "up.secret", Arguments: `{"text":"b"}`})
	var denied *verbatim.DeniedError
	if err != nil || o.PublicReason != "Not on Mondays." || !errors.As(o.Err(), &denied) {
		t.Errorf("%+v, %v", o, err)
	}
	_, err = g.client.Call(t.Context(), client.Call{Tool: "", Arguments: `{}`})
	var p *client.Problem
	if !errors.As(err, &p) || p.Code != verbatim.CodeInvalidRequest || p.Status != 400 || len(p.Violations) != 1 {
		t.Errorf("%v", err)
	}
	if _, err = g.client.Action(t.Context(), "../../explain"); !errors.As(err, &p) || !p.NotFound() {
		t.Errorf("%v", err)
	}
	wrong := g.with(client.Config{Token: client.StaticToken("another")})
	if _, err = wrong.Action(t.Context(), "x"); !errors.As(err, &p) || p.Status != 401 || strings.Contains(err.Error(), "another") {
		t.Errorf("%v", err)
	}
}

func TestRunStaysWithACallUntilItsEnd(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k-1"} {
		for _, yes := range []bool{true, false} {
			g := newGateway(t)
			ended := make(chan verbatim.Outcome, 1)
			go func() {
				o, err := g.client.Run(context.Background(), client.Call{Tool: "up.pay", Arguments: `{"text":"a"}`, Key: key})
				if err != nil {
					t.Error(err)
				}
				ended <- o
			}()
			id := g.pending("up.pay")
			if _, err := g.Vote(id, "ada", yes); err != nil {
				t.Fatal(err)
			}
			o, want := <-ended, 0
			if yes {
				want = 1
			}
			if o.ActionID != id || len(g.ran()) != want || yes != (o.Code == verbatim.CodeOK) || !yes && o.Code != verbatim.CodeRejected {
				t.Errorf("key %q, %v: %+v after %v", key, yes, o, g.ran())
			}
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { g.pending("up.pay"); cancel() }()
	if o, err := g.client.Run(ctx, client.Call{Tool: "up.pay", Arguments: `{"text":"a"}`}); !errors.Is(err, context.Canceled) || o.State != "" && o.State != action.PendingApproval {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestListsAndWhatIsKept(t *testing.T) {
	t.Parallel()
	g, ctx := newGateway(t), t.Context()
	for _, text := range []string{"a", "b", "c"} {
		if _, err := g.client.Call(ctx, client.Call{Tool: "up.pay", Arguments: `{"text":"` + text + `"}`}); err != nil {
			t.Fatal(err)
		}
	}
	found, next := 0, ""
	for range 4 {
		page, err := g.client.Actions(ctx, client.Filter{Tool: "up.pay", State: action.PendingApproval, Limit: 2, Before: next})
		if err != nil {
			t.Fatal(err)
		}
		if found, next = found+len(page.Actions), page.Next; next == "" {
			break
		}
	}
	tools, err := g.client.Tools(ctx)
	if err != nil || len(tools) != 1 || tools[0].Name != "up.pay" || tools[0].Description != "Pays." || string(tools[0].InputSchema) != `{"type":"object"}` {
		t.Errorf("%+v, %v", tools, err)
	}
	waiting, err := g.client.Proposals(ctx, client.Filter{Limit: 1})
	if err != nil || found != 3 || len(waiting.Proposals) != 1 || waiting.Next == "" {
		t.Fatalf("%d actions, %+v, %v", found, waiting, err)
	}
	p := waiting.Proposals[0]
	if p.Raw != `{"text":"c"}` || p.Args != `{"n":3,"text":"c"}` || p.Requirements[0].AnyOf[0].Name != "admin" || p.ExpiresAt.IsZero() {
		t.Errorf("%+v", p)
	}
	g.Approve(p.ID, "ada")
	votes, err := g.client.Votes(ctx, p.ID)
	if err != nil || len(votes) != 1 || votes[0].Voter != "ada" || !votes[0].Approve {
		t.Errorf("%+v, %v", votes, err)
	}
	records, _, err := g.client.Records(ctx, p.ID, 0)
	if err != nil || records[0].Event != audit.ActionApproved {
		t.Errorf("%+v, %v", records, err)
	}
	if older, _, err := g.client.Records(ctx, p.ID, records[0].Seq); err != nil || len(older) != len(records)-1 {
		t.Errorf("%+v, %v", older, err)
	}
	if receipts, err := g.client.Receipts(ctx, p.ID); err != nil || len(receipts) != len(records) {
		t.Errorf("%s, %v", receipts, err)
	}
	var problem *client.Problem
	if _, err := g.client.Evidence(ctx, p.ID); !errors.As(err, &problem) || problem.Code != verbatim.CodeNotSigned {
		t.Errorf("%v", err)
	}
	if a, err := g.client.Dismiss(ctx, p.ID); err != nil || a.State != action.Revoked {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := g.client.Dismiss(ctx, p.ID); !errors.As(err, &problem) || problem.Code != verbatim.CodeTooLate {
		t.Errorf("%v", err)
	}
	e, err := g.client.Explain(ctx, "up.pay", `{"text":"a"}`)
	if err != nil || e.Decision != "require_approval" || e.Args != `{"n":3,"text":"a"}` {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestAnIncompleteClientIsRefused(t *testing.T) {
	t.Parallel()
	give := client.StaticToken("t")
	for name, cfg := range map[string]client.Config{"no token": {URL: "https://a.test"}, "no URL": {Token: give},
		"plain http": {URL: "http://a.test", Token: give}, "a path": {URL: "https://a.test/v1", Token: give}, "a user": {URL: "https://u@a.test", Token: give},
		"a query": {URL: "https://a.test?x", Token: give}, "another scheme": {URL: "ftp://a.test", Token: give},
		"a name that looks like a loopback": {URL: "http://127.0.0.1.evil.test", Token: give},
		"many tries":                        {URL: "https://a.test", Token: give, Tries: 11}, "no time": {URL: "https://a.test", Token: give, Timeout: -1}} {
		if _, err := client.New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, url := range []string{"https://a.test", "http://127.0.0.1:8080", "http://localhost:1/", "http://[::1]:1"} {
		if _, err := client.New(client.Config{URL: url, Token: give}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestATokenGoesToNoOtherPlace(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	other := newGateway(t)
	g.meddling(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.server.URL+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	})
	for range 2 {
		if _, err := g.client.Call(t.Context(), client.Call{Tool: "up.note", Arguments: `{"text":"a"}`, Key: "k"}); !errors.Is(err, client.ErrAnswer) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := g.client.Wait(ctx, "x", action.PendingApproval); err == nil {
			t.Error("waiting followed a redirect")
		}
		cancel()
	}
	if n := other.asked(""); n > 0 {
		t.Errorf("%d requests went on", n)
	}
}
