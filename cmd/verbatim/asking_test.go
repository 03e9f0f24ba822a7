package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// A reference server that is a command asks each of two clients of one
// gateway, and a client that takes no questions has no tool that asks.
func TestAReferenceServerAsksTheClientWhoseItIs(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	p.withNode()
	x := &peer{name: "everything", command: []string{needs.Peer(t, "mcp-server-everything")}}
	p.catalogued([]*peer{x})
	s := p.serve(fmt.Sprintf("  everything: {command: %q, perSession: true}\n", x.command[0]))
	answers := map[string]*mcp.ElicitResult{
		"Name: Ada":     {Action: "accept", Content: map[string]any{"name": "Ada"}},
		"User declined": {Action: "decline"},
	}
	for want, answer := range answers {
		c := p.asked(s.url, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return answer, nil }})
		defer c.Close()
		// The server tells of this tool a moment after it was greeted.
		for end := time.Now().Add(15 * time.Second); !has(t, c, askingTool) && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		}
		r, err := c.CallTool(p.context(), &mcp.CallToolParams{Name: askingTool, Arguments: map[string]any{}})
		if err != nil || len(r.Content) == 0 || !strings.Contains(said(r), want) {
			t.Errorf("want %q, got %v %q", want, err, said(r))
		}
	}
	deaf := p.asked(s.url, nil)
	defer deaf.Close()
	if !has(t, deaf, "echo") || has(t, deaf, askingTool) {
		t.Error("a client that takes no questions is offered the tool that asks, or nothing")
	}
}

const askingTool = "trigger-elicitation-request"

// asked is a client of the revision in which servers ask by themselves.
func (p *place) asked(url string, o *mcp.ClientOptions) *mcp.ClientSession {
	p.t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, o).Connect(p.context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken{endpointToken}}},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func has(t *testing.T, c *mcp.ClientSession, tool string) bool {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list.Tools {
		if x.Name == tool {
			return true
		}
	}
	return false
}

// said is all text of a result.
func said(r *mcp.CallToolResult) (out string) {
	if r == nil {
		return ""
	}
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			out += text.Text + "\n"
		}
	}
	return out
}
