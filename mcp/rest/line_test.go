package rest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/catalog/openapi"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/rest"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const canary = "canary-4711"

const document = `openapi: 3.1.0
paths:
  /notes/{id}:
    put:
      operationId: put_note
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: Idempotency-Key, in: header, schema: {type: string}}
      requestBody: {required: true, content: {application/json: {schema: {type: object}}}}
    get:
      operationId: get_note
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
`

// service is an HTTP service that notes what it gets.
type service struct {
	*httptest.Server
	answer http.HandlerFunc

	mu  sync.Mutex
	got []string
}

func newService(t *testing.T, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got = append(s.got, r.Method+" "+r.RequestURI+" "+string(body))
		s.mu.Unlock()
		s.answer(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *service) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.got...)
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func (s *service) line(t *testing.T, cfg rest.Config) *rest.Line {
	t.Helper()
	found, left, err := openapi.Read([]byte(document))
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	cfg.Operations, cfg.Networks = found, loopback()
	if cfg.Base == "" {
		cfg.Base = s.URL + "/v2"
	}
	l, err := rest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func message(t *testing.T, method, params string) *wire.Message {
	t.Helper()
	m, err := wire.NewRequest(wire.NumberID(1), method, []byte(params))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func put(t *testing.T, l *rest.Line, meta string) (*wire.Message, error) {
	t.Helper()
	return l.Run(t.Context(), message(t, "tools/call", `{"name":"put_note","arguments":{"id":"a b","X-Trace":"t","body":{"text":"`+canary+`"}}`+meta+`}`), gate.Trip{})
}

func TestARunIsOneRequestOfThePinnedForm(t *testing.T) {
	t.Parallel()
	var header http.Header
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{ "n":9007199254740993 }`))
	})
	l := s.line(t, rest.Config{Credential: func(context.Context) (string, string, error) { return "X-Trace", "secret", nil }})
	got, err := put(t, l, `,"_meta":{"`+wire.MetaIdempotencyKey+`":"key-1"}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"content":[{"type":"text","text":"{ \"n\":9007199254740993 }"}],"isError":false,"structuredContent":{"status":201,"body":{ "n":9007199254740993 }}}`
	if diff := cmp.Diff(want, string(got.Result())); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`PUT /v2/notes/a%20b {"text":"` + canary + `"}`}, s.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"Idempotency-Key": "key-1", "X-Trace": "secret", "Content-Type": "application/json", "User-Agent": "verbatim", "Cookie": ""} {
		if header.Get(name) != want || len(header.Values(name)) > 1 {
			t.Errorf("%s is %q, want %q", name, header.Values(name), want)
		}
	}
}

func TestStatusesSayWhatIsKnown(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{200: nil, 202: nil, 204: nil, 400: nil, 403: nil, 404: nil, 409: nil, 422: nil, 307: nil, 308: nil,
		401: execute.ErrNotRun, 405: execute.ErrNotRun, 412: execute.ErrNotRun, 413: execute.ErrNotRun, 415: execute.ErrNotRun, 429: execute.ErrNotRun,
		408: execute.ErrLost, 500: execute.ErrLost, 502: execute.ErrLost, 503: execute.ErrLost, 504: execute.ErrLost,
		301: execute.ErrLost, 302: execute.ErrLost, 303: execute.ErrLost, 304: execute.ErrLost, 599: execute.ErrLost} {
		s := newService(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere/"+canary)
			w.WriteHeader(status)
		})
		got, err := put(t, s.line(t, rest.Config{}), "")
		if !errors.Is(err, want) || want != nil && errors.Is(err, execute.ErrNotRun) == errors.Is(err, execute.ErrLost) {
			t.Errorf("%d: %v, want %v", status, err, want)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%d: %v tells a secret", status, err)
		}
		if err == nil && strings.Contains(string(got.Result()), `"isError":true`) != (status >= 300) {
			t.Errorf("%d: %s", status, got.Result())
		}
		if n := len(s.seen()); n != 1 {
			t.Errorf("%d: %d requests", status, n)
		}
	}
}

func TestBrokenLargeAndLateAnswersAreLost(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"no answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		},
		"an endless one": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		},
		"endless headers": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) },
	} {
		s := newService(t, answer)
		if got, err := put(t, s.line(t, rest.Config{}), ""); !errors.Is(err, execute.ErrLost) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	begun := make(chan struct{})
	s := newService(t, func(_ http.ResponseWriter, r *http.Request) { close(begun); <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := s.line(t, rest.Config{}).Run(ctx, message(t, "tools/call", `{"name":"get_note","arguments":{"id":"a"}}`), gate.Trip{})
	if !errors.Is(err, context.Canceled) || errors.Is(err, execute.ErrNotRun) {
		t.Errorf("called off: %v", err)
	}
}

// What never left is proof that nothing happened.
func TestWhatNeverLeftDidNotRun(t *testing.T) {
	t.Parallel()
	s := newService(t, func(http.ResponseWriter, *http.Request) {})
	l := s.line(t, rest.Config{})
	gone := s.line(t, rest.Config{Base: "http://127.0.0.1:1"})
	refusing := s.line(t, rest.Config{Credential: func(context.Context) (string, string, error) { return "", "", errors.New("no secret") }})
	private, err := rest.New(rest.Config{Base: "https://10.0.0.1:1", Operations: mustRead(t)})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		line   *rest.Line
		params string
	}{
		"a path of its own":             {l, `{"name":"get_note","arguments":{"id":"../admin"}}`},
		"a line of its own":             {l, `{"name":"put_note","arguments":{"id":"a","X-Trace":"a\r\nb","body":{}}}`},
		"a missing value":               {l, `{"name":"get_note","arguments":{}}`},
		"nobody there":                  {gone, `{"name":"get_note","arguments":{"id":"a"}}`},
		"no credential":                 {refusing, `{"name":"get_note","arguments":{"id":"a"}}`},
		"an address that is not public": {private, `{"name":"get_note","arguments":{"id":"a"}}`},
		"a key without a header":        {l, `{"name":"get_note","arguments":{"id":"a"},"_meta":{"` + wire.MetaIdempotencyKey + `":"k"}}`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if got, err := tt.line.Run(ctx, message(t, "tools/call", tt.params), gate.Trip{}); !errors.Is(err, execute.ErrNotRun) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		cancel()
	}
	if n := s.seen(); len(n) > 0 {
		t.Errorf("these left: %v", n)
	}
}

func mustRead(t *testing.T) []openapi.Operation {
	t.Helper()
	found, _, err := openapi.Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestConfigurationsThatWeakenSomethingAreRefused(t *testing.T) {
	t.Parallel()
	give := func(context.Context) (string, string, error) { return "Authorization", "x", nil }
	ten := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, cfg := range map[string]rest.Config{
		"no address": {}, "plain http": {Base: "http://example.test"}, "a query": {Base: "https://example.test?a"}, "a user": {Base: "https://u@example.test"},
		"dots": {Base: "https://example.test/a/../b"}, "a credential in the clear": {Base: "http://10.0.0.1", Networks: ten, Credential: give},
		"the whole internet": {Base: "https://example.test", Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
		"a key in Host":      {Base: "https://example.test", KeyHeader: "Host"}, "a key in two lines": {Base: "https://example.test", KeyHeader: "A\r\nB"},
		"no certificates": {Base: "https://example.test", Roots: []byte("x")},
	} {
		if _, err := rest.New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestListsHavePagesAndNothingElseIsServed(t *testing.T) {
	t.Parallel()
	s := newService(t, func(http.ResponseWriter, *http.Request) {})
	var many []openapi.Operation
	for _, o := range mustRead(t) {
		for i := range 300 {
			o.Name = "tool_" + o.Binding.Method + strings.Repeat("x", i%30) + string(rune('a'+i%26)) + string(rune('a'+i/26))
			o.Description = strings.Repeat("d", 4000)
			many = append(many, o)
		}
	}
	l, err := rest.New(rest.Config{Base: s.URL, Networks: loopback(), Operations: many})
	if err != nil {
		t.Fatal(err)
	}
	seen, cursor, pages := map[string]bool{}, "{}", 0
	for ; pages < 10; pages++ {
		got, err := l.Ask(t.Context(), message(t, "tools/list", cursor), gate.Trip{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := wire.ToolDefinitions(got.Result())
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			seen[tool.Name] = true
		}
		if list.NextCursor == "" {
			break
		}
		cursor = `{"cursor":"` + list.NextCursor + `"}`
	}
	if len(seen) != len(many) || pages < 2 {
		t.Errorf("%d of %d tools on %d pages", len(seen), len(many), pages+1)
	}
	for _, ask := range [][2]string{{"tools/list", `{"cursor":"99"}`}, {"tools/list", `{"cursor":"x"}`}, {"resources/list", `{}`}, {"tools/call", `{"name":"none","arguments":{}}`}} {
		if got, err := l.Ask(t.Context(), message(t, ask[0], ask[1]), gate.Trip{}); err != nil || got.Kind() != wire.KindError {
			t.Errorf("%v: %v, %v", ask, got, err)
		}
	}
	l.Close()
	select {
	case <-l.Gone():
	default:
		t.Error("a line that was closed is not gone")
	}
}
