package main

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recorder keeps what is posted to it, by path.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	got  map[string][]byte
	head http.Header
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{got: map[string][]byte{}, head: http.Header{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got[q.URL.Path] = append(r.got[q.URL.Path], body...)
		for name, values := range q.Header {
			r.head[name] = append(r.head[name], values...)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) holds(path string, what ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range what {
		if !bytes.Contains(r.got[path], []byte(w)) {
			return false
		}
	}
	return true
}

// withHeader sends one more header.
type withHeader struct {
	name, value string
	then        http.RoundTripper
}

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return h.then.RoundTrip(r)
}

func TestDaemonSendsSpansMetricsAndEventsToACollector(t *testing.T) {
	t.Parallel()
	const inMeta, inHeader = "0af7651916cd43dd8448eb211c80319c", "11f7651916cd43dd8448eb211c80319c"
	bin := func(text string) string {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	r := newRecorder(t)
	p := newPlace(t, "100ms")
	s := p.serve("  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\nmetrics: {listen: \"127.0.0.1:0\"}\ntelemetry: {otlp: {url: \"" + r.URL +
		"\", networks: [\"127.0.0.0/8\"], interval: 1s}}\nsinks: {collector: {otlp: true}}\n")
	meta := mcp.Meta{"traceparent": "00-" + inMeta + "-b7ad6b7169203331-01"}
	params := &mcp.CallToolParams{Name: "add", Arguments: map[string]any{"text": "canary-77"}, Meta: meta}
	if _, err := s.client("2025-11-25").CallTool(p.context(), params); err != nil {
		t.Fatal(err)
	}
	traced, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(p.context(), &mcp.StreamableClientTransport{Endpoint: s.url,
		HTTPClient: &http.Client{Transport: withHeader{"Traceparent", "00-" + inHeader + "-b7ad6b7169203331-01", withToken{endpointToken}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = traced.Close() })
	if _, err := traced.CallTool(p.context(), &mcp.CallToolParams{Name: "add", Arguments: map[string]any{"text": "canary-78"}}); err != nil {
		t.Fatal(err)
	}
	p.until("spans of both calls", func() bool {
		return r.holds("/v1/traces", "tools/call notes.add", "gen_ai.tool.name", "mcp.protocol.version", "2025-11-25", "require_approval", bin(inMeta), bin(inHeader))
	})
	p.until("metrics", func() bool { return r.holds("/v1/metrics", "mcp.server.operation.duration", "verbatim.calls") })
	p.until("events", func() bool { return r.holds("/v1/logs", "verbatim.approval.required") })
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, body := range r.got {
		if strings.Contains(string(body), "canary") {
			t.Errorf("a value left to %s", path)
		}
	}
}
