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
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/execute"
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
func authorizeEntry(t *testing.T) entry {
	t.Helper()
	w := newWorld(t)
	c, err := warrant.New(warrant.Config{Audience: executor, Keys: signer(t, keys.Warrants).Public(), Now: w.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return entry{world: w, ran: w.seen, propose: func(t *testing.T, s step) said {
		got := w.asked(t, "/v1/authorize", s)
		if got.at("/outcome/code") != string(verbatim.CodeAuthorized) {
			return replySaid(got)
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
		return replySaid(w.report("maria", got, "ended", "succeeded", "verdict", string(v), "output", `{"content":[]}`))
	}}
}

// toolCall is the frame of a step.
func toolCall(t *testing.T, name string, s step, meta string) string {
	t.Helper()
	if s.Approval != "" {
		meta += `,"` + wire.MetaApproval + `":` + quote(s.Approval)
	}
	if s.Key != "" {
		meta += `,"` + wire.MetaIdempotencyKey + `":` + quote(s.Key)
	}
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + quote(name) + `,"arguments":` + s.text(t) + `,"_meta":{` + strings.TrimPrefix(meta, ",") + `}}}`
}

// messageSaid reads an answer over MCP.
func messageSaid(t *testing.T, frame []byte) said {
	t.Helper()
	m, err := wire.Parse(frame, wire.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	if m.Kind() != wire.KindResult {
		return said{Status: refused, Code: string(m.Fault())}
	}
	if flag, _, err := m.Member("/result/isError"); err != nil || string(flag) != "true" {
		return said{Status: "ok", Code: "ok"}
	}
	text, _, err := m.Member("/result/structuredContent")
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Decode(text, canon.Options{})
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return envelopeSaid(v)
}

const modern = "2026-07-28"

func mcpEntry(t *testing.T) entry {
	t.Helper()
	w := newWorld(t)
	const meta = `"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{}`
	return entry{world: w, ran: w.seen, propose: func(t *testing.T, s step) said {
		name := strings.Replace(s.Tool, ".", "__", 1)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(toolCall(t, name, s, meta)))
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
		return messageSaid(t, []byte(text))
	}}
}

type duplex struct {
	io.Reader
	io.WriteCloser
}

// stdioEntry is the gateway on one server, over pipes. A frame that it cannot
// read ends nothing.
func stdioEntry(t *testing.T) entry {
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
	send := func(t *testing.T, frame string) *wire.Message {
		if _, err := io.WriteString(toGate, strings.ReplaceAll(frame, "\n", " ")+"\n"); err != nil {
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
	return entry{world: w, ran: w.seen, propose: func(t *testing.T, s step) said {
		return messageSaid(t, send(t, toolCall(t, strings.TrimPrefix(s.Tool, "up."), s, "")).Bytes())
	}}
}
