package endpoint_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) == 0 {
		t.Fatalf("a result without content: %+v", r)
	}
	c, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content %T", r.Content[0])
	}
	return c.Text
}

// Every era of client reaches every era of server, with the frozen arguments.
func TestClientsOfBothErasReachServersOfBothEras(t *testing.T) {
	t.Parallel()
	for _, version := range []string{modern, legacy, "2025-06-18", "2025-03-26"} {
		for _, stateless := range []bool{true, false} {
			name := version + " to sessions"
			if stateless {
				name = version + " to stateless"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u := newUpstream(t, stateless)
				p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
				progress := make(chan any, 10)
				c := p.client(version, goodToken, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					progress <- r.Params.ProgressToken
				}})
				list, err := c.ListTools(soon(t), nil)
				if err != nil || len(list.Tools) != 2 || list.Tools[0].Name != "echo" {
					t.Fatalf("tools: %+v, %v", list, err)
				}
				params := &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(`{"text":"h\u00e9"}`)}
				params.SetProgressToken("mine")
				r, err := c.CallTool(soon(t), params)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(`{"n":3,"text":"hé"}`, text(t, r)); diff != "" {
					t.Errorf("arguments (-want +got):\n%s", diff)
				}
				select {
				case token := <-progress:
					if token != "mine" {
						t.Errorf("progress of %v", token)
					}
				case <-time.After(10 * time.Second):
					t.Error("no progress came")
				}
				if _, err := c.ReadResource(soon(t), &mcp.ReadResourceParams{URI: "test://open/a"}); err != nil {
					t.Errorf("a resource that a rule names: %v", err)
				}
				if _, err := c.ReadResource(soon(t), &mcp.ReadResourceParams{URI: "test://secret/b"}); err == nil {
					t.Error("a resource that no rule names was read")
				}
				if _, err := c.GetPrompt(soon(t), &mcp.GetPromptParams{Name: "greet"}); err != nil {
					t.Errorf("a prompt that a rule names: %v", err)
				}
				if _, err := c.GetPrompt(soon(t), &mcp.GetPromptParams{Name: "hidden"}); err == nil {
					t.Error("a prompt that no rule names was got")
				}
				if bodies, _ := u.received("test://secret"); len(bodies) > 0 {
					t.Errorf("the server has seen %s", bodies)
				}
			})
		}
	}
}

func TestSameEraServersSeeTheClientsOwnRequest(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	status, _, body := p.post(goodToken, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{ "name":"echo","arguments":{"text":"a","n":7},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"9.9"},`+
		`"io.modelcontextprotocol/clientCapabilities":{},"com.example/odd":12345678901234567890}}}`,
		"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "echo", "Mcp-Param-Text", "a", "X-Secret", "leak")
	if status != 200 || !strings.Contains(body, `"id":"x"`) {
		t.Fatalf("%d %s", status, body)
	}
	bodies, headers := u.received("tools/call")
	if len(bodies) != 1 {
		t.Fatalf("the server got %d calls", len(bodies))
	}
	want := `"params":{ "name":"echo","arguments":{"n":7,"text":"a"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"9.9"},"io.modelcontextprotocol/clientCapabilities":{},"com.example/odd":12345678901234567890}}`
	if !strings.Contains(bodies[0], want) {
		t.Errorf("the server got\n%s\nwithout\n%s", bodies[0], want)
	}
	h := headers[0]
	got := []string{h.Get("Mcp-Name"), h.Get("Mcp-Method"), h.Get("Mcp-Param-Text"), h.Get("Authorization"), h.Get("X-Secret")}
	if diff := cmp.Diff([]string{"echo", "tools/call", "a", "Bearer upstream-credential", ""}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestSeveralServersStandSideBySide(t *testing.T) {
	t.Parallel()
	a, b := newUpstream(t, true), newUpstream(t, false)
	down := remoteServer(t, "down", "http://127.0.0.1:1/mcp")
	p := newPlace(t, []hub.Server{remoteServer(t, "one", a.URL), remoteServer(t, "two", b.URL), down})
	for _, version := range []string{modern, legacy} {
		c := p.client(version, goodToken, nil)
		list, err := c.ListTools(soon(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff([]string{"one__echo", "one__write", "two__echo", "two__write"}, names); diff != "" {
			t.Errorf("%s: tools (-want +got):\n%s", version, diff)
		}
		for _, name := range []string{"one__echo", "two__write"} {
			r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"text": name}})
			if err != nil || !strings.Contains(text(t, r), name) {
				t.Errorf("%s: %s: %+v, %v", version, name, r, err)
			}
		}
		if _, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "down__echo", Arguments: map[string]any{}}); err == nil {
			t.Error("a server that is down answered")
		}
		if _, err := c.GetPrompt(soon(t), &mcp.GetPromptParams{Name: "two__greet"}); err != nil {
			t.Errorf("%s: prompt: %v", version, err)
		}
	}
	if bodies, _ := a.received(`"name":"one__`); len(bodies) > 0 {
		t.Errorf("the server saw a prefix: %s", bodies)
	}
}

func TestAListHoldsWhatTheCallerMayUse(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	c := p.client(legacy, otherToken, nil)
	list, err := c.ListTools(soon(t), nil)
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "echo" {
		t.Fatalf("tools %+v, %v", list, err)
	}
	r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "write", Arguments: map[string]any{"text": "x"}})
	if err == nil && !r.IsError || u.calls.Load() != 0 {
		t.Errorf("a tool that does not exist for the caller ran: %+v, %v", r, err)
	}
}

func TestAChangedListIsFollowed(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		u := newUpstream(t, stateless)
		p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
		heard := make(chan struct{}, 10)
		c := p.client(legacy, goodToken, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			heard <- struct{}{}
		}})
		if _, err := c.ListTools(soon(t), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond) // the streams have no sign of their own that they stand
		u.sdk.AddTool(&mcp.Tool{Name: "fresh", InputSchema: json.RawMessage(`{"type":"object"}`)}, u.echo)
		if !stateless {
			select {
			case <-heard:
			case <-time.After(15 * time.Second):
				t.Fatal("nobody told the client")
			}
		}
		r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "fresh", Arguments: map[string]any{}})
		for end := time.Now().Add(10 * time.Second); (err != nil || r.IsError) && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			r, err = c.CallTool(soon(t), &mcp.CallToolParams{Name: "fresh", Arguments: map[string]any{}})
		}
		if err != nil || r.IsError {
			t.Errorf("the new tool: %+v, %v", r, err)
		}
	}
}

func TestWhatAServerAsksGoesToTheClientOfThatCall(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, false)
	u.sdk.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "client says " + got.Action}}}, nil
	})
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	handler := func(says string) *mcp.ClientOptions {
		return &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: says}, nil
		}}
	}
	one, two := p.client(legacy, goodToken, handler("accept")), p.client(legacy, goodToken, handler("decline"))
	for range 3 {
		for c, want := range map[*mcp.ClientSession]string{one: "client says accept", two: "client says decline"} {
			r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{}})
			if err != nil || text(t, r) != want {
				t.Errorf("got %+v, %v; want %q", r, err, want)
			}
		}
	}
	deaf := p.client(legacy, goodToken, nil)
	if r, err := deaf.CallTool(soon(t), &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{}}); err == nil && !r.IsError {
		t.Errorf("a client that cannot answer was asked: %+v", r)
	}
}
