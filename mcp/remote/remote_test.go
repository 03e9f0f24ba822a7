package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const (
	secret = "Bearer canary-7f3a"
	place  = "canary-place"
)

// newLine returns a line to a handler, below an address that must not show.
func newLine(t *testing.T, h http.HandlerFunc) *remote.Line {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	l, err := remote.New(remote.Config{URL: s.URL + "/" + place, Limits: wire.Limits{MaxFrame: 10_000},
		Credential: func(context.Context) (string, string, error) { return "Authorization", secret, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func call(t *testing.T) *wire.Message {
	t.Helper()
	m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// idOf reads the id of a request that arrived.
func idOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	m, err := wire.Parse(body, wire.Limits{})
	if err != nil {
		return "0"
	}
	return string(m.ID().Raw())
}

func answer(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func TestOnlyAnAnswerToTheRequestCounts(t *testing.T) {
	t.Parallel()
	const json, stream = "application/json", "text/event-stream"
	ok := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"n":9007199254740993}}` }
	for _, tc := range []struct {
		name string
		say  func(w http.ResponseWriter, id string)
		want error // nil: an answer
	}{
		{"a document", func(w http.ResponseWriter, id string) { answer(w, 200, json, ok(id)) }, nil},
		{"a document with a charset", func(w http.ResponseWriter, id string) { answer(w, 200, json+"; charset=utf-8", ok(id)) }, nil},
		{"a stream", func(w http.ResponseWriter, id string) { answer(w, 200, stream, "data: "+ok(id)+"\n\n") }, nil},
		{"an error of the server", func(w http.ResponseWriter, id string) {
			answer(w, 400, json, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32602,"message":"x"}}`)
		}, nil},
		{"an error without an id", func(w http.ResponseWriter, _ string) {
			answer(w, 400, json, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"x"}}`)
		}, nil},
		{"the answer to another request", func(w http.ResponseWriter, _ string) { answer(w, 200, json, ok("77")) }, execute.ErrLost},
		{"a request", func(w http.ResponseWriter, id string) {
			answer(w, 200, json, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
		}, execute.ErrLost},
		{"nothing", func(w http.ResponseWriter, _ string) { answer(w, 200, json, "") }, execute.ErrLost},
		{"another kind", func(w http.ResponseWriter, id string) { answer(w, 200, "text/html", ok(id)) }, execute.ErrLost},
		{"no kind", func(w http.ResponseWriter, id string) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, ok(id))
		}, execute.ErrLost},
		{"a name twice", func(w http.ResponseWriter, id string) {
			answer(w, 200, json, `{"jsonrpc":"2.0","id":`+id+`,"id":1,"result":{}}`)
		}, execute.ErrLost},
		{"too much", func(w http.ResponseWriter, id string) {
			answer(w, 200, json, `{"jsonrpc":"2.0","id":`+id+`,"result":{"x":"`+strings.Repeat("a", 20_000)+`"}}`)
		}, execute.ErrLost},
		{"less than it says", func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Length", "500")
			answer(w, 200, json, ok(id))
		}, execute.ErrLost},
		{"a stream that ends", func(w http.ResponseWriter, _ string) { answer(w, 200, stream, ": hello\n\n") }, execute.ErrLost},
		{"accepted", func(w http.ResponseWriter, _ string) { answer(w, 202, "text/plain", "") }, execute.ErrLost},
		{"unauthorized", func(w http.ResponseWriter, _ string) { answer(w, 401, "text/plain", "") }, execute.ErrNotRun},
		{"forbidden", func(w http.ResponseWriter, _ string) { answer(w, 403, "text/plain", "") }, execute.ErrNotRun},
		{"too many requests", func(w http.ResponseWriter, _ string) { answer(w, 429, "text/plain", "") }, execute.ErrNotRun},
		{"a failure", func(w http.ResponseWriter, _ string) { answer(w, 500, "text/plain", "") }, execute.ErrLost},
		{"a bad gateway", func(w http.ResponseWriter, _ string) { answer(w, 502, "text/html", "") }, execute.ErrLost},
		{"a gateway's time over", func(w http.ResponseWriter, _ string) { answer(w, 504, "text/html", "") }, execute.ErrLost},
		{"a connection cut off", func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) }, execute.ErrLost},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			l := newLine(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				tc.say(w, idOf(r))
			})
			a, err := l.Ask(t.Context(), call(t), gate.Trip{})
			if !errors.Is(err, tc.want) || (err == nil) != (a != nil) {
				t.Fatalf("%v, want %v", err, tc.want)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "127.0.0.1")) {
				t.Errorf("the error tells %v", err)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if a != nil && a.Kind() == wire.KindResult && string(a.Result()) != `{"n":9007199254740993}` {
				t.Errorf("%s", a.Result())
			}
		})
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	// The first three may follow an effect (RFC 9110 §15.4).
	for status, want := range map[int]error{301: execute.ErrLost, 302: execute.ErrLost, 303: execute.ErrLost, 307: execute.ErrNotRun, 308: execute.ErrNotRun} {
		elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%d was followed, with %q", status, r.Header.Get("Authorization"))
		}))
		t.Cleanup(elsewhere.Close)
		l := newLine(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		if _, err := l.Ask(t.Context(), call(t), gate.Trip{}); !errors.Is(err, want) || errors.Is(err, execute.ErrNotRun) == errors.Is(err, execute.ErrLost) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestHeadersSayWhatTheBodySays(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	l := newLine(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":`+idOf(r)+`,"result":{}}`)
	})
	if _, err := l.Ask(t.Context(), call(t), gate.Trip{}); err != nil {
		t.Fatal(err)
	}
	h := <-got
	for name, want := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": secret,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "pay", "Mcp-Session-Id": "", "Cookie": ""} {
		if strings.Join(h.Values(name), "|") != want {
			t.Errorf("%s: %q, want %q", name, h.Values(name), want)
		}
	}
}

