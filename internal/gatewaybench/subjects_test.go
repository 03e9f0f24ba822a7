//go:build bench

package gatewaybench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
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

type reads struct{}

func (reads) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Define(catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Read: true, Reason: "a measurement"})
	if err != nil {
		return nil, verbatim.CodeToolRefused
	}
	return tool, ""
}

const (
	schema  = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},"filter":{"type":"string"},"deep":{"type":"boolean"}}}`
	args    = `{"deep":true,"filter":"created after 2026-01-01 and owned by somebody in the finance group","limit":50,"path":"/srv/notes/2026/invoices"}`
	result  = `{"content":[{"type":"text","text":"forty-two notes, the newest of them from this morning"}],"resultType":"complete"}`
	meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	call    = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","arguments":` + args + `}}`
	newCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","arguments":` + args + `,` + meta + `}}`
	greet   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`
	hello   = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	listed  = `{"tools":[{"name":"look","inputSchema":` + schema + `}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	found   = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
)

// serverAnswer is the whole server.
func serverAnswer(m *wire.Message) *wire.Message {
	results := map[string]string{"initialize": hello, "tools/list": listed, "server/discover": found, "tools/call": result}
	a, err := wire.NewResult(m.ID(), []byte(results[m.Method()]))
	if results[m.Method()] == "" {
		a, err = wire.NewError(m.ID(), wire.CodeMethodNotFound, "no", nil)
	}
	if err != nil {
		panic(err)
	}
	return a
}

func newFixture(t *testing.T) *verbatimtest.Fixture {
	t.Helper()
	return verbatimtest.New(t, verbatimtest.Config{Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "a measurement"}, nil
	})})
}

// pipe is one end of a pair of operating system pipes.
type pipe struct{ in, out *os.File }

func (p pipe) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipe) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipe) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

func pipes(t *testing.T) (a, b pipe) {
	t.Helper()
	r1, w1, err1 := os.Pipe()
	r2, w2, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return pipe{r1, w2}, pipe{r2, w1}
}

// stdioServer answers at the far end of a pipe.
func stdioServer(t *testing.T) pipe {
	t.Helper()
	near, far := pipes(t)
	t.Cleanup(func() { near.Close(); far.Close() })
	go func() {
		in, out := wire.NewReader(far, wire.Limits{}), wire.NewWriter(far)
		for {
			m, err := in.Read()
			if err != nil {
				return
			}
			if m.Kind() == wire.KindRequest && out.Write(serverAnswer(m)) != nil {
				return
			}
		}
	}()
	return near
}

// client greets and returns a function that makes one call.
func client(t *testing.T, p pipe) func() error {
	t.Helper()
	in := bufio.NewReader(p)
	ask := func(frame string) ([]byte, error) {
		if _, err := io.WriteString(p, frame+"\n"); err != nil {
			return nil, err
		}
		return in.ReadBytes('\n')
	}
	if _, err := ask(greet); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return func() error {
		line, err := ask(call)
		if err == nil && !bytes.Contains(line, []byte("forty-two")) {
			err = errors.New(string(line))
		}
		return err
	}
}

func stdioSubjects(t *testing.T) []subject {
	near, far := pipes(t)
	server := stdioServer(t)
	go lines(far, server)
	go lines(server, far)

	gated, behind := pipes(t)
	f, server2 := newFixture(t), stdioServer(t)
	go gate.Serve(context.Background(), gate.Config{Gate: f.Gate, Session: f.Session(), Server: "s", Binder: reads{}}, behind, server2, server2)

	typed, inner := pipes(t)
	go typedProxy(t, stdioServer(t), inner)
	return []subject{{"direct", client(t, stdioServer(t))}, {"raw line forwarder", client(t, near)},
		{"verbatim", client(t, gated)}, {"typed go-sdk proxy", client(t, typed)}}
}

// lines forwards line by line.
func lines(from io.Reader, to io.Writer) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := to.Write(line); err != nil {
			return
		}
	}
}

// typedProxy serves on inner what a client of the SDK gets from a server.
func typedProxy(t *testing.T, near, inner pipe) {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "p", Version: "1"}, nil).Connect(context.Background(),
		&mcp.IOTransport{Reader: near, Writer: near}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Error(err)
		return
	}
	_ = proxyServer(session).Run(context.Background(), &mcp.IOTransport{Reader: inner, Writer: inner})
}

func proxyServer(session *mcp.ClientSession) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "p", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "look", InputSchema: json.RawMessage(schema)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return session.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
	})
	return s
}

type anybody struct{ caller hub.Caller }

func (a anybody) Identify(context.Context, string) (endpoint.Identity, error) {
	return endpoint.Identity{Key: "k", Caller: a.caller}, nil
}

func httpServer(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func httpSubjects(t *testing.T) []subject {
	direct := httpServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := wire.Parse(body, wire.Limits{})
		if err != nil || m.Kind() != wire.KindRequest {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(serverAnswer(m).Bytes())
	}))
	target, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	h, err := hub.New(hub.Config{Gate: f.Gate, Binder: reads{}, Servers: []hub.Server{{Name: "s",
		Dial: func(context.Context) (hub.Transport, error) { return remote.New(remote.Config{URL: direct}) }}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.Background()) })
	gated := httptest.NewUnstartedServer(nil)
	if gated.Config.Handler, err = endpoint.New(endpoint.Config{Hub: h, Hosts: []string{gated.Listener.Addr().String()}, Authority: anybody{hub.Caller{Session: f.Session()}}}); err != nil {
		t.Fatal(err)
	}
	gated.Start()
	t.Cleanup(func() { gated.CloseClientConnections(); gated.Close() })

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "p", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: direct}, nil)
	if err != nil {
		t.Fatal(err)
	}
	typed := proxyServer(session)
	typedURL := httpServer(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return typed }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	return []subject{{"direct", poster(direct)}, {"httputil.ReverseProxy", poster(httpServer(t, httputil.NewSingleHostReverseProxy(target)))},
		{"verbatim", poster(gated.URL + "/mcp")}, {"typed go-sdk proxy", poster(typedURL)}}
}

// poster makes one call over a connection that is kept.
func poster(at string) func() error {
	c := &http.Client{Transport: &http.Transport{}}
	return func() error {
		r, err := http.NewRequest(http.MethodPost, at, strings.NewReader(newCall))
		if err != nil {
			return err
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer x",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "look"} {
			r.Header.Set(name, value)
		}
		response, err := c.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil && !bytes.Contains(text, []byte("forty-two")) {
			err = errors.New(string(text))
		}
		return err
	}
}
