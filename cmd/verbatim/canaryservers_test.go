package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The secrets of a run. Each is planted in one place, so that a hit says
// where it came from.
const (
	canaryArgument   = "canary-argument-01"     // a plain member
	canaryPin        = "canary-pin-02"          // a member that the catalog marks secret
	canaryDeep       = "canary-deep-03"         // inside an object
	canaryUnknown    = "canary-unknown-04"      // the name and the value of a member that no schema has
	canaryBroken     = "canary-broken-05"       // in JSON that is none
	canaryHeader     = "canary-header-06"       // headers of the client
	canaryBearer     = "canary-bearer-token-07" // a token that nobody knows
	canaryCredential = "canary-credential-08"   // the gateway's own at a server
	canaryEnv        = "canary-env-09"          // the daemon's environment
	canaryServerEnv  = "canary-server-env-10"   // the environment of a server
	canaryToolError  = "canary-tool-error-11"   // what a tool says that went wrong
	canaryRPCError   = "canary-rpc-error-12"    // what a server answers instead
	canaryHTTPError  = "canary-http-error-13"   // body and headers of a server's 500
	canaryOTLP       = "canary-otlp-secret-14"  // opens the collector
	canaryHook       = "canary-hook-secret-15, long enough"
	canaryResult     = "canary-result-16" // a tool's good answer
)

// keepSchema is the schema of the tools that keep things.
const keepSchema = `{"type":"object","properties":{"text":{"type":"string"},"pin":{"type":"string"},"more":{"type":"object","properties":{"deep":{"type":"string"}}}` +
	`},"additionalProperties":false}`

// leakyTools are tools that answer with secrets.
func leakyTools(name string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	add := func(tool string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: tool, Description: "Does " + tool + ".", InputSchema: json.RawMessage(keepSchema)}, h)
	}
	add("keep", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "kept " + canaryResult}}}, nil
	})
	add("break", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: canaryToolError}}}, nil
	})
	add("collapse", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New(canaryRPCError)
	})
	return s
}

// leakyServer is a server of a command with a secret in its environment.
func leakyServer() {
	if os.Getenv("LEAKY") != canaryServerEnv {
		fatal(errors.New("the environment is not the one of the test"))
	}
	if err := leakyTools("near").Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fatal(err)
	}
}

// leakyFar is a server with a URL; it breaks where a tool is called break.
func leakyFar(t *testing.T) *httptest.Server {
	t.Helper()
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return leakyTools("far") }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer "+canaryCredential {
			http.Error(w, canaryHTTPError, http.StatusUnauthorized)
			return
		}
		if bytes.Contains(body, []byte(`"name":"break"`)) {
			w.Header().Set("X-Reason", canaryHTTPError)
			http.Error(w, canaryHTTPError, http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		tools.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web
}
