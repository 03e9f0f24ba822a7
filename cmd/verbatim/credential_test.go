package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The gateway gets tokens of its own for a server, and another one when the
// server takes the first no more. Neither they nor its secret are in a log.
func TestServeGetsTokensForAServer(t *testing.T) {
	t.Parallel()
	const secret = "client-secret-canary-0001"
	var mu sync.Mutex
	asked, good := 0, ""
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		user, password, _ := r.BasicAuth()
		if user != "gateway" || password != secret || r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "mcp" ||
			!strings.HasPrefix(r.PostFormValue("resource"), "http://127.0.0.1:") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked++
		good = fmt.Sprintf("token-canary-%d", asked)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, good)
	}))
	t.Cleanup(issuer.Close)
	far := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	far.AddTool(&mcp.Tool{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "seen"}}}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return far }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		ok := good != "" && r.Header.Get("Authorization") == "Bearer "+good
		mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })

	p := newPlace(t, "200ms")
	p.env = append(p.env, "FAR_SECRET="+secret)
	s := p.serve("  far:\n    url: " + web.URL + "\n    credential: {oauth: {token: \"" + issuer.URL + "/token\", client: gateway, secret: {env: FAR_SECRET}, scopes: [mcp]}}\n")
	c := s.client("2026-07-28")
	lists := func() bool {
		list, err := c.ListTools(s.context(), nil)
		return err == nil && len(list.Tools) == 1
	}
	p.eventually("the tools are listed", lists)
	mu.Lock()
	good = "withdrawn"
	mu.Unlock()
	p.eventually("the gateway has another token", lists)
	mu.Lock()
	if asked < 2 {
		t.Errorf("the gateway asked for %d tokens", asked)
	}
	mu.Unlock()
	endDaemon(string(p.home))
	text, err := os.ReadFile(s.log)
	if err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("the log holds a secret, %v:\n%s", err, text)
	}
}
