package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/api"
)

func TestACallRunsWithTheFrozenArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call("maria", "up.note", ` { "text" : "h\u00e9", "n":1.0e1 }`)
	if got.status != 200 || got.at("/outcome/status") != "ok" || got.at("/outcome/data/output/content/0/text") != "done" {
		t.Fatalf("%d %s", got.status, got.text)
	}
	if diff := cmp.Diff([]string{`note {"n":10,"text":"hé"}`}, w.seen()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	a, err := w.Gate.Action(t.Context(), "acme", got.at("/outcome/data/actionId"))
	if err != nil || string(a.Payload.Raw) != ` { "text" : "h\u00e9", "n":1.0e1 }` || a.Principal != "maria" {
		t.Errorf("the record has %q of %s, %v", a.Payload.Raw, a.Principal, err)
	}
}

func TestExplainRunsNothingAndTellsNoReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct{ tool, arguments, code, decision string }{
		{"up.read", `{"text":"a"}`, "ok", "allow"},
		{"up.note", `{"text":"a"}`, "ok", "allow"},
		{"up.pay", `{"text":"a"}`, "approval_required", "require_approval"},
		{"up.secret", `{"text":"a"}`, "policy_denied", "deny"},
		{"up.none", `{}`, "unknown_tool", "deny"},
		{"nobody", `{}`, "unknown_tool", "deny"},
		{"up.note", `{"text":5}`, "invalid_arguments", ""},
		{"up.note", `{"text":"a","text":"b"}`, "invalid_arguments", ""},
		{"up.note", ``, "invalid_arguments", ""},
	} {
		got := w.ask("maria", http.MethodPost, "/v1/explain", bodyOf(tt.tool, tt.arguments))
		if got.status != 200 || got.at("/code") != tt.code || got.at("/decision") != tt.decision {
			t.Errorf("%s %s: %d %s", tt.tool, tt.arguments, got.status, got.text)
		}
	}
	got := w.ask("maria", http.MethodPost, "/v1/explain", bodyOf("up.note", `{"text":"a"}`))
	if got.at("/argsCanonicalJson") != `{"n":3,"text":"a"}` || len(got.at("/proposalHash")) != 64 || got.at("/changes/0/kind") != "default" {
		t.Error(got.text)
	}
	list := w.ask("maria", http.MethodGet, "/v1/actions", "")
	if len(w.seen()) > 0 || list.at("/actions") != "[]" {
		t.Errorf("explain left %v and %s", w.seen(), list.text)
	}
}

func TestAHighImpactCallWaitsAndRunsOnceItIsApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.call("maria", "up.pay", `{"text":"a"}`, "Idempotency-Key", "k1")
	id := asked.at("/outcome/data/actionId")
	if asked.status != 202 || asked.at("/outcome/code") != "approval_required" || asked.header.Get("Location") != "/v1/actions/"+id {
		t.Fatalf("%d %v %s", asked.status, asked.header, asked.text)
	}
	if got := w.ask("maria", http.MethodGet, "/v1/actions/"+id, ""); got.at("/state") != "pending_approval" || got.at("/final") != "false" {
		t.Error(got.text)
	}
	changed := make(chan reply, 1)
	go func() {
		changed <- w.ask("maria", http.MethodGet, "/v1/actions/"+id+"?wait=30&state=pending_approval", "")
	}()
	w.Approve(id, "ada")
	if got := <-changed; got.status != 200 || got.at("/state") != "approved" {
		t.Errorf("the long poll: %d %s", got.status, got.text)
	}
	ran := w.call("maria", "up.pay", `{"text":"a"}`, "Idempotency-Key", `"k1"`)
	if ran.status != 200 || ran.at("/outcome/data/actionId") != id {
		t.Fatalf("%d %s", ran.status, ran.text)
	}
	again := w.call("maria", "up.pay", `{"text":"a"}`, "Idempotency-Key", "k1")
	if again.status != 200 || again.at("/outcome/data/replayed") != "true" {
		t.Errorf("a repeated key: %d %s", again.status, again.text)
	}
	other := w.call("maria", "up.pay", `{"text":"b"}`, "Idempotency-Key", "k1")
	if other.status != 422 || other.at("/code") != "idempotency_mismatch" {
		t.Errorf("a key of another call: %d %s", other.status, other.text)
	}
	if diff := cmp.Diff([]string{`pay {"n":3,"text":"a"}`}, w.seen()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	done := w.ask("maria", http.MethodGet, "/v1/actions/"+id+"?wait=60", "")
	if done.at("/final") != "true" || done.at("/result/output/content/0/text") != "done" {
		t.Error(done.text)
	}
}

func TestACallHeldWhilePeopleDecideRunsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := make(chan reply, 1)
	go func() {
		held <- w.ask("maria", http.MethodPost, "/v1/call", bodyOf("up.pay", `{"text":"a"}`, "waitSeconds", "30", "model", `"m"`, "callId", `"c"`))
	}()
	id := ""
	for id == "" {
		id = w.ask("maria", http.MethodGet, "/v1/actions?state=pending_approval", "").at("/actions/0/actionId")
	}
	w.Approve(id, "ada")
	if got := <-held; got.status != 200 || got.at("/outcome/data/actionId") != id {
		t.Errorf("%d %s", got.status, got.text)
	}
}

func TestOutcomesHaveTheirStatuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct {
		name, tool, arguments string
		extra                 []string
		status                int
		code                  string
	}{
		{"denied", "up.secret", `{"text":"a"}`, nil, 403, "policy_denied"},
		{"no such tool", "up.none", `{}`, nil, 403, "unknown_tool"},
		{"no such server", "nobody.note", `{}`, nil, 403, "unknown_tool"},
		{"a server that is down", "down.note", `{}`, nil, 503, "tool_not_run"},
		{"a schema violation", "up.note", `{"text":5}`, nil, 422, "invalid_arguments"},
		{"a spoofed identity", "up.note", `{"text":"a","owner":"bob"}`, nil, 403, "identity_spoof"},
		{"an approval that nobody gave", "up.pay", `{"text":"a"}`, []string{"approval", `"none"`}, 403, "approval_unknown"},
	} {
		got := w.ask("maria", http.MethodPost, "/v1/call", bodyOf(tt.tool, tt.arguments, tt.extra...))
		if got.status != tt.status || got.at("/code") != tt.code || got.header.Get("Content-Type") != "application/problem+json" ||
			!strings.HasSuffix(got.at("/type"), "#"+tt.code) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, got.status, got.text, tt.status, tt.code)
		}
	}
	if denied := w.call("maria", "up.secret", `{"text":"a"}`); denied.at("/outcome/publicReason") != "Not on Mondays." || denied.at("/outcome/class") != "tool_forbidden" {
		t.Error(denied.text)
	}
	if len(w.seen()) > 0 {
		t.Errorf("these ran: %v", w.seen())
	}
}

func TestListsHavePagesAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"a", "b", "c"} {
		w.call("maria", "up.note", `{"text":"`+text+`"}`)
	}
	w.call("maria", "up.pay", `{"text":"d"}`)
	var found int
	next := ""
	for range 4 {
		got := w.ask("maria", http.MethodGet, "/v1/actions?limit=3"+next, "")
		page, _ := got.body.Get("actions")
		found += page.Len()
		if _, more := got.body.Get("next"); !more {
			break
		}
		next = "&before=" + got.at("/next")
	}
	if found != 4 {
		t.Errorf("%d actions on all pages, want 4", found)
	}
	if got := w.ask("maria", http.MethodGet, "/v1/actions?tool=up.pay&state=pending_approval", ""); !strings.Contains(got.text, `"up.pay"`) || strings.Contains(got.text, "up.note") {
		t.Error(got.text)
	}
	if got := w.ask("maria", http.MethodGet, "/v1/actions", ""); strings.Contains(got.text, "output") {
		t.Errorf("a list tells what tools answered: %s", got.text)
	}
}

func TestWaitingEndsWithTheGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	w.hub.Close(context.Background())
	if got := w.ask("maria", http.MethodGet, "/v1/actions/"+id+"?wait=60", ""); got.status != 200 || got.at("/state") != "pending_approval" {
		t.Errorf("%d %s", got.status, got.text)
	}
	if got := w.call("maria", "up.note", `{"text":"a"}`); got.status != 503 || got.at("/code") != "tool_not_run" {
		t.Errorf("a call of a gateway that ends: %d %s", got.status, got.text)
	}
}

func TestAnIncompleteAPIIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, cfg := range []api.Config{{}, {Calls: w.hub}, {Actions: w.Gate}, {Calls: w.hub, Actions: w.Gate, Pause: -1},
		{Calls: w.hub, Actions: w.Gate, Stream: api.MaxStream + 1}, {Calls: w.hub, Actions: w.Gate, Stream: -1}} {
		if _, err := api.New(cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}
