package gate_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/warrant"
)

func warrantKey(t *testing.T) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{5}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ordinary binds look as a read, and everything else as an ordinary mutation
// of which a dry run is made first where that is asked for.
type ordinary struct{ dryRun bool }

func (o ordinary) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	spec := catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Reason: "test", Impact: catalog.Ordinary}
	if t.Name == "look" {
		spec.Read, spec.Impact = true, ""
	} else if o.dryRun {
		spec.DryRun = &catalog.DryRun{Required: true, Tool: server + ".look"}
	}
	tool, err := catalog.Define(spec)
	if err != nil {
		panic(err)
	}
	return tool, ""
}

// executor is a server that checks warrants, as warrant.CheckParams has it.
type executor struct {
	t       *testing.T
	checker *warrant.Checker
	meddle  func(params string) string // what arrives in the place of what was sent

	mu   sync.Mutex
	seen []warrant.Warrant
	said []warrant.Verdict
}

func (e *executor) call(m *wire.Message) string {
	params, _, err := m.Member("/params")
	if err != nil {
		e.t.Error(err)
	}
	text := string(params)
	if e.meddle != nil {
		text = e.meddle(text)
	}
	c, v := e.checker.CheckParams(context.Background(), []byte(text))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen, e.said = append(e.seen, c.Warrant), append(e.said, v)
	flag := "false"
	if v != warrant.OK {
		flag = "true"
	}
	return `{"content":[],"isError":` + flag + `,"_meta":{"` + warrant.MetaVerdict + `":"` + string(v) + `"}}`
}

func warranted(t *testing.T, b ordinary) (*world, *executor) {
	t.Helper()
	f := verbatimtest.New(t, verbatimtest.Config{Gate: func(c *verbatim.Config) { c.Warrants = warrantKey(t) },
		Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})})
	e := &executor{t: t}
	var err error
	if e.checker, err = warrant.New(warrant.Config{Audience: "files.example", Keys: warrantKey(t).Public(), Now: f.Clock.Now}); err != nil {
		t.Fatal(err)
	}
	w := on(t, f, time.Second, b, gate.Reach{}, func(c *gate.Config) { c.Audience = "files.example" })
	w.server.mu.Lock()
	w.server.call = e.call
	w.server.mu.Unlock()
	return w, e
}

func (w *world) proposes(name, arguments string) *wire.Message {
	w.t.Helper()
	return w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments +
		`,"_meta":{"` + warrant.MetaWarrant + `":{"payload":"forged"}}}}`)
}

func TestAServerWithAnAudienceGetsAWarrantWithEachCall(t *testing.T) {
	t.Parallel()
	w, e := warranted(t, ordinary{})
	w.proposes("write", ` {"path" : "\u0061" } `)
	w.proposes("look", `{"n":1.0}`)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.said) != 2 || e.said[0] != warrant.OK || e.said[1] != warrant.OK {
		t.Fatalf("the server says %v", e.said)
	}
	if a, b := e.seen[0], e.seen[1]; a.Kind != warrant.Mutation || a.Tool != "files.write" || a.Attempt != 1 || b.Kind != warrant.Read || a.Principal != "maria" {
		t.Errorf("%+v\n%+v", a, b)
	}
	rows, err := w.Store.Actions(t.Context(), action.Filter{Tenant: "acme"})
	if err != nil || len(rows) != 1 || rows[0].State != action.Succeeded || rows[0].Result.Comparison != "equal" {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestWhatAServerReceivedDifferentlyIsRefusedAndRecorded(t *testing.T) {
	t.Parallel()
	w, e := warranted(t, ordinary{})
	e.meddle = func(params string) string { return strings.Replace(params, `"path":"a"`, `"path":"b"`, 1) }
	answer := w.proposes("write", `{"path":"a"}`)
	if got := member(t, answer, "/result/isError"); got != "true" {
		t.Errorf("the client got %s", answer.Bytes())
	}
	rows, err := w.Store.Actions(t.Context(), action.Filter{Tenant: "acme"})
	if err != nil || len(rows) != 1 || rows[0].State != action.Failed || rows[0].Result.Comparison != "arguments_changed" {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestADryRunGoesWithAWarrantOfItsOwn(t *testing.T) {
	t.Parallel()
	w, e := warranted(t, ordinary{dryRun: true})
	w.proposes("write", `{"path":"a"}`)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.said) != 2 || e.said[0] != warrant.OK || e.seen[0].Kind != warrant.Preview || e.seen[0].Tool != "files.look" || e.seen[1].Kind != warrant.Mutation {
		t.Errorf("the server says %v of %+v", e.said, e.seen)
	}
}

func TestAServerWithoutAnAudienceGetsNoWarrant(t *testing.T) {
	t.Parallel()
	f := verbatimtest.New(t, verbatimtest.Config{Gate: func(c *verbatim.Config) { c.Warrants = warrantKey(t) },
		Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})})
	w := on(t, f, time.Second, ordinary{}, gate.Reach{})
	w.proposes("write", `{"path":"a"}`)
	for _, frame := range w.server.received("tools/call") {
		if strings.Contains(frame, "verbatim/warrant") {
			t.Errorf("a warrant went to a server that did not ask for it: %s", frame)
		}
	}
	if rows, err := w.Store.Actions(t.Context(), action.Filter{Tenant: "acme"}); err != nil || len(rows) != 1 || rows[0].Result.Comparison != "equal" {
		t.Errorf("%+v, %v", rows, err)
	}
}
