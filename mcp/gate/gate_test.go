package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// binder knows look as a read and everything else as it comes.
type binder struct{}

func (binder) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	if t.Name == "closed" {
		return &catalog.Tool{Name: server + ".closed", Mutation: true}, verbatim.CodeDefinitionChanged
	}
	if t.Name == "look" {
		tool, err := catalog.Define(catalog.Spec{Name: server + ".look", Server: server, Definition: t.Raw, Pin: t.Digest,
			Read: true, Reason: "test"})
		if err != nil {
			return nil, verbatim.CodeToolRefused
		}
		return tool, ""
	}
	tool, err := catalog.Uncataloged(server, t.Name, t.Raw)
	if err != nil {
		return &catalog.Tool{Name: server + "." + t.Name, Mutation: true}, verbatim.CodeToolRefused
	}
	return tool, ""
}

const listed = `{"tools":[
 {"name":"look","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer","default":3}}},"x":9007199254740993},
 {"name":"write","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
 {"name":"closed","inputSchema":{"type":"object"}}]}`

type duplex struct {
	io.Reader
	io.WriteCloser
}

type world struct {
	*verbatimtest.Fixture
	t      *testing.T
	server *server
	client *wire.Reader
	send   io.WriteCloser
	crash  func()
	done   chan error
}

func newWorld(t *testing.T, wait time.Duration) *world {
	t.Helper()
	return boundWorld(t, wait, binder{})
}

func boundWorld(t *testing.T, wait time.Duration, b gate.Binder, change ...func(*verbatim.Config)) *world {
	t.Helper()
	return reachingWorld(t, wait, b, gate.Reach{Resources: patterns(t, "**"), Prompts: patterns(t, "**")}, change...)
}

func patterns(t *testing.T, texts ...string) (out []gate.Pattern) {
	t.Helper()
	for _, text := range texts {
		p, err := gate.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func reachingWorld(t *testing.T, wait time.Duration, b gate.Binder, reach gate.Reach, change ...func(*verbatim.Config)) *world {
	t.Helper()
	f := verbatimtest.New(t, verbatimtest.Config{Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	}), Gate: func(c *verbatim.Config) {
		for _, f := range change {
			f(c)
		}
	}})
	return on(t, f, wait, b, reach)
}

// boundOn is a new client and a new server before a gate that is there.
func boundOn(t *testing.T, f *verbatimtest.Fixture, b gate.Binder) *world {
	t.Helper()
	return on(t, f, 0, b, gate.Reach{})
}

func on(t *testing.T, f *verbatimtest.Fixture, wait time.Duration, b gate.Binder, reach gate.Reach, change ...func(*gate.Config)) *world {
	t.Helper()
	clientIn, toGate := io.Pipe()
	fromGate, clientOut := io.Pipe()
	return between(t, f, ends{duplex{clientIn, clientOut}, fromGate, toGate}, wait, b, reach, change...)
}

// ends are the gate's end of a connection and the client's two.
type ends struct {
	gate io.ReadWriteCloser
	from io.Reader
	to   io.WriteCloser
}

func between(t *testing.T, f *verbatimtest.Fixture, client ends, wait time.Duration, b gate.Binder, reach gate.Reach, change ...func(*gate.Config)) *world {
	t.Helper()
	w := &world{Fixture: f, t: t, done: make(chan error, 1)}
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	w.send, w.client = client.to, wire.NewReader(client.from, wire.Limits{})
	w.server = &server{in: wire.NewReader(serverIn, wire.Limits{}), out: wire.NewWriter(serverOut),
		call: func(*wire.Message) string {
			return `{"content":[{"type":"text","text":"done"}],"big": 9007199254740993}`
		}}
	w.crash = func() { serverOut.Close(); serverIn.Close() }
	go w.server.run()
	cfg := gate.Config{Gate: w.Gate, Session: w.Session(), Server: "files", Reach: reach, Binder: b, Wait: wait, Page: "http://127.0.0.1:1/"}
	for _, f := range change {
		f(&cfg)
	}
	go func() {
		w.done <- gate.Serve(context.Background(), cfg, client.gate, fromServer, toServer)
		client.gate.Close()
	}()
	t.Cleanup(func() {
		client.to.Close()
		go io.Copy(io.Discard, client.from)
		w.crash()
		<-w.done
	})
	return w
}

