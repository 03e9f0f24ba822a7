package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const endpointToken = "canary-token-of-a-client-0001"

// served is a verbatim serve process with an endpoint.
type served struct {
	*place
	cmd *exec.Cmd
	url string
	log string // file of its standard error
}

// serve starts verbatim serve with these servers behind the endpoint.
func (p *place) serve(servers string) *served {
	p.t.Helper()
	dir := filepath.Dir(string(p.home))
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(endpointToken+"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	_, principal, err := localPrincipal()
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(servers, "\n") {
		if name, _, found := strings.Cut(line, ":"); found && strings.HasPrefix(name, "  ") && !strings.HasPrefix(name, "   ") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	text := "listen: 127.0.0.1:0\nwait: " + p.held + "\nservers:\n" + servers + "endpoint:\n  listen: 127.0.0.1:0\n  tokens:\n" +
		"    - {name: test, file: token, principal: " + principal + ", agent: tester, servers: [" + strings.Join(names, ", ") + "]}\n"
	file := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	s := &served{place: p, cmd: p.command("serve", "--config", file), log: filepath.Join(dir, "serve.log")}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	log, err := os.Create(s.log)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { log.Close() })
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		endDaemon(string(p.home))
		_ = s.cmd.Wait() // it was told to end
		if text, err := os.ReadFile(s.log); err == nil && p.t.Failed() {
			p.t.Logf("the daemon said:\n%s", text)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, found := strings.CutPrefix(lines.Text(), "endpoint: "); found {
			s.url = url
			return s
		}
	}
	p.t.Fatal("serve did not say its endpoint")
	return nil
}

type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (s *served) client(version string) *mcp.ClientSession {
	s.t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(s.context(),
		&mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: withToken{endpointToken}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() }) // the daemon may have ended before
	return c
}

// One endpoint before a server that is a command and one that has a URL: both
// eras of clients list, read, and wait for people as wrap does.
func TestServePutsSeveralServersBehindOneEndpoint(t *testing.T) {
	t.Parallel()
	far := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	var mu sync.Mutex
	var authorization []string
	far.AddTool(&mcp.Tool{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "seen"}}}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		mu.Lock()
		defer mu.Unlock()
		authorization = append(authorization, r.Header.Get("Authorization"))
		return far
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(handler)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })

	p := newPlace(t, "200ms")
	p.env = append(p.env, "FAR_SECRET=upstream-canary-0001", "LEAKY=leaked-canary-0001")
	s := p.serve("  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\n  far:\n    url: " + web.URL + "\n    credential: {env: FAR_SECRET}\n")
	p.setup()
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		c := s.client(version)
		list, err := c.ListTools(s.context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff([]string{"far__look", "notes__add", "notes__list"}, names); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		// Nothing is catalogued, so each call waits for a person; then it runs.
		params := `{"text":"via-` + version + `"}`
		got := p.call(agent{ClientSession: c}, "notes__add", params, "")
		if got.Code != "approval_required" || got.Action == "" {
			t.Fatalf("%s: %+v", version, got)
		}
		p.approve(got.Action)
		if got := p.call(agent{ClientSession: c}, "notes__add", params, got.Action); got.Code != "" {
			t.Errorf("%s: after the approval: %+v", version, got)
		}
		look := p.call(agent{ClientSession: c}, "far__look", `{}`, "")
		p.approve(look.Action)
		if got := p.call(agent{ClientSession: c}, "far__look", `{}`, look.Action); got.Text != "seen" {
			t.Errorf("%s: far: %+v", version, got)
		}
	}
	if diff := cmp.Diff([]string{"via-2026-07-28", "via-2025-11-25"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, a := range authorization {
		if a != "Bearer upstream-canary-0001" {
			t.Errorf("the far server got %q", a)
		}
	}
	text, err := os.ReadFile(s.log)
	if err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("the log holds a secret, %v:\n%s", err, text)
	}
}
