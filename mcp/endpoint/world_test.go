package endpoint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// reads knows every tool as a read, but those that begin with write.
type reads struct{}

func (reads) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	spec := catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Read: true, Reason: "test"}
	if strings.HasPrefix(t.Name, "write") {
		spec.Read, spec.Impact = false, catalog.Ordinary
	}
	tool, err := catalog.Define(spec)
	if err != nil {
		return &catalog.Tool{Name: server + "." + t.Name, Mutation: true}, verbatim.CodeToolRefused
	}
	return tool, ""
}

const (
	goodToken  = "good-token-canary"
	otherToken = "other-token-canary"
)

// tokens is an authority with a table.
type tokens map[string]endpoint.Identity

func (t tokens) Identify(_ context.Context, token string) (endpoint.Identity, error) {
	if token == "broken" {
		return endpoint.Identity{}, errors.New("the table is on fire")
	}
	who, ok := t[token]
	if !ok {
		return endpoint.Identity{}, &endpoint.Refusal{Code: "invalid_token"}
	}
	return who, nil
}

// upstream is a server of the Go SDK over HTTP, and what it received.
type upstream struct {
	*httptest.Server
	sdk   *mcp.Server
	calls atomic.Int64

	mu   sync.Mutex
	seen []string // request bodies
	head []http.Header
}

func (u *upstream) saw(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen, u.head = append(u.seen, string(body)), append(u.head, r.Header.Clone())
}

// received returns the bodies that hold a text.
func (u *upstream) received(text string) (bodies []string, headers []http.Header) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, b := range u.seen {
		if strings.Contains(b, text) {
			bodies, headers = append(bodies, b), append(headers, u.head[i])
		}
	}
	return bodies, headers
}

const echoSchema = `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"},"n":{"type":"integer","default":3}},"required":["text"]}`

// newUpstream serves tools echo and write; stateless means the modern era.
func newUpstream(t *testing.T, stateless bool) *upstream {
	t.Helper()
	u := &upstream{sdk: mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, &mcp.ServerOptions{Instructions: "hello"})}
	u.sdk.AddTool(&mcp.Tool{Name: "echo", Description: "Echoes.", InputSchema: json.RawMessage(echoSchema)}, u.echo)
	u.sdk.AddTool(&mcp.Tool{Name: "write", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)}, u.echo)
	u.sdk.AddResource(&mcp.Resource{Name: "a", URI: "test://open/a"}, readResource)
	u.sdk.AddResource(&mcp.Resource{Name: "b", URI: "test://secret/b"}, readResource)
	u.sdk.AddPrompt(&mcp.Prompt{Name: "greet"}, getPrompt)
	u.sdk.AddPrompt(&mcp.Prompt{Name: "hidden"}, getPrompt)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return u.sdk }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.saw(r)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { u.CloseClientConnections(); u.Close() })
	return u
}

func (u *upstream) echo(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	u.calls.Add(1)
	if token := r.Params.GetProgressToken(); token != nil {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2})
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
}

func readResource(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "text of " + r.Params.URI}}}, nil
}

func getPrompt(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "prompt " + r.Params.Name}}}}, nil
}

// place is an endpoint before some servers.
type place struct {
	*verbatimtest.Fixture
	t    *testing.T
	hub  *hub.Hub
	http *httptest.Server

	endpoint *endpoint.Endpoint
	callers  tokens
}

type option func(*endpoint.Config)

func allowAll() policy.Engine {
	return policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})
}

func remoteServer(t *testing.T, name, url string) hub.Server {
	t.Helper()
	return hub.Server{Name: name, Asks: true, Resources: []hub.Pattern{pattern(t, "test://open/**")}, Prompts: []hub.Pattern{pattern(t, "greet")},
		Dial: func(context.Context) (hub.Transport, error) {
			return remote.New(remote.Config{URL: url, Credential: func(context.Context) (string, string, error) {
				return "Authorization", "Bearer upstream-credential", nil
			}})
		}}
}

func pattern(t *testing.T, text string) hub.Pattern {
	t.Helper()
	p, err := hub.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newPlace(t *testing.T, servers []hub.Server, with ...option) *place {
	t.Helper()
	p := &place{t: t, Fixture: verbatimtest.New(t, verbatimtest.Config{Policy: allowAll()})}
	log := slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var err error
	p.hub, err = hub.New(hub.Config{Gate: p.Gate, Binder: reads{}, Servers: servers, Version: "test", Wait: 5 * time.Second, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	caller := hub.Caller{Session: p.Session()}
	other := caller
	other.Session.Principal, other.Session.Owner = "bob", "bob"
	other.Tools = []hub.Pattern{pattern(t, "*.echo")}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.callers = tokens{goodToken: {Key: "good", Caller: caller}, otherToken: {Key: "other", Caller: other}}
	cfg := endpoint.Config{Hub: p.hub, Hosts: []string{listener.Addr().String()}, Log: log, Authority: p.callers}
	for _, o := range with {
		o(&cfg)
	}
	e, err := endpoint.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.endpoint = e
	p.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: e}}
	p.http.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		p.hub.Close(ctx)
		p.http.CloseClientConnections()
		p.http.Close()
	})
	return p
}

// testLog keeps the gateway's warnings with the test.
type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	defer func() { _ = recover() }() // a line after the end of the test is nobody's
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// bearer adds a token to every request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// client connects a client of the Go SDK that speaks a revision.
func (p *place) client(version, token string, o *mcp.ClientOptions) *mcp.ClientSession {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	p.t.Cleanup(cancel)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: p.http.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = s.Close() }) // the endpoint may have ended before
	return s
}

// post sends one raw request and returns status, headers and body.
func (p *place) post(token, body string, headers ...string) (int, http.Header, string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		if headers[i] == "Content-Type" {
			r.Header.Del("Content-Type")
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

var _ gate.Binder = reads{}