func (w *world) write(frame string) {
	w.t.Helper()
	if _, err := io.WriteString(w.send, frame+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read() *wire.Message {
	w.t.Helper()
	m, err := w.client.Read()
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) ask(frame string) *wire.Message {
	w.t.Helper()
	w.write(frame)
	return w.read()
}

func member(t *testing.T, m *wire.Message, pointer string) string {
	t.Helper()
	raw, _, err := m.Member(pointer)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestOnlyTheIDOfAPassedRequestChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	for _, method := range []string{"initialize", "ping", "resources/read", "prompts/get"} {
		frame := fmt.Sprintf(`{ "jsonrpc":"2.0", "id" : "a\u0062", "method":%q,"params": {"name":"n","uri":"a:b","n":1.50, "z":9007199254740993 } }`, method)
		answer := w.ask(frame)
		if got := string(answer.ID().Raw()); got != `"a\u0062"` {
			t.Errorf("%s: the answer has id %s", method, got)
		}
		if got := string(answer.Result()); got != `{"ok":9007199254740993,"ok2": "x"}` {
			t.Errorf("%s: the result became %s", method, got)
		}
		sent := w.server.received(method)
		if len(sent) != 1 {
			t.Fatalf("%s: reached the server %d times", method, len(sent))
		}
		m, err := wire.Parse([]byte(sent[0]), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := m.WithMember("/id", []byte(`"a\u0062"`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(frame, string(back.Bytes())); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUnknownMethodsGoNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	for _, method := range []string{"tasks/list", "Tools/Call", "tools/call2", "x"} {
		answer := w.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, method))
		if answer.Kind() != wire.KindError || member(t, answer, "/error/code") != "-32601" {
			t.Errorf("%s: %s", method, answer.Bytes())
		}
		if len(w.server.received(method)) != 0 {
			t.Errorf("%s reached the server", method)
		}
	}
}

func TestAReadPassesWithTheSnapshotInPlaceOfItsArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	answer := w.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","arguments":{ "id" : "\u0041" },"_meta":{"progressToken":5,"io.github.seed-de4804fb.verbatim/idempotencyKey":"k"},"extra":1.0}}`)
	if got := string(answer.Result()); got != `{"content":[{"type":"text","text":"done"}],"big": 9007199254740993}` {
		t.Errorf("result: %s", got)
	}
	sent := w.server.received("tools/call")
	if len(sent) != 1 {
		t.Fatalf("%d calls", len(sent))
	}
	m, err := wire.Parse([]byte(sent[0]), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := member(t, m, "/params"); got != `{"name":"look","arguments":{"id":"A","n":3},"_meta":{"progressToken":5},"extra":1.0}` {
		t.Errorf("params: %s", got)
	}
}

func TestRefusedCallsReachNoServer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ params, want string }{
		"duplicate arguments": {`{"name":"look","arguments":{},"arguments":{"id":"b"}}`, `"code":-32602`},
		"case variant":        {`{"name":"look","arguments":{},"Arguments":{"id":"b"}}`, `"code":-32602`},
		"duplicate key":       {`{"name":"look","arguments":{"id":"a","id":"b"}}`, "invalid_arguments"},
		"2^53+1":              {`{"name":"look","arguments":{"n":9007199254740993}}`, "invalid_arguments"},
		"null arguments":      {`{"name":"look","arguments":null}`, "invalid_arguments"},
		"array arguments":     {`{"name":"look","arguments":[]}`, "invalid_arguments"},
		"unlisted tool":       {`{"name":"rm","arguments":{}}`, "unknown_tool"},
		"closed tool":         {`{"name":"closed","arguments":{}}`, "definition_changed"},
		"task":                {`{"name":"look","arguments":{},"task":{"ttl":1}}`, `"code":-32602`},
		"key is no string":    {`{"name":"look","arguments":{},"_meta":{"io.github.seed-de4804fb.verbatim/idempotencyKey":1}}`, `"code":-32602`},
		"unknown member":      {`{"name":"write","arguments":{"path":"a","mode":"w"}}`, "invalid_arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, time.Second)
			answer := w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tc.params + `}`)
			if !strings.Contains(string(answer.Bytes()), tc.want) {
				t.Errorf("answer: %s", answer.Bytes())
			}
			if n := len(w.server.received("tools/call")); n != 0 {
				t.Errorf("%d calls reached the server", n)
			}
		})
	}
}

