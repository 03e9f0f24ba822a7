package endpoint_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// asCommand makes this test binary a server of the Go SDK over its standard
// streams.
const asCommand = "VERBATIM_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		if err := command().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// command is a server that asks its client for things.
func command() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "command", Version: "1"}, nil)
	tool := func(name string, answer func(context.Context, *mcp.CallToolRequest) (string, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := answer(ctx, r)
			if err != nil {
				text = "refused"
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	tool("pid", func(context.Context, *mcp.CallToolRequest) (string, error) { return strconv.Itoa(os.Getpid()), nil })
	elicit := func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return "", err
		}
		return "client says " + got.Action, nil
	}
	tool("ask", elicit)
	tool("impatient", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return elicit(ctx, r)
	})
	return s
}

// commandServer is that server, as a process for each session or one for all.
func commandServer(perSession bool) hub.Server {
	c := gate.Command{Path: os.Args[0], Env: append(os.Environ(), asCommand+"=1")}
	return hub.Server{Name: "command", PerSession: perSession, Dial: hub.Child(c, io.Discard, slog.New(slog.DiscardHandler))}
}

func callText(t *testing.T, c *mcp.ClientSession, tool string) string {
	t.Helper()
	r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return text(t, r)
}

func saying(action string) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: action}, nil
	}}
}

// A command that one session has for itself may ask it, and nobody else.
func TestWhatASessionsOwnServerAsksGoesToThatSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t, []hub.Server{commandServer(true)})
	one, two, deaf := p.client(legacy, goodToken, saying("accept")), p.client(legacy, goodToken, saying("decline")), p.client(legacy, goodToken, nil)
	pids := map[string]bool{}
	for range 2 {
		for c, want := range map[*mcp.ClientSession]string{one: "client says accept", two: "client says decline", deaf: "refused"} {
			if got := callText(t, c, "ask"); got != want {
				t.Errorf("asked: got %q, want %q", got, want)
			}
			pids[callText(t, c, "pid")] = true
		}
	}
	if len(pids) != 3 {
		t.Errorf("%d processes for 3 sessions", len(pids))
	}
}

func TestAServerThatSessionsShareAsksNobody(t *testing.T) {
	t.Parallel()
	p := newPlace(t, []hub.Server{commandServer(false)})
	one, two := p.client(legacy, goodToken, saying("accept")), p.client(legacy, goodToken, saying("decline"))
	if got := callText(t, one, "ask"); got != "refused" {
		t.Errorf("asked: got %q", got)
	}
	if a, b := callText(t, one, "pid"), callText(t, two, "pid"); a != b {
		t.Errorf("processes %s and %s, want one", a, b)
	}
}

// A question that the server no longer wants answered is taken back, and the
// session goes on.
func TestAQuestionIsTakenBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, []hub.Server{commandServer(true)})
	withdrawn := make(chan struct{})
	c := p.client(legacy, goodToken, &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		select {
		case <-ctx.Done():
			close(withdrawn)
		case <-time.After(15 * time.Second):
		}
		return &mcp.ElicitResult{Action: "accept"}, nil
	}})
	if got := callText(t, c, "impatient"); got != "refused" {
		t.Errorf("got %q", got)
	}
	select {
	case <-withdrawn:
	case <-time.After(15 * time.Second):
		t.Error("the client is still being asked")
	}
	callText(t, c, "pid")
}
