package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
)

// peer is one server that we did not write, behind a tap.
type peer struct {
	name    string
	command []string // "" for one that speaks HTTP
	tap     *tap
	url     string
}

// peers are the four reference servers and the Go SDK's.
func peers(t *testing.T, dir string) []*peer {
	t.Helper()
	return []*peer{
		{name: "files", command: []string{needs.Peer(t, "mcp-server-filesystem"), dir}},
		{name: "memory", command: []string{needs.Peer(t, "mcp-server-memory")}},
		{name: "everything", command: []string{needs.Peer(t, "mcp-server-everything")}},
		{name: "thinking", command: []string{needs.Peer(t, "mcp-server-sequential-thinking")}},
		{name: "sdk", url: sdkServer(t)},
	}
}

// sdkServer starts the everything-server of the Go SDK.
func sdkServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "everything-server")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	cmd := exec.Command(path, "-http="+at, "-stateless=true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			return "http://" + at + "/mcp"
		}
	}
	t.Fatal("the server does not listen")
	return ""
}

// calledTools are the calls that every client makes, by the name that it sees.
func calledTools(dir string) []map[string]any {
	call := func(name string, arguments map[string]any) map[string]any {
		return map[string]any{"name": name, "arguments": arguments}
	}
	return []map[string]any{
		call("files__read_text_file", map[string]any{"path": filepath.Join(dir, "a.txt"), "head": 1}),
		call("files__list_directory", map[string]any{"path": dir}),
		call("memory__read_graph", map[string]any{}),
		call("everything__echo", map[string]any{"message": "h\u00e9 \u2028 9007199254740993 <&>"}),
		call("thinking__sequentialthinking", map[string]any{"thought": "x", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}),
		call("sdk__test_simple_text", map[string]any{}),
		call("sdk__test_multiple_content_types", map[string]any{}),
	}
}

// Five servers that we did not write behind one gateway, before five clients
// that we did not write. Everything between them is equal to the byte, but for
// the closed list; the arguments are the frozen ones.
func TestOfficialServersBehindOneGatewayAnswerOfficialClients(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello from a file\nand more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, "200ms")
	p.withNode()
	list := peers(t, dir)
	p.catalogued(list)
	s := p.serve(p.tapped(list))
	front := newTap(t, s.url)
	calls := calledTools(dir)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		p.goClient(front.url, version, calls)
		p.tsClient(front.url, strings.Replace(version, "2025-11-25", "legacy", 1), calls)
	}
	p.inspector(front.url, calls[0])
	checkBytes(t, list, front, 4*len(calls)+1)
}

// withNode lets the reference servers find the pinned Node.
func (p *place) withNode() {
	p.t.Helper()
	for i, pair := range p.env {
		if strings.HasPrefix(pair, "PATH=") {
			p.env[i] = "PATH=" + filepath.Dir(needs.Peer(p.t, "node")) + string(os.PathListSeparator) + strings.TrimPrefix(pair, "PATH=")
		}
	}
}

// catalogued calls every tool a read, pinned to its definition.
func (p *place) catalogued(list []*peer) {
	p.t.Helper()
	out := "version: \"1\"\ntools:\n"
	for _, x := range list {
		from := hub.Server{Name: x.name, Asks: true, Dial: func(context.Context) (hub.Transport, error) { return remote.New(remote.Config{URL: x.url}) }}
		if x.url == "" {
			from.Dial = hub.Child(gate.Command{Path: x.command[0], Args: x.command[1:], Env: p.env}, p.t.Output(), slog.New(slog.DiscardHandler))
		}
		tools, err := hub.Definitions(p.context(), from, "test")
		if err != nil {
			p.t.Fatalf("%s: %v", x.name, err)
		}
		for _, tool := range tools {
			raw, err := json.Marshal(string(tool.Raw))
			if err != nil {
				p.t.Fatal(err)
			}
			out += fmt.Sprintf("  %q:\n    mutation: false\n    reason: test\n    definition: {sha256: %q, raw: %s}\n", x.name+"."+tool.Name, tool.Digest.String(), raw)
		}
	}
	if err := os.WriteFile(p.home.Catalog(), []byte(out), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// tapped is the servers of the configuration, each with a tap before it.
func (p *place) tapped(list []*peer) string {
	p.t.Helper()
	out := ""
	for _, x := range list {
		if x.url != "" {
			x.tap = newTap(p.t, x.url)
			out += fmt.Sprintf("  %s: {url: %q}\n", x.name, x.tap.url)
			continue
		}
		x.tap = &tap{file: filepath.Join(p.t.TempDir(), x.name)}
		args, err := json.Marshal(append([]string{x.tap.file}, x.command...))
		if err != nil {
			p.t.Fatal(err)
		}
		out += fmt.Sprintf("  %s: {command: mcp-tap, args: %s}\n", x.name, args)
	}
	return out
}

func (p *place) goClient(url, version string, calls []map[string]any) {
	p.t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).Connect(p.context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken{endpointToken}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	got, err := c.ListTools(p.context(), nil)
	if err != nil || len(got.Tools) < 40 {
		p.t.Fatalf("%s: %d tools, %v", version, len(got.Tools), err)
	}
	for _, call := range calls {
		r, err := c.CallTool(p.context(), &mcp.CallToolParams{Name: call["name"].(string), Arguments: call["arguments"]})
		if err != nil || r.IsError {
			p.t.Errorf("%s: %s: %+v, %v", version, call["name"], r, err)
		}
	}
}

func (p *place) tsClient(url, mode string, calls []map[string]any) {
	p.t.Helper()
	input, err := json.Marshal(calls)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(needs.Peer(p.t, "node"), "../../testdata/npm/tsclient.mjs", url, endpointToken, mode)
	var faults bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = needs.Env(p.t), bytes.NewReader(input), &faults
	out, err := cmd.Output()
	var got struct {
		Tools   []string
		Results []struct{ IsError bool }
	}
	if err != nil || json.Unmarshal(out, &got) != nil || len(got.Tools) < 40 || len(got.Results) != len(calls) ||
		slices.ContainsFunc(got.Results, func(r struct{ IsError bool }) bool { return r.IsError }) {
		p.t.Errorf("the TypeScript client, %s: %v %.600s\n%.1200s", mode, err, out, faults.String())
	}
}

func (p *place) inspector(url string, call map[string]any) {
	p.t.Helper()
	args := []string{"--cli", url, "--transport", "http", "--header", "Authorization: Bearer " + endpointToken, "--method", "tools/call", "--tool-name", call["name"].(string)}
	for name, value := range call["arguments"].(map[string]any) {
		args = append(args, "--tool-arg", fmt.Sprintf("%s=%v", name, value))
	}
	cmd := exec.Command(needs.Peer(p.t, "mcp-inspector"), args...)
	cmd.Env = append(needs.Env(p.t), "HOME="+p.t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "hello from a file") {
		p.t.Errorf("the inspector: %v %.600s", err, out)
	}
}
