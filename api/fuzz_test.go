package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/api"
)

// blames fails where an answer says that the fault is the gateway's own. One
// server is down, and a client that has left is told nothing.
func blames(t *testing.T, path string, got reply) {
	t.Helper()
	if got.status >= 500 && got.at("/code") != "tool_not_run" && !got.gone {
		t.Errorf("%s: %d %s", path, got.status, got.text)
	}
}

func FuzzBodies(f *testing.F) {
	for _, seed := range []string{"", "{}", "[", bodyOf("up.note", `{"text":"a"}`), bodyOf("up.pay", `{"text":"a"}`, "waitSeconds", "0"),
		bodyOf("up.none", "{", "approval", `"x"`, "supersedes", `"y"`), `{"toolName":"up.read","arguments":"{\"text\":\"\\u0000\"}"}`} {
		for route := range uint8(3) {
			f.Add(route, seed, "k")
		}
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, route uint8, body, key string) {
		path := []string{"/v1/explain", "/v1/call", "/v1/authorize"}[route%3]
		blames(t, path, w.with(t).ask("maria", http.MethodPost, path, body, "Idempotency-Key", key))
	})
}

// FuzzReports sends bodies to what is done to one action: to one that its
// caller runs, and to one that waits.
func FuzzReports(f *testing.F) {
	w := newWorld(f)
	given := w.ask("maria", http.MethodPost, "/v1/authorize", bodyOf("up.note", `{"text":"a"}`))
	warrant := given.at("/warrant")
	for _, seed := range []string{"", "{}", "[]", `{"warrant":"` + warrant + `","ended":"succeeded","verdict":"replayed"}`,
		`{"warrant":"` + warrant + `","ended":"refused","verdict":"ok"}`, `{"warrant":"` + warrant + `x","ended":"uncertain"}`,
		`{"warrant":"","ended":"failed","verdict":"ok","output":"{\"a\":1}"}`} {
		for route := range uint8(6) {
			f.Add(route, seed)
		}
	}
	ids := []string{given.at("/outcome/data/actionId"), w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId"), "act_none"}
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		path := "/v1/actions/" + ids[route%3] + []string{"/outcome", "/dismiss"}[route/3%2]
		blames(t, path, w.with(t).ask("maria", http.MethodPost, path, body))
	})
}

// FuzzQueries asks every route that only reads, with any id, query and place
// in a stream.
func FuzzQueries(f *testing.F) {
	w := newWorld(f)
	id := w.call("maria", "up.note", `{"text":"a"}`).at("/outcome/data/actionId")
	w.signLog()
	var reads []string
	for _, r := range api.Routes() {
		if r.Method == http.MethodGet {
			reads = append(reads, r.Path)
		}
	}
	for _, seed := range [][3]string{{id, "", ""}, {id, "wait=0&state=approved", "1"}, {"act_none", "limit=1&before=" + id, "-1"}, {"..", "limit=%zz", "x"},
		{"a%2Fb", "tool=up.note&state=succeeded", ""}, {"%00", "a=b&a=b;c", "9223372036854775808"}, {"", "?", "\x00"}} {
		for route := range reads {
			f.Add(uint8(route), seed[0], seed[1], seed[2])
		}
	}
	f.Fuzz(func(t *testing.T, route uint8, some, query, last string) {
		path := reads[int(route)%len(reads)]
		if v, err := url.ParseQuery(query); err == nil && v.Has("wait") {
			query = strings.ReplaceAll(query, "wait", "w") // holding an answer is what it is for
		}
		for _, one := range []string{some, id} {
			blames(t, path, w.with(t).fire("maria", http.MethodGet, strings.Replace(path, "{id}", one, 1)+"?"+query, "", "Last-Event-ID", last))
		}
	})
}