const write = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}`

func TestAWriteWaitsAndRunsWhenApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20*time.Second)
	w.write(write)
	a := w.pending()
	if n := len(w.server.received("tools/call")); n != 0 {
		t.Fatalf("%d calls before the approval", n)
	}
	w.Approve(a.ID, "ada")
	answer := w.read()
	if !strings.Contains(string(answer.Result()), "done") || len(w.server.received("tools/call")) != 1 {
		t.Errorf("answer: %s", answer.Bytes())
	}
}

// pending waits for the one pending action.
func (w *world) pending() action.Action {
	w.t.Helper()
	for range 500 {
		rows, err := w.Gate.Actions(context.Background(), action.Filter{Tenant: "acme", States: []action.State{action.PendingApproval}})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(rows) == 1 {
			return rows[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal("nothing is pending")
	return action.Action{}
}

func TestABoundedWaitAnswersWhatToDoAndTheSameCallRunsLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 50*time.Millisecond)
	answer := w.ask(write)
	text := string(answer.Bytes())
	for _, want := range []string{`"isError":true`, "approval_required", "http://127.0.0.1:1/"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	w.Approve(w.pending().ID, "ada")
	answer = w.ask(write)
	if !strings.Contains(string(answer.Result()), "done") {
		t.Errorf("answer: %s", answer.Bytes())
	}
	if n := len(w.server.received("tools/call")); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestAServerThatDiesDuringAWriteLeavesItUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20*time.Second)
	w.server.mu.Lock()
	w.server.call = func(*wire.Message) string { w.crash(); return "" }
	w.server.mu.Unlock()
	w.write(write)
	id := w.pending().ID
	w.Approve(id, "ada")
	if text := string(w.read().Bytes()); !strings.Contains(text, "outcome_uncertain") && !strings.Contains(text, "in_progress") {
		t.Errorf("answer: %s", text)
	}
	<-w.done
	w.done <- nil
	a, err := w.Gate.Action(t.Context(), "acme", id)
	if err != nil || a.State != action.Uncertain {
		t.Errorf("state %s, %v", a.State, err)
	}
}

func TestACancelledRequestIsCancelledUnderTheServersID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	arrived := make(chan string, 1)
	w.server.mu.Lock()
	w.server.call = func(m *wire.Message) string { arrived <- string(m.ID().Raw()); return "" }
	w.server.mu.Unlock()
	w.write(`{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"look","arguments":{}}}`)
	id := <-arrived
	w.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1","reason":"r"}}`)
	for range 200 {
		if got := w.server.received("notifications/cancelled"); len(got) == 1 {
			if want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"r"}}`; got[0] != want {
				t.Errorf("got %s", got[0])
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the server was not told")
}

func TestServerRequestsReachTheClientAndOnlyTheirAnswersComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	w.write(`{"jsonrpc":"2.0","id":99,"result":{"forged":true}}`)
	ask, err := wire.NewRequest(wire.NumberID(5), "roots/list", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	go w.server.out.Write(ask)
	if got := w.read(); !bytes.Equal(got.Bytes(), ask.Bytes()) {
		t.Errorf("got %s", got.Bytes())
	}
	w.write(`{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`)
	w.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if len(w.server.received("result")) != 1 || len(w.server.received("forged")) != 0 {
		t.Errorf("server got %v", w.server.received("result"))
	}
}

func TestAListShowsOnlyWhatMayRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	answer := w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	text := string(answer.Result())
	if strings.Contains(text, `"closed"`) || !strings.Contains(text, `"x":9007199254740993`) || !strings.Contains(text, `"write"`) {
		t.Errorf("list: %s", text)
	}
}
