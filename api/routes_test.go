package api_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/canon"
)

func apiRoutes() []string {
	var out []string
	for _, r := range api.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

// fire sends a request of a person as ask does, and takes streams and answers
// without a body, too. status 0 says that no HTTP server would take the request.
func (w *world) fire(who, method, path, body string, headers ...string) reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), w.long)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://gate.test", strings.NewReader(body))
	if err != nil {
		return reply{}
	}
	if r.URL, err = url.ParseRequestURI(path); err != nil {
		return reply{}
	}
	r.RequestURI = path
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who+"-"+canary)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header[http.CanonicalHeaderKey(headers[i])] = []string{headers[i+1]}
	}
	rec := httptest.NewRecorder()
	w.http.ServeHTTP(rec, r)
	out := reply{status: rec.Code, header: rec.Header(), text: rec.Body.String(), gone: ctx.Err() != nil}
	kind := rec.Header().Get("Content-Type")
	switch {
	case strings.Contains(out.text+fmt.Sprint(rec.Header()), canary):
		w.t.Errorf("%s %s: the answer tells a secret: %.500s", method, path, out.text)
	case kind == "text/event-stream" || rec.Code == http.StatusNoContent:
	default:
		if out.body, err = canon.Decode([]byte(out.text), canon.Options{MaxBytes: canon.CeilingBytes}); err != nil {
			w.t.Errorf("%s %s: %d, and no strict JSON: %v\n%.300s", method, path, rec.Code, err, out.text)
		}
	}
	return out
}

// attacker makes requests for every route.
type attacker struct {
	*rand.Rand
	routes []api.Route
	ids    []string
}

func pick[T any](a *attacker, list ...T) T { return list[a.IntN(len(list))] }

// junk is a text of no use.
func (a *attacker) junk() string {
	switch a.IntN(9) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("x", 1+a.IntN(600))
	case 2:
		return pick(a, "..", ".", "%2e%2e", "a%2Fb", "%00", "%ff", "a%0d%0ab", "nul\x00l", "é", "\u202e", "%", "+", "act_aaaaaaaaaaaaaaaaaaaaaaaaaa", "-1", "0", "1e9", "9223372036854775808")
	case 3:
		b := make([]byte, a.IntN(40))
		for i := range b {
			b[i] = byte(a.IntN(256))
		}
		return string(b)
	case 4:
		return pick(a, "null", "true", "[]", "{}", `""`, "NaN", "-0", "1e400", `"\ud800"`, "[[[[[[[[[[[[[[[[[[", `{"a":{"a":{"a":{}}}}`)
	default:
		return pick(a, "approved", "pending_approval", "succeeded", "up.note", "up.pay", "up.read", "up.secret", "down.note", "nobody.note", "k", "5", "60", "maria", "ok")
	}
}

func (a *attacker) id() string {
	if len(a.ids) > 0 && a.IntN(3) > 0 {
		return pick(a, a.ids...)
	}
	return a.junk()
}

// body is a body for a route: right, or nearly.
func (a *attacker) body(path string) string {
	tool := pick(a, "up.note", "up.note", "up.read", "up.pay", "up.secret", "down.note", a.junk())
	arguments := pick(a, `{"text":"a"}`, `{"text":"b","n":2}`, `{"text":`+strconv.Itoa(a.IntN(99))+`}`, `{"text":"`+strconv.Itoa(a.IntN(999))+`"}`, a.junk())
	var out string
	switch {
	case strings.HasSuffix(path, "/dismiss"):
		out = "{}"
	case strings.HasSuffix(path, "/outcome"):
		out = `{"warrant":` + quote(a.junk()) + `,"ended":` + quote(pick(a, "succeeded", "failed", "uncertain", a.junk())) + `,"verdict":"ok"}`
	default:
		extra := []string{}
		for _, name := range []string{"approval", "supersedes", "model", "callId", "agentName", "waitSeconds"} {
			if a.IntN(12) == 0 {
				extra = append(extra, name, pick(a, quote(a.id()), "1", "null"))
			}
		}
		out = bodyOf(tool, arguments, extra...)
	}
	for range pick(a, 0, 0, 0, 1, 1, 3) {
		out = a.spoil(out)
	}
	return out
}

// spoil changes a text in one place.
func (a *attacker) spoil(text string) string {
	at := a.IntN(len(text) + 1)
	switch a.IntN(6) {
	case 0:
		return text[:at]
	case 1:
		return text[:at] + a.junk() + text[at:]
	case 2:
		return text + text
	case 3:
		return strings.Replace(text, "{", `{"toolName":"up.read",`, 1)
	case 4:
		return a.junk()
	default:
		b := []byte(text)
		if at < len(b) {
			b[at] ^= 1 << a.IntN(8)
		}
		return string(b)
	}
}

