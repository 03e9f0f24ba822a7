package gate_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// readers knows the reads of the reference servers; the rest is uncatalogued.
type readers struct{}

func (readers) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Uncataloged(server, t.Name, t.Raw)
	if t.Name == "read_text_file" || t.Name == "read_graph" {
		tool, err = catalog.Define(catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest,
			Read: true, Reason: "it only reads"})
	}
	if err != nil {
		return &catalog.Tool{Name: server + "." + t.Name, Mutation: true}, verbatim.CodeToolRefused
	}
	return tool, ""
}

// peer is a conversation with a reference server, direct or through the gate.
type peer struct {
	t   *testing.T
	in  *wire.Reader
	out io.Writer
}

func startPeer(t *testing.T, name string, args ...string) *gate.Process {
	t.Helper()
	p, err := gate.Start(gate.Command{Path: needs.Peer(t, name), Args: args, Env: needs.Env(t), Dir: t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func direct(t *testing.T, name string, args ...string) *peer {
	t.Helper()
	p := startPeer(t, name, args...)
	return (&peer{t, wire.NewReader(p.Out, wire.Limits{}), p.In}).greet()
}

func through(t *testing.T, name string, args ...string) (*peer, *verbatimtest.Fixture) {
	t.Helper()
	p := startPeer(t, name, args...)
	f := verbatimtest.New(t, verbatimtest.Config{Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})})
	clientIn, toGate := io.Pipe()
	fromGate, clientOut := io.Pipe()
	client := duplex{clientIn, clientOut}
	done := make(chan error, 1)
	go func() {
		done <- gate.Serve(context.Background(), gate.Config{Gate: f.Gate, Session: f.Session(), Server: "files",
			Binder: readers{}, Wait: time.Minute, Page: "http://127.0.0.1:1/"}, client, p.Out, p.In)
		clientOut.Close()
	}()
	t.Cleanup(func() {
		toGate.Close()
		io.Copy(io.Discard, fromGate)
		<-done
	})
	return (&peer{t, wire.NewReader(fromGate, wire.Limits{}), toGate}).greet(), f
}

func (p *peer) greet() *peer {
	p.t.Helper()
	p.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) write(frame string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, frame+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// answer reads until an answer comes; servers send notices in between.
func (p *peer) answer() *wire.Message {
	p.t.Helper()
	for {
		m, err := p.in.Read()
		if err != nil {
			p.t.Fatal(err)
		}
		if m.Kind() == wire.KindResult || m.Kind() == wire.KindError {
			return m
		}
	}
}

func (p *peer) ask(frame string) *wire.Message {
	p.t.Helper()
	p.write(frame)
	return p.answer()
}

func call(tool, args string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

func TestReferenceServersAnswerTheSameThroughTheGate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(file, []byte("one é 9007199254740993"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, server string
		args         []string
		frame, has   string // has: what the answer must hold, so that two errors are not taken for one answer
	}{
		{"files: ping", "mcp-server-filesystem", []string{dir}, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
		{"files: list", "mcp-server-filesystem", []string{dir}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"name":"write_file"`},
		{"files: read", "mcp-server-filesystem", []string{dir}, call("read_text_file", `{"path":"`+filepath.ToSlash(file)+`"}`), "one é 9007199254740993"},
		{"files: the server's own error", "mcp-server-filesystem", []string{dir}, call("read_text_file", `{"path":"/etc/hostname"}`), `"isError":true`},
		{"memory: list", "mcp-server-memory", nil, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"name":"read_graph"`},
		{"memory: read", "mcp-server-memory", nil, call("read_graph", `{}`), `"entities"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := direct(t, tt.server, tt.args...).ask(tt.frame)
			if !strings.Contains(string(want.Bytes()), tt.has) {
				t.Fatalf("the server answers %s, without %s", want.Bytes(), tt.has)
			}
			p, _ := through(t, tt.server, tt.args...)
			got := p.ask(tt.frame)
			if diff := cmp.Diff(string(want.Bytes()), string(got.Bytes())); diff != "" {
				t.Errorf("answer (-direct +through the gate):\n%s", diff)
			}
		})
	}
}

// waiting waits for the one pending action.
func waiting(t *testing.T, f *verbatimtest.Fixture) action.Action {
	t.Helper()
	filter := action.Filter{Tenant: f.Session().Tenant, States: []action.State{action.PendingApproval}}
	for range 1000 {
		rows, err := f.Gate.Actions(context.Background(), filter)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 1 {
			return rows[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nothing is pending")
	return action.Action{}
}

func TestAReferenceServerWritesOnlyWhatWasApproved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	p, f := through(t, "mcp-server-filesystem", dir)
	frame := call("write_file", `{"path":"`+filepath.ToSlash(file)+`","content":"caf\u00e9"}`)

	p.write(frame)
	a := waiting(t, f)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Fatalf("the file was written before the approval: %v", err)
	}
	f.Approve(a.ID, "ada")
	if got := p.answer(); strings.Contains(string(got.Result()), `"isError":true`) || got.Kind() != wire.KindResult {
		t.Fatalf("answer: %s", got.Bytes())
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "café" {
		t.Errorf("the file holds %q, %v", text, err)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.write(frame)
	again := waiting(t, f)
	if again.ID == a.ID {
		t.Error("an approval served twice")
	}
	f.Reject(again.ID, "ada")
	// write_file declares an output schema, which our envelope does not meet;
	// a client would drop an answer that says otherwise.
	got := string(p.answer().Result())
	if !strings.Contains(got, `\"code\":\"rejected\"`) || strings.Contains(got, "structuredContent") {
		t.Errorf("answer after a rejection: %s", got)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the rejected call wrote the file: %v", err)
	}
}
