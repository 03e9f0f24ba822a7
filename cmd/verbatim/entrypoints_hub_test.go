package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// hubEntries are the methods that a client of the endpoint can ask. A new one
// fails the test until it stands here.
var hubEntries = []string{"initialize", "server/discover", "ping", "tools/list", "tools/call", "resources/list",
	"resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "prompts/list",
	"prompts/get", "completion/complete", "logging/setLevel", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"}

type anyToken struct{ caller hub.Caller }

func (a anyToken) Identify(context.Context, string) (endpoint.Identity, error) {
	return endpoint.Identity{Key: "k", Caller: a.caller}, nil
}

// pipeServer is payServer as the transport of a hub.
type pipeServer struct {
	*gate.Stream
	end func()
}

func (p pipeServer) Listen(other func(*wire.Message)) { _ = p.Stream.Listen(other) }
func (p pipeServer) Close()                           { p.end() }

func (s *payServer) dial(context.Context) (hub.Transport, error) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	go s.serve(serverIn, serverOut)
	return pipeServer{gate.NewStream(fromServer, toServer, slog.New(slog.DiscardHandler)), func() { serverIn.Close(); serverOut.Close() }}, nil
}

func TestNoMethodOfTheEndpointRunsAToolWithoutAnApproval(t *testing.T) {
	t.Parallel()
	sameEntries(t, hub.Methods(), append([]string(nil), hubEntries...))
	for _, method := range append(unlisted, append(hubEntries, mcpEntries...)...) {
		t.Run(strings.ReplaceAll(method, "/", "_"), func(t *testing.T) {
			t.Parallel()
			r, s := newArena(t), &payServer{}
			h, err := hub.New(hub.Config{Gate: r.Gate, Binder: allUncataloged{}, Wait: time.Millisecond, Servers: []hub.Server{{Name: "files", Dial: s.dial}}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := endpoint.New(endpoint.Config{Hub: h, Hosts: []string{"example.com"}, Authority: anyToken{hub.Caller{Session: r.Session()}}})
			if err != nil {
				t.Fatal(err)
			}
			for _, era := range []string{"2026-07-28", ""} {
				askEndpoint(t, e, method, era)
			}
			h.Close(context.Background())
			if method == "tools/call" {
				checkSuspended(t, r)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, c := range s.calls {
				if m, err := wire.Parse([]byte(c), wire.Limits{}); err != nil || m.Method() == "tools/call" {
					t.Errorf("a call reached the server: %s", c)
				}
			}
		})
	}
}

// askEndpoint sends a method as request and as notification.
func askEndpoint(t *testing.T, e http.Handler, method, era string) {
	t.Helper()
	session := ""
	if era == "" {
		got := postTo(e, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`, "", "", "")
		if session = got.Header().Get("Mcp-Session-Id"); session == "" {
			t.Fatalf("no session: %s", got.Body)
		}
	}
	meta := ""
	if era != "" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + era + `","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	for i, id := range []string{`"id":1,`, "", `"id":"2",`} {
		postTo(e, fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":"%s","params":{"name":"pay","arguments":{"n":%d},"method":"tools/call","requestId":1%s}}`, id, method, i, meta), session, era, method)
	}
}

func postTo(e http.Handler, body, session, era, method string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer x")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	if era != "" {
		r.Header.Set("Mcp-Protocol-Version", era)
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", "pay")
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}
