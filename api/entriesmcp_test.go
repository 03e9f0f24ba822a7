package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/attacktest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// toolNames are the tools of the server up, in every world.
var toolNames = []string{"read", "note", "pay", "secret"}

// toolset is the tools of the server up in process, bound as the gateway binds
// them.
func (w *world) toolset(t *testing.T) verbatim.Toolset {
	t.Helper()
	out := verbatim.Toolset{}
	for _, name := range toolNames {
		list, err := wire.ToolDefinitions([]byte(`{"tools":[{"name":"` + name + `","inputSchema":` + noteSchema + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		tool, _ := binder{}.Bind("up", list.Tools[0])
		out[tool.Name] = verbatim.Bound{Tool: tool, Handler: execute.HandlerFunc(func(_ context.Context, in execute.Input) (execute.Output, error) {
			w.note(name, string(in.JSON()))
			return execute.Output{Bytes: []byte(`{"content":[]}`)}, nil
		})}
	}
	return out
}

func (w *world) note(tool, arguments string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, tool+" "+arguments)
}

// authorizeEntry has calls authorized, runs them at an executor that checks
// what it received, and reports.
func authorizeEntry(t *testing.T) attacktest.Entry {
	t.Helper()
	w := newWorld(t)
	c, err := warrant.New(warrant.Config{Audience: executor, Keys: signer(t, keys.Warrants).Public(), Now: w.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return w.entry(func(t testing.TB, s attacktest.Step) attacktest.Said {
		got := w.asked(t, "/v1/authorize", s)
		if got.at("/outcome/code") != string(verbatim.CodeAuthorized) {
			return attacktest.Answer(got.body)
		}
		envelope, _ := warrant.Decode(got.at("/warrant"))
		for _, changed := range []string{`{}`, strings.Replace(got.at("/argsCanonicalJson"), `"text":"`, `"text":"x`, 1)} {
			if _, v := c.Check(t.Context(), envelope, []byte(changed), warrant.Expect{Tool: s.Tool}); v != warrant.ArgumentsChanged {
				t.Errorf("%s may run as %s: %s", got.at("/argsCanonicalJson"), changed, v)
			}
		}
		_, v := c.Check(t.Context(), envelope, []byte(got.at("/argsCanonicalJson")), warrant.Expect{Tool: s.Tool})
		if v != warrant.OK {
			t.Errorf("the executor says %s", v)
		}
		w.note(strings.TrimPrefix(s.Tool, "up."), got.at("/argsCanonicalJson"))
		if _, again := c.Check(t.Context(), envelope, []byte(got.at("/argsCanonicalJson")), warrant.Expect{}); again != warrant.Replayed {
			t.Errorf("a warrant is used twice: %s", again)
		}
		return attacktest.Answer(w.report("maria", got, "ended", "succeeded", "verdict", string(v), "output", `{"content":[]}`).body)
	})
}

func overMCP(e attacktest.Entry) attacktest.Entry {
	e.MCP = true
	return e
}

const modern = "2026-07-28"

func mcpEntry(t *testing.T) attacktest.Entry {
	t.Helper()
	w := newWorld(t)
	const meta = `"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{}`
	return overMCP(w.entry(func(t testing.TB, s attacktest.Step) attacktest.Said {
		name := strings.Replace(s.Tool, ".", "__", 1)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(s.Call(t, name, meta)))
		r.Host = "gate.test"
		for k, v := range map[string]string{"Authorization": "Bearer maria-" + canary, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": name} {
			r.Header.Set(k, v)
		}
		rec := httptest.NewRecorder()
		w.http.ServeHTTP(rec, r)
		text := rec.Body.String()
		if strings.HasPrefix(rec.Header().Get("Content-Type"), "text/event-stream") {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			text = strings.TrimPrefix(lines[len(lines)-1], "data: ")
		}
		return attacktest.Message(t, []byte(text))
	}))
}

type duplex struct {
	io.Reader
	io.WriteCloser
}

// stdioEntry is the gateway on one server, over pipes. A frame that it cannot
// read ends nothing.
func stdioEntry(t *testing.T) attacktest.Entry {
	t.Helper()
	w := newWorld(t)
	sdk := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	for _, name := range toolNames {
		sdk.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(noteSchema)}, w.ran)
	}
	clientIn, toGate := io.Pipe()
	fromGate, clientOut := io.Pipe()
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served, ended := make(chan error, 1), make(chan error, 1)
	go func() { served <- sdk.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut}) }()
	go func() {
		ended <- gate.Serve(ctx, gate.Config{Gate: w.Gate, Session: w.Session(), Server: "up", Binder: binder{}, Wait: 1, Audience: executor},
			duplex{clientIn, clientOut}, fromServer, toServer)
		clientOut.Close()
	}()
	answers := wire.NewReader(fromGate, wire.Limits{})
	t.Cleanup(func() {
		toGate.Close()
		serverOut.Close()
		cancel()
		go io.Copy(io.Discard, fromGate)
		<-ended
		serverIn.Close()
		<-served
	})
	send := func(t testing.TB, frame string) *wire.Message {
		if _, err := io.WriteString(toGate, frame+"\n"); err != nil {
			t.Fatal(err)
		}
		m, err := answers.Read()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
	if _, err := io.WriteString(toGate, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return overMCP(w.entry(func(t testing.TB, s attacktest.Step) attacktest.Said {
		return attacktest.Message(t, send(t, s.Call(t, strings.TrimPrefix(s.Tool, "up."), "")).Bytes())
	}))
}