func TestServerThatCannotBeReachedHasNothing(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	l, err := remote.New(remote.Config{URL: "http://" + free.Addr().String() + "/" + place})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Ask(t.Context(), call(t), gate.Trip{}); !errors.Is(err, execute.ErrNotRun) || strings.Contains(err.Error(), place) {
		t.Errorf("%v", err)
	}
	broken, err := remote.New(remote.Config{URL: "http://127.0.0.1:1/", Credential: func(context.Context) (string, string, error) {
		return "", "", errors.New("the file is missing")
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	if _, err := broken.Ask(t.Context(), call(t), gate.Trip{}); !errors.Is(err, execute.ErrNotRun) {
		t.Errorf("without a credential: %v", err)
	}
}

// TestRequestEndsWithItsContext: a line over HTTP promises that.
func TestRequestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	l := newLine(t, func(_ http.ResponseWriter, r *http.Request) {
		idOf(r)
		close(arrived)
		<-release
	})
	t.Cleanup(func() { close(release) })
	if !l.Prompt(1 << 30) {
		t.Error("it does not promise it")
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		_, err := l.Ask(ctx, call(t), gate.Trip{Left: func() { close(left) }})
		ended <- err
	}()
	<-arrived
	<-left // beside the request
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, execute.ErrNotRun) {
		t.Errorf("%v", err)
	}
}

// TestBrokenStreamIsTakenUpAgain: a legacy server may end a stream and go on
// with the rest of an answer; the request is not sent again.
func TestBrokenStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	posts, id := atomic.Int32{}, make(chan string, 1)
	l := newLine(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "e1":
			answer(w, 200, "text/event-stream", fmt.Sprintf("id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"n\":1}}\n\n", <-id))
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case posts.Add(1) == 1:
			w.Header().Set("Mcp-Session-Id", "s1")
			answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":`+idOf(r)+`,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		default:
			if r.Header.Get("Mcp-Session-Id") != "s1" || r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
				t.Errorf("headers %v", r.Header)
			}
			id <- idOf(r)
			answer(w, 200, "text/event-stream", "id: e1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n")
		}
	})
	greet, err := wire.NewRequest(wire.NumberID(1), "initialize", []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`))
	if err == nil {
		_, err = l.Ask(t.Context(), greet, gate.Trip{})
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.NewRequest(wire.NumberID(1), "tools/call", []byte(`{"name":"x","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	heard := make(chan string, 10)
	a, err := l.Ask(ctx, m, gate.Trip{Beside: func(m *wire.Message) { heard <- m.Method() }})
	if err != nil || string(a.Result()) != `{"n":1}` {
		t.Fatalf("%v", err)
	}
	if got := <-heard; got != "notifications/message" || posts.Load() != 2 {
		t.Errorf("%s beside, %d posts", got, posts.Load())
	}
}

func TestAddressesOfServers(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://crm.example.com/mcp": true, "http://127.0.0.1:80/mcp": true, "http://localhost/mcp": true, "http://[::1]:9/": true,
		"http://crm.example.com/mcp": false, "http://10.0.0.1/": false, "http://localhost.example.com/": false, "http://127.0.0.1.example.com/": false,
		"https://user:pw@crm.example.com/": false, "https://crm.example.com/#x": false, "ftp://crm.example.com/": false, "//crm.example.com/": false,
		"https:crm.example.com": false, "": false, "://": false,
	} {
		if err := remote.CheckURL(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		} else if err != nil && strings.Contains(err.Error(), "crm") {
			t.Errorf("the error tells the address: %v", err)
		}
	}
}
