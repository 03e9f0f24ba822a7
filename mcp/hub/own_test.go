package hub_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// curious is a server that says lines of its own, before it answers a call and
// when it is told to.
type curious struct {
	scripted
	first string      // before it answers a call
	heard chan string // greetings, notifications and answers
	out   chan *wire.Writer
}

func (c *curious) dial(context.Context) (hub.Transport, error) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	out := wire.NewWriter(serverOut)
	c.out <- out
	go c.serve(wire.NewReader(serverIn, wire.Limits{}), out)
	return piped{gate.NewStream(fromServer, toServer, slog.New(slog.DiscardHandler)), func() { serverIn.Close(); serverOut.Close() }}, nil
}

func (c *curious) serve(in *wire.Reader, out *wire.Writer) {
	for {
		m, err := in.Read()
		if err != nil {
			return
		}
		if m.Kind() != wire.KindRequest || m.Method() == "initialize" {
			c.heard <- string(m.Bytes())
		}
		if m.Kind() != wire.KindRequest {
			continue
		}
		if m.Method() == "tools/call" {
			say(out, c.first)
		}
		answer, err := c.answer(m)
		if err != nil || out.Write(answer) != nil {
			return
		}
	}
}

// say writes one message of a server.
func say(out *wire.Writer, text string) {
	m, err := wire.Parse([]byte(text), wire.Limits{})
	if err != nil {
		panic(err)
	}
	_ = out.Write(m) // whoever listens may have gone
}

// told waits for what holds a text.
func told(t *testing.T, from <-chan string, part string) string {
	t.Helper()
	for {
		select {
		case got := <-from:
			if strings.Contains(got, part) {
				return got
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing came with %s", part)
		}
	}
}

const greetingParams = `{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"experimental":{"x":{}}},"clientInfo":{"name":"c","version":"1"}}`

// ownWorld is a hub with a curious server, a session of it, and what comes on
// the session's streams.
func ownWorld(t *testing.T, first string) (*curious, *hub.Session, *wire.Writer, chan string) {
	t.Helper()
	c := &curious{scripted: scripted{tools: []string{"look"}}, first: first, heard: make(chan string, 100), out: make(chan *wire.Writer, 10)}
	h, f := newHub(t, reviewed{"look"}, hub.Server{Name: "s", Dial: c.dial, PerSession: true})
	s := h.Legacy(hub.Caller{Session: f.Session()})
	streams := make(chan string, 100)
	s.Outlet(func(m *wire.Message) { streams <- "outlet " + string(m.Bytes()) })
	if a := ask(t, s, "initialize", greetingParams); a.Kind() != wire.KindResult {
		t.Fatalf("%s", a.Bytes())
	}
	var out *wire.Writer
	for len(c.out) > 0 { // the newest connection: the greeting of the other era may have been tried before
		out = <-c.out
	}
	return c, s, out, streams
}

func besides(t *testing.T, s *hub.Session, streams chan string) *wire.Message {
	t.Helper()
	m, err := wire.NewRequest(wire.NumberID(7), "tools/call", []byte(`{"name":"look","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	return s.Request(t.Context(), m, func(m *wire.Message) { streams <- "call " + string(m.Bytes()) })
}

// The server is told what the client declared, of what may be asked.
func TestASessionsOwnServerIsToldWhatItsClientCan(t *testing.T) {
	t.Parallel()
	c, _, _, _ := ownWorld(t, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
	if got := told(t, c.heard, "initialize"); !strings.Contains(got, `"capabilities":{"roots":{"listChanged":true},"sampling":{}}`) {
		t.Errorf("it was greeted with %s", got)
	}
}

// Questions go to the call under way, or to the session's own stream, with ids
// of the gateway's; answers come back under the server's.
func TestQuestionsOfASessionsOwnServerAreAnswered(t *testing.T) {
	t.Parallel()
	c, s, out, streams := ownWorld(t, `{"jsonrpc":"2.0","id":"mine","method":"roots/list","params":{}}`)
	if a := besides(t, s, streams); a.Kind() != wire.KindResult {
		t.Fatalf("%s", a.Bytes())
	}
	if diff := cmp.Diff(`call {"jsonrpc":"2.0","id":"verbatim-1","method":"roots/list","params":{}}`, told(t, streams, "roots")); diff != "" {
		t.Error(diff)
	}
	reply(t, s, "verbatim-1", `{"roots":[]}`)
	if diff := cmp.Diff(`{"jsonrpc":"2.0","id":"mine","result":{"roots":[]}}`, told(t, c.heard, "mine")); diff != "" {
		t.Error(diff)
	}
	say(out, `{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}}`)
	if diff := cmp.Diff(`outlet {"jsonrpc":"2.0","id":"verbatim-2","method":"sampling/createMessage","params":{}}`, told(t, streams, "sampling")); diff != "" {
		t.Error(diff)
	}
	say(out, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
	if diff := cmp.Diff(`outlet {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"verbatim-2"}}`, told(t, streams, "cancelled")); diff != "" {
		t.Error(diff)
	}
	reply(t, s, "verbatim-2", `{}`) // too late: it is told to nobody
	s.Notify(notification(t, "notifications/roots/list_changed"))
	if got := told(t, c.heard, "_"); !strings.Contains(got, "roots/list_changed") {
		t.Errorf("the server heard %s", got)
	}
}

// What the client has not declared, or has no stream for, is refused at once.
func TestQuestionsThatNobodyCanAnswerAreRefused(t *testing.T) {
	t.Parallel()
	c, s, out, _ := ownWorld(t, `{"jsonrpc":"2.0","id":"mine","method":"elicitation/create","params":{}}`)
	m, err := wire.NewRequest(wire.NumberID(7), "tools/call", []byte(`{"name":"look","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.Request(t.Context(), m, nil)
	if got := told(t, c.heard, "mine"); !strings.Contains(got, "-32601") {
		t.Errorf("the server heard %s", got)
	}
	s.Outlet(nil)
	say(out, `{"jsonrpc":"2.0","id":"late","method":"roots/list","params":{}}`)
	if got := told(t, c.heard, "late"); !strings.Contains(got, "-32601") {
		t.Errorf("the server heard %s", got)
	}
}

func reply(t *testing.T, s *hub.Session, id, result string) {
	t.Helper()
	m, err := wire.NewResult(wire.StringID(id), []byte(result))
	if err != nil {
		t.Fatal(err)
	}
	s.Answer(m)
}

func notification(t *testing.T, method string) *wire.Message {
	t.Helper()
	m, err := wire.NewNotification(method, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
