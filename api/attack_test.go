package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/api"
)

func TestWhatCannotBeReadInOneWayIsRefusedAndRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := bodyOf("up.note", `{"text":"`+canary+`"}`)
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		rule                     string // of the first violation
	}{
		{"an empty body", "POST", "/v1/call", "", nil, 400, "empty"},
		{"no JSON", "POST", "/v1/call", canary, nil, 400, "syntax"},
		{"an array", "POST", "/v1/call", "[" + good + "]", nil, 400, "type"},
		{"null", "POST", "/v1/call", "null", nil, 400, "type"},
		{"two objects", "POST", "/v1/call", good + good, nil, 400, "trailing_data"},
		{"a cut body", "POST", "/v1/call", good[:len(good)-1], nil, 400, "truncated"},
		{"a byte order mark", "POST", "/v1/call", "\ufeff" + good, nil, 400, "bom"},
		{"bad UTF-8", "POST", "/v1/call", bodyOf("up.note\xff", `{}`)[:20] + "\xff\"}", nil, 400, "invalid_utf8"},
		{"a member twice", "POST", "/v1/call", strings.Replace(good, "{", `{"toolName":"up.read",`, 1), nil, 400, "duplicate_name"},
		{"a member twice, escaped", "POST", "/v1/call", strings.Replace(good, "{", `{"tool\u004eame":"up.read",`, 1), nil, 400, "duplicate_name"},
		{"case twins", "POST", "/v1/call", strings.Replace(good, "{", `{"TOOLNAME":"up.read",`, 1), nil, 400, "case_twin"},
		{"an unknown member", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, canary, "1"), nil, 400, "unknown_member"},
		{"an agent name", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "agentName", `"Root"`), nil, 400, "unknown_member"},
		{"a principal", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "principal", `"bob"`), nil, 400, "unknown_member"},
		{"a tenant", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "tenant", `"other"`), nil, 400, "unknown_member"},
		{"an approval for explain", "POST", "/v1/explain", bodyOf("up.note", `{"text":"a"}`, "approval", `"x"`), nil, 400, "unknown_member"},
		{"no arguments", "POST", "/v1/call", `{"toolName":"up.note"}`, nil, 400, "required"},
		{"no tool", "POST", "/v1/call", `{"arguments":"{}"}`, nil, 400, "required"},
		{"arguments as an object", "POST", "/v1/call", `{"toolName":"up.note","arguments":{"text":"` + canary + `"}}`, nil, 400, "type"},
		{"a tool that is a number", "POST", "/v1/call", `{"toolName":5,"arguments":"{}"}`, nil, 400, "type"},
		{"a NUL in the tool", "POST", "/v1/call", `{"toolName":"up.note\u0000","arguments":"{}"}`, nil, 400, "text"},
		{"a tool that is too long", "POST", "/v1/call", bodyOf("up."+strings.Repeat("n", 300), `{}`), nil, 400, "text"},
		{"an empty approval", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "approval", `""`), nil, 400, "text"},
		{"a wait that is too long", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "waitSeconds", "61"), nil, 400, "range"},
		{"a wait in a string", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "waitSeconds", `"5"`), nil, 400, "range"},
		{"a negative wait", "POST", "/v1/call", bodyOf("up.note", `{"text":"a"}`, "waitSeconds", "-1"), nil, 400, "range"},
		{"deep nesting", "POST", "/v1/call", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), nil, 400, "depth"},
		{"too large", "POST", "/v1/call", bodyOf("up.note", strings.Repeat("x", api.MaxBody)), nil, 413, ""},
		{"no content type", "POST", "/v1/call", good, []string{"Content-Type", ""}, 415, ""},
		{"a form", "POST", "/v1/call", good, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, ""},
		{"plain text", "POST", "/v1/explain", good, []string{"Content-Type", "text/plain"}, 415, ""},
		{"a coded body", "POST", "/v1/call", good, []string{"Content-Encoding", "gzip"}, 415, ""},
		{"two keys", "POST", "/v1/call", good, []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, 400, ""},
		{"a key with a space", "POST", "/v1/call", good, []string{"Idempotency-Key", "a " + canary}, 400, ""},
		{"an empty key", "POST", "/v1/call", good, []string{"Idempotency-Key", ""}, 400, ""},
		{"a query for a call", "POST", "/v1/call?dry=1", good, nil, 400, "unknown_parameter"},
		{"an unknown parameter", "GET", "/v1/actions?tenant=other", "", nil, 400, "unknown_parameter"},
		{"a parameter twice", "GET", "/v1/actions?limit=1&limit=2", "", nil, 400, "text"},
		{"a broken query", "GET", "/v1/actions?limit=%zz", "", nil, 400, "query"},
		{"a limit of 0", "GET", "/v1/actions?limit=0", "", nil, 400, "range"},
		{"a limit too high", "GET", "/v1/actions?limit=101", "", nil, 400, "range"},
		{"a limit spelled oddly", "GET", "/v1/actions?limit=%2B5", "", nil, 400, "range"},
		{"no such state", "GET", "/v1/actions?state=lost", "", nil, 400, "enum"},
		{"a page after nothing", "GET", "/v1/actions?before=none", "", nil, 400, "unknown"},
		{"a wait too long for an action", "GET", "/v1/actions/none?wait=61", "", nil, 400, "range"},
		{"no such action", "GET", "/v1/actions/none", "", nil, 404, ""},
		{"a NUL in an id", "GET", "/v1/actions/a%00b", "", nil, 404, ""},
		{"an id with a slash", "GET", "/v1/actions/a%2Fb", "", nil, 404, ""},
		{"an id that is no Unicode", "GET", "/v1/actions/%ff", "", nil, 404, ""},
		{"no id", "GET", "/v1/actions/", "", nil, 404, ""},
		{"no route", "POST", "/v1/execute", good, nil, 404, ""},
		{"a path with dots", "GET", "/v1/x/../actions", "", nil, 404, ""},
		{"a call by GET", "GET", "/v1/call", "", nil, 405, ""},
		{"a deleted action", "DELETE", "/v1/actions/none", "", nil, 405, ""},
		{"a forged host", "POST", "/v1/call", good, []string{"Host", "evil.test"}, 403, ""},
		{"a page of somebody else", "POST", "/v1/call", good, []string{"Origin", "https://evil.test"}, 403, ""},
		{"two tokens", "POST", "/v1/call", good, []string{"Authorization", "Bearer x"}, 401, ""},
	} {
		got := w.ask("maria", tt.method, tt.path, tt.body, tt.headers...)
		if got.status != tt.status || tt.rule != "" && got.at("/violations/0/rule") != tt.rule {
			t.Errorf("%s: %d %.300s, want %d %s", tt.name, got.status, got.text, tt.status, tt.rule)
		}
		if got.header.Get("Content-Type") != "application/problem+json" || got.at("/title") == "" || got.at("/status") != strconv.Itoa(tt.status) {
			t.Errorf("%s: no problem document: %s", tt.name, got.text)
		}
	}
	if len(w.seen()) > 0 || w.ask("maria", http.MethodGet, "/v1/actions", "").at("/actions") != "[]" {
		t.Errorf("something came of it: %v", w.seen())
	}
}

func TestEveryRouteNeedsAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range api.Routes() {
		for _, who := range []string{"", "nobody"} {
			got := w.ask(who, r.Method, strings.ReplaceAll(r.Path, "{id}", "x"), `{}`)
			if got.status != 401 || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s %s as %q: %d %s", r.Method, r.Path, who, got.status, got.text)
			}
		}
	}
}

func TestActionsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
	for _, who := range []string{"bob", "foreign", "narrow"} {
		if got := w.ask(who, http.MethodGet, "/v1/actions/"+id+"?wait=1", ""); got.status != 404 || strings.Contains(got.text, id) {
			t.Errorf("%s sees it: %d %s", who, got.status, got.text)
		}
		if got := w.ask(who, http.MethodGet, "/v1/actions", ""); got.at("/actions") != "[]" {
			t.Errorf("%s lists it: %s", who, got.text)
		}
		if who != "narrow" {
			if got := w.ask(who, http.MethodGet, "/v1/actions?before="+id, ""); got.status != 400 {
				t.Errorf("%s pages from it: %d %s", who, got.status, got.text)
			}
		}
	}
	w.Approve(id, "ada")
	for _, who := range []string{"bob", "foreign"} {
		got := w.ask(who, http.MethodPost, "/v1/call", bodyOf("up.pay", `{"text":"a"}`, "approval", quote(id)))
		if got.status == 200 {
			t.Errorf("%s used the approval: %s", who, got.text)
		}
	}
	if got := w.call("narrow", "up.note", `{"text":"a"}`); got.at("/code") != "unknown_tool" {
		t.Errorf("a tool that does not exist for the token: %s", got.text)
	}
	if len(w.seen()) > 0 {
		t.Errorf("these ran: %v", w.seen())
	}
}