// shot is one request.
type shot struct {
	route, who, method, path, body string
	headers                        []string
}

func (a *attacker) shot() shot {
	r := pick(a, a.routes...)
	s := shot{route: r.Method + " " + r.Path, method: r.Method, path: strings.Replace(r.Path, "{id}", a.id(), 1),
		who: pick(a, "maria", "maria", "maria", "maria", "narrow", "bob", "foreign", "nobody", "")}
	if r.Method == http.MethodPost {
		s.body = a.body(r.Path)
	}
	known := append(api.Queries(r), "wait", "tenant", a.junk())
	for i := range pick(a, 0, 0, 1, 2) {
		s.path += pick(a, "?", "&")[:1] + pick(a, known...) + "=" + pick(a, a.junk(), strconv.Itoa(a.IntN(120)), url.QueryEscape(a.id()))
		if i == 0 {
			s.path = strings.Replace(s.path, "&", "?", 1)
		}
	}
	for _, name := range []string{"Idempotency-Key", "Last-Event-ID", "Content-Type", "Content-Encoding", "Origin", "X-HTTP-Method-Override"} {
		if a.IntN(10) == 0 {
			s.headers = append(s.headers, name, pick(a, a.junk(), strconv.Itoa(a.IntN(99)), "application/json"))
		}
	}
	if a.IntN(30) == 0 {
		s.method = pick(a, "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW")
	}
	return s
}

// hang is how long a request may take whose client waits for a tenth of a
// second.
const hang = 30 * time.Second

// clientLeft stands for an answer to a client that did not wait for it.
const clientLeft = 499

// siege fires requests until none are left, and counts them.
type siege struct {
	w     *world
	mu    sync.Mutex
	left  int
	count map[string]map[int]int // route: status: requests
	ids   []string
}

// next takes a place; the ids are those that answers named so far.
func (s *siege) next() ([]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left--
	return s.ids, s.left >= 0
}

func (s *siege) note(x shot, got reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if got.status == 0 { // it never became a request
		s.left++
		return
	}
	if s.count[x.route] == nil {
		s.count[x.route] = map[int]int{}
	}
	status := got.status
	if got.gone && status >= 500 { // a client that had left is told nothing
		status = clientLeft
	}
	s.count[x.route][status]++
	if id := got.at("/outcome/data/actionId"); id != "" && x.who == "maria" && len(s.ids) < 500 {
		s.ids = append(s.ids, id)
	}
}

func (s *siege) attack(t *testing.T, a *attacker) {
	w := s.w.with(t)
	for {
		ids, more := s.next()
		if !more || t.Failed() {
			return
		}
		a.ids = ids
		if a.IntN(1000) == 0 {
			w.signLog()
		}
		x := a.shot()
		began := time.Now()
		got := w.fire(x.who, x.method, x.path, x.body, x.headers...)
		if took := time.Since(began); took > hang {
			t.Errorf("%s %q took %s", x.method, x.path, took)
		}
		if got.status >= 500 && !got.gone && got.at("/code") != "tool_not_run" { // one server is down
			t.Errorf("%s %q %q: %d %s", x.method, x.path, x.body, got.status, got.text)
		}
		s.note(x, got)
	}
}

// No request that anybody can write is answered with an error of ours, hangs,
// or is told a secret. VERBATIM_API_REQUESTS is how many are tried, and
// VERBATIM_API_SEED begins elsewhere.
func TestNoRequestBreaksARoute(t *testing.T) {
	t.Parallel()
	total, seed := number(t, "VERBATIM_API_REQUESTS", 3000), number(t, "VERBATIM_API_SEED", 1)
	s := &siege{w: newWorld(t), left: total, count: map[string]map[int]int{}}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			s.attack(t, &attacker{Rand: rand.New(rand.NewPCG(uint64(seed), uint64(i))), routes: api.Routes()})
		})
	}
	all.Wait()
	fired := 0
	for _, route := range apiRoutes() {
		n := 0
		var text string
		for _, status := range slices.Sorted(maps.Keys(s.count[route])) {
			n += s.count[route][status]
			text += fmt.Sprintf(" %d:%d", status, s.count[route][status])
		}
		fired += n
		t.Logf("%-36s %7d requests, by status%s", route, n, text)
		if n == 0 {
			t.Errorf("%s had no request", route)
		}
	}
	t.Logf("%d requests, %d runs of tools", fired, len(s.w.seen()))
	for _, run := range s.w.seen() {
		if strings.HasPrefix(run, "pay") || strings.HasPrefix(run, "secret") {
			t.Errorf("nobody allowed %s", run)
		}
	}
}

func number(t *testing.T, name string, preset int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return preset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number of at least 1", name)
	}
	return n
}
